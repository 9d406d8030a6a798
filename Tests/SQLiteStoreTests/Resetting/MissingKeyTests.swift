import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// An app that gives no database key takes the store with the key that it has.
struct MissingKeyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(key: "1"))
        try store.write([.of(insert: (1...3).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
        store.close()
    }

    private func options(
        _ hash: String = "hash", key: String?, _ policy: ResetPolicy = .standard
    ) -> SQLiteStore.Options {
        var options = SQLiteStore.Options.test(folder, hash: hash, resetPolicy: policy)
        options.identity.databaseKey = key
        if let key, !key.isEmpty { options.identity.entityKeys = ["Item": key] }
        return options
    }

    /// Opens the store, and expects rows and a key.
    private func expect(_ count: Int, _ options: SQLiteStore.Options) throws {
        let store = try SQLiteStore.open(options)
        #expect(store.startup.reason == .current)
        #expect(try store.count() == count)
        store.close()
    }

    @Test(arguments: [ResetPolicy.standard, .discard, .fail, .changedEntities, .migrate, .backup(keep: 1)])
    func theRowsAndTheKeysStay(policy: ResetPolicy) throws {
        try expect(3, options(key: nil, policy))
        try expect(3, options(key: "1", policy))
    }

    /// What takes its place has the key, too.
    @Test func theKeyOutlastsAResetByTheModel() throws {
        let store = try SQLiteStore.open(options("other", key: nil))
        #expect(store.startup.reason == .modelChanged(entities: ["Item"]))
        #expect(store.startup.backup != nil)
        try store.write([.of(insert: [StoredRow(key: store.firstFreeKey, row: TestModel.row(code: "4"))])])
        store.close()
        try expect(1, options("other", key: "1"))
    }

    @Test func theKeyOutlastsARunningReset() throws {
        let store = try SQLiteStore.open(options(key: nil))
        _ = try store.reset()
        store.close()
        try expect(0, options(key: "1"))
    }

    @Test func anotherKeyStillDropsTheRows() throws {
        let store = try SQLiteStore.open(options(key: ""))
        #expect(store.startup.reason.isDatabaseKeyChanged && store.startup.rowsDropped == 3)
        store.close()
        try expect(0, options(key: nil))
        try expect(0, options(key: ""))
    }
}
