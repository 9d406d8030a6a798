internal import RowStore
internal import SQLiteStore

/// Says what the next start of an app would do with a store, and changes nothing.
struct StatusCommand: Command {
    let store: StoreArgument

    init(_ words: ArraySlice<String>) throws {
        store = try StoreArgument(CommandLineWords(words, flags: [], values: StoreArgument.valueNames))
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let startup = try SQLiteStore.forecast(store.options(&warnings))
        let json = JSON.object([
            ("action", .string(startup.action)), ("reason", .string(startup.reason.name)),
            ("entities", .strings(startup.reason.entities)), ("rowsDropped", .number(startup.rowsDropped)),
        ])
        let consequence = startup.isReset ? "; \(startup.rowsDropped.objects) would be dropped" : ""
        return Report(
            ["\(startup.action): \(startup.reason.sentence)\(consequence)"], json,
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
