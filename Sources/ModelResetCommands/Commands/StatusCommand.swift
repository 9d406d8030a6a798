internal import RowStore
internal import SQLiteStore

/// Says what the next start of an app would do with a store, and changes nothing.
struct StatusCommand: Command {
    let store: StoreArgument

    init(_ words: ArraySlice<String>) throws {
        store = try StoreArgument(CommandLineWords(words, flags: [], values: StoreArgument.valueNames))
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let options = try store.options(&warnings)
        let startup = try SQLiteStore.forecast(options)
        let migration = try SQLiteStore.migrationForecast(options)
        let json = JSON.object([
            ("action", .string(startup.action)), ("reason", .string(startup.reason.name)),
            ("entities", .strings(startup.reason.entities)), ("rowsDropped", .number(startup.rowsDropped)),
            ("migration", migration?.json ?? .null),
        ])
        let consequence = startup.isReset ? "; \(startup.rowsDropped.objects) would be dropped" : ""
        return Report(
            ["\(startup.action): \(startup.reason.sentence)\(consequence)"] + (migration.map { [$0.line] } ?? []), json,
            status: startup.isReset ? .differs : .fine)
    }
}

extension StoreStartup {
    fileprivate var action: String {
        switch reason {
        case .firstLaunch: "create"
        case .current: "open"
        default: "reset"
        }
    }
}

extension MigrationForecast {
    /// What an app would come to that opens the store with the policy to migrate.
    fileprivate var line: String {
        switch self {
        case .possible(let report):
            let removed = report.removedEntities.joined(separator: ", ")
            return "a migration would carry \(report.rowsCarried.objects) over"
                + (removed.isEmpty ? "" : "; those of \(removed) would be dropped")
        case .impossible(let reason):
            return "cannot be migrated: \(reason)"
        }
    }

    fileprivate var json: JSON {
        switch self {
        case .possible(let report):
            .object([
                ("possible", .flag(true)), ("rowsCarried", .number(report.rowsCarried)),
                ("removedEntities", .strings(report.removedEntities)), ("changes", .strings(report.changes)),
                ("reason", .null),
            ])
        case .impossible(let reason):
            .object([
                ("possible", .flag(false)), ("rowsCarried", .number(0)), ("removedEntities", .list([])),
                ("changes", .list([])), ("reason", .string(reason)),
            ])
        }
    }
}
