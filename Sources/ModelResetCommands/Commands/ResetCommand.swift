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
        var startup = isDryRun ? try SQLiteStore.forecast(options, countsRows: !isIfNeeded) : try reset(options)
        startup.warnOfUncountedRows(&warnings)
        // Who names a folder keeps the old store, and whatever backups there are.
        if backupFolder != nil { startup.removedBackups = [] }
        let isReset = startup.isReset || (startup.reason == .current && !isIfNeeded)
        let json = JSON.object([
            ("reset", .flag(isReset && !isDryRun)), ("dryRun", .flag(isDryRun)), ("needed", .flag(startup.isReset)),
            ("reason", .string(startup.reason.name)), ("entities", .strings(startup.reason.entities)),
            ("rowsDropped", .number(isReset ? startup.rowsDropped : 0)),
            ("countFailure", .string(isReset ? startup.countFailure : nil)), ("backup", .string(startup.backup?.path)),
            ("removedBackups", .strings(isReset ? startup.removedBackups.map(\.path) : [])),
        ])
        let isSetAside = isIfNeeded && options.resetPolicy.backupCount(startup.reason) != nil
        return Report(
            [line(startup, isReset: isReset, isSetAside: isSetAside)], json,
            status: isReset && isDryRun ? .differs : .fine)
    }

    /// Opening a store does what is needed, as the default policy says; it makes one where there is none, which is not for this command to do.
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

    /// - Parameter isSetAside: Whether the next start would set the old store aside.
    private func line(_ startup: StoreStartup, isReset: Bool, isSetAside: Bool) -> String {
        guard isReset else { return "nothing to reset: \(startup.reason.sentence)" }
        if isDryRun {
            let place = backupFolder.map { "moved to \($0.path)" } ?? (isSetAside ? "set aside as a backup" : nil)
            return "would reset: \(startup.reason.sentence); \(startup.fate("would be ", keeping: place))"
        }
        let fate = startup.fate(keeping: startup.backup.map { "moved to \($0.path)" })
        return "reset: \(startup.reason.sentence); \(fate)"
    }
}
