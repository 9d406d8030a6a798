internal import CommandLineWords
internal import Foundation
internal import RowStore
internal import SQLiteStore

/// Replaces a store with a copy of a backup, or makes a new store from the backup.
struct RestoreCommand: Command {
    static let usage = """
        Usage: model-reset restore BACKUP STORE [--force] [--dry-run] [--json]

        Replaces a store with a copy of a backup, or makes a new store from the backup.

          BACKUP                the file of a backup
          STORE                 the file of the store
          --force               replaces an existing store
          --dry-run             prints what would be done, and changes nothing
          --json                prints the answer as JSON, on one line

        Exit status: 0 done; 1 with --dry-run, the store would be restored.

        """

    let backup: URL
    let store: URL
    let isForced: Bool
    let isDryRun: Bool

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, flags: ["--force", "--dry-run"])
        let paths = try words.plain("BACKUP", "STORE")
        backup = URL(filePath: paths[0])
        store = URL(filePath: paths[1])
        isForced = words.flag("--force")
        isDryRun = words.flag("--dry-run")
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let restoration = try restore()
        let json = JSON.object([
            ("restored", .flag(!isDryRun)), ("dryRun", .flag(isDryRun)), ("rows", .number(restoration.rowCount)),
            ("replaced", .flag(restoration.isReplacement)), ("backup", .string(backup.path)),
            ("store", .string(store.path)),
        ])
        let place = restoration.isReplacement ? "in the place of the store" : "as the store"
        return Report(
            [
                "\(isDryRun ? "would restore" : "restored"): \(restoration.rowCount.objects) of \(backup.path) "
                    + "\(place) \(store.path)"
            ], json, status: isDryRun ? .differs : .success)
    }

    private func restore() throws -> SQLiteStore.Restoration {
        do {
            return try SQLiteStore.restore(backup, to: store, isReplacing: isForced, isDryRun: isDryRun)
        } catch {
            guard error.code == .fileExists, !isForced else { throw error }
            throw DataSourceError(
                error.code, error.message + " Use --force to replace the store.", cause: error.cause)
        }
    }
}
