internal import Foundation
internal import RowStore
internal import SQLiteStore

/// Replaces a store by an empty one.
struct ResetCommand: Command {
    let store: StoreArgument
    let isIfNeeded: Bool
    let isDryRun: Bool
    let backupFolder: URL?

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(
            words, flags: ["--if-needed", "--dry-run"], values: StoreArgument.valueNames.union(["--backup"]))
        store = try StoreArgument(words)
        isIfNeeded = words.flag("--if-needed")
        isDryRun = words.flag("--dry-run")
        backupFolder = words.value("--backup").map { URL(filePath: $0, directoryHint: .isDirectory) }
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let options = try store.options(&warnings)
        let startup = isDryRun ? try SQLiteStore.forecast(options, countsRows: !isIfNeeded) : try reset(options)
        let isReset = startup.isReset || (startup.reason == .current && !isIfNeeded)
        let json = JSON.object([
            ("reset", .flag(isReset && !isDryRun)), ("dryRun", .flag(isDryRun)), ("needed", .flag(startup.isReset)),
            ("reason", .string(startup.reason.name)), ("entities", .strings(startup.reason.entities)),
            ("rowsDropped", .number(isReset ? startup.rowsDropped : 0)), ("backup", .string(startup.backup?.path)),
        ])
        return Report([line(startup, isReset: isReset)], json, status: isReset && isDryRun ? .differs : .fine)
    }

    /// Opening a store does what is needed; it makes one where there is none, which is not for this command to do.
    private func reset(_ options: SQLiteStore.Options) throws -> StoreStartup {
        guard isIfNeeded, backupFolder == nil else {
            return try SQLiteStore.reset(options, onlyIfNeeded: isIfNeeded, backupFolder: backupFolder)
        }
        let forecast = try SQLiteStore.forecast(options)
        guard forecast.isReset else { return forecast }
        let store = try SQLiteStore.open(options)
        store.close()
        return store.startup
    }

    private func line(_ startup: StoreStartup, isReset: Bool) -> String {
        guard isReset else { return "nothing to reset: \(startup.reason.sentence)" }
        let dropped = startup.rowsDropped.objects
        if isDryRun {
            let fate = backupFolder.map { "moved to \($0.path)" } ?? "dropped"
            return "would reset: \(startup.reason.sentence); \(dropped) would be \(fate)"
        }
        let fate = startup.backup.map { "moved to \($0.path)" } ?? "dropped"
        return "reset: \(startup.reason.sentence); \(dropped) \(fate)"
    }
}
