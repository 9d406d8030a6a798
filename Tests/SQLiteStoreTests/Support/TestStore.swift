import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// The stores that have to behave alike.
enum StoreKind: CaseIterable, Sendable {
    case sqlite, memory
}

/// Runs a test over a new store, and checks the file afterwards.
func withStore(
    _ kind: StoreKind, _ layout: ModelLayout = TestModel.layout, _ body: (any PersistentStore) throws -> Void
) throws {
    switch kind {
    case .memory:
        try body(InMemoryStore(layout))
    case .sqlite:
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder, layout))
        try body(store)
        store.close()
        try checkIntegrity(folder)
    }
}

/// Expects the file of a closed store to be sound.
func checkIntegrity(_ folder: TemporaryFolder) throws {
    #expect(try RawDatabase(folder.store).run("PRAGMA integrity_check") == ["ok"])
}

extension SQLiteStore.Options {
    static func test(
        _ folder: TemporaryFolder, _ layout: ModelLayout = TestModel.layout, hash: String = "hash", key: String = "1",
        synchronous: SynchronousLevel = .normal, resetPolicy: ResetPolicy = .discard, calls: FileCalls = .system
    ) -> SQLiteStore.Options {
        SQLiteStore.Options(
            url: folder.store, layout: layout, identity: TestModel.identity(hash, key: key), synchronous: synchronous,
            resetPolicy: resetPolicy, calls: calls)
    }
}

extension SQLiteStore.Options {
    /// The same, copying the log into the main file again and again.
    func copyingLogOften() -> SQLiteStore.Options {
        var options = self
        options.logLimit = 10
        return options
    }
}
