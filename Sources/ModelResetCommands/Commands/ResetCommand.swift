internal import CommandLineWords
internal import Foundation
internal import RowStore

/// Replaces a store with an empty store.
struct ResetCommand: Command {
    static let usage = """
        Usage: model-reset reset MODEL --store STORE [--name NAME] [--database-key KEY] [--version NAME] [--configuration NAME]
                                [--if-needed] [--dry-run] [--backup FOLDER] [--json]

        Replaces a store with an empty store. No process may have the store open.

          MODEL                 a .xcdatamodeld bundle, the .xcdatamodel of one version, or a folder or files of Swift
          --store STORE         a file, or the address of a database, postgresql://USER@HOST/DATABASE, with --name
          --name NAME           the name of the store in the database
          --database-key KEY    the app's label for the contents, as passed to its container; without it, the key of the store
          --version NAME        the version of the model; without it, the current version
          --configuration NAME  the configuration whose entities the store has; without it, the configuration that the store was
                                made for. An empty name means the whole model
          --if-needed           resets only if the model or the database key changed, and follows the policy .standard
          --dry-run             prints what would be done, and changes nothing
          --backup FOLDER       moves the old store, which must be a file, to this folder on the same file system
          --json                prints the answer as JSON, on one line

        Exit status: 0 done, or nothing to do; 1 with --dry-run, the store would be reset.

        """

    let store: StoreArgument
    let resetsOnlyIfNeeded: Bool
    let isDryRun: Bool
    let backupFolder: URL?

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(
            command: words, flags: ["--if-needed", "--dry-run"], values: StoreArgument.valueNames.union(["--backup"]))
        store = try StoreArgument(words)
        resetsOnlyIfNeeded = words.flag("--if-needed")
        isDryRun = words.flag("--dry-run")
        backupFolder = words.value("--backup").map { URL(filePath: $0, directoryHint: .isDirectory) }
        if backupFolder != nil, !store.target.isFile { throw UsageError("--backup is for a store in a file") }
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let target = try store.target(&warnings)
        var startup =
            isDryRun
            ? try target.forecast(countsRows: !resetsOnlyIfNeeded)
            : try target.reset(onlyIfNeeded: resetsOnlyIfNeeded, backupFolder: backupFolder)
        startup.warnOfUncountedRows(&warnings)
        // If the old store is moved to a folder, no backups are removed.
        if backupFolder != nil { startup.removedBackups = [] }
        let isReset = startup.isReset || (startup.reason == .current && !resetsOnlyIfNeeded)
        if isReset, isDryRun { try target.occupants().requireNotOpen() }
        let json = JSON.object([
            ("reset", .flag(isReset && !isDryRun)), ("dryRun", .flag(isDryRun)), ("needed", .flag(startup.isReset)),
            ("reason", .string(startup.reason.name)), ("entities", .strings(startup.reason.entities)),
            ("rowsDropped", .number(isReset ? startup.rowsDropped : 0)),
            ("countFailure", .string(isReset ? startup.countFailure : nil)), ("backup", .string(startup.backup?.path)),
            ("removedBackups", .strings(isReset ? startup.removedBackups.map(\.path) : [])),
        ])
        let becomesBackup = resetsOnlyIfNeeded && target.keepsBackup(startup.reason)
        return Report(
            [line(startup, isReset: isReset, becomesBackup: becomesBackup)], json,
            status: isReset && isDryRun ? .differs : .success)
    }

    /// - Parameter becomesBackup: Whether the old store becomes a backup.
    private func line(_ startup: StoreStartup, isReset: Bool, becomesBackup: Bool) -> String {
        guard isReset else { return "nothing to reset: \(startup.reason.sentence)" }
        if isDryRun {
            let location = backupFolder.map { "moved to \($0.path)" } ?? (becomesBackup ? "set aside as a backup" : nil)
            return
                "would reset: \(startup.reason.sentence); \(startup.resetConsequence("would be ", keeping: location))"
        }
        let schema = becomesBackup && !store.target.isFile ? "set aside in another schema" : nil
        let resetConsequence = startup.resetConsequence(keeping: startup.backup.map { "moved to \($0.path)" } ?? schema)
        return "reset: \(startup.reason.sentence); \(resetConsequence)"
    }
}
