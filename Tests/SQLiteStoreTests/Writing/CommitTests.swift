import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct CommitTests {
    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(code: code))
    }

    private func update(_ key: Int64, _ old: String, _ new: String) -> UpdatedRow {
        .of(key, TestModel.row(code: old), TestModel.row(code: new), TestModel.layout.entities[TestModel.item])
    }

    @Test func aRefusedSaveIsNeitherCountedNorKeepsKeys() throws {
        try withStore(.sqlite) { store in
            let counters = try #require(store as? SQLiteStore).counters
            try store.write([.of(insert: [item(1, "a")])])
            let (bound, rows) = (store.firstFreeKey, counters.rowsWritten)
            var refused = ChangeSet.of(1, insert: [StoredRow(key: bound + 7, row: RowSnapshot(columnCount: 8))])
            refused.entities.insert(contentsOf: ChangeSet.of(insert: [item(2, "a")]).entities, at: 1)
            var other = ChangeSet.of(insert: [item(3, "c")])
            (refused.origin, other.origin) = (1, 2)
            #expect(try store.commit([refused, other]).refused.keys.sorted() == [0])
            #expect(counters.rowsWritten == rows + 1)
            #expect(store.firstFreeKey == bound)
        }
    }

    @Test func reopeningKeepsAllRows() throws {
        let folder = try TemporaryFolder()
        let first = try SQLiteStore.open(.test(folder))
        #expect(first.startup.reason == .firstLaunch)
        try first.write([.of(insert: (1...1000).map { item($0, "code \($0)") })])
        first.close()
        #expect(folder.names == ["test.store", "test.store.lock"])
        let second = try SQLiteStore.open(.test(folder))
        #expect(second.startup == StoreStartup(reason: .current))
        #expect(second.storeID == first.storeID)
        #expect(try second.keys(RowQuery(entity: TestModel.item)) == Array(1...1000))
        second.close()
        try checkIntegrity(folder)
    }

    @Test func onlyWhatChangedIsWritten() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: (1...100).map { item($0, "code \($0)") })])
        let (rows, statements) = (store.counters.rowsWritten, store.counters.statementsRun)
        try store.write([.of(update: [update(5, "code 5", "new"), update(6, "code 6", "newer")])])
        #expect(store.counters.rowsWritten - rows == 2)
        #expect(store.counters.statementsRun - statements == 4)
        try store.write([])
        try store.write([ChangeSet(entities: [])])
        #expect(store.counters.statementsRun - statements == 4)
        store.close()
    }
}
