import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// What a store says of its keys is compared with the keys that are there.
struct KeyBoundTests {
    private func makeStore(_ folder: TemporaryFolder, highestKey: Int64, bound: Int64) throws {
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [1, highestKey].map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
        store.close()
        try RawDatabase(folder.store).run("UPDATE _metadata SET value = \(bound) WHERE name = 'firstFreeKey'")
    }

    @Test(
        arguments: [
            (2, 1, 3), (500, 500, 501), (500, 501, 501), (500, 9_000, 9_000), (500, .max, 501), (500, .max - 1, 501),
            (.max, 3, .max), (.max - 1, .max, .max), (KeyBound.limit + 5, KeyBound.limit + 3, KeyBound.limit + 6),
        ] as [(Int64, Int64, Int64)])
    func theBoundIsAboveTheHighestKeyAndInReach(highestKey: Int64, bound: Int64, checked: Int64) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, highestKey: highestKey, bound: bound)
        for _ in 0..<2 {
            let store = try SQLiteStore.open(.test(folder))
            #expect(store.firstFreeKey == checked)
            store.close()
        }
        // Written down: the row with the highest key may be deleted before the next start.
        let stored = try RawDatabase(folder.store).run("SELECT value FROM _metadata WHERE name = 'firstFreeKey'")
        #expect(stored == ["\(checked)"])
        try checkIntegrity(folder)
    }

    @Test func theBoundIsCheckedAfterAMigrationAndAfterAResetOfSomeEntities() throws {
        for policy in [ResetPolicy.migrate(otherwise: .fail), .changedEntities] {
            let folder = try TemporaryFolder()
            var options = SQLiteStore.Options.test(folder)
            options.identity = TestModel.identity(of: TestModel.model)
            let store = try SQLiteStore.open(options)
            try store.write([.of(1, insert: [StoredRow(key: 70, row: RowSnapshot(columnCount: 8))])])
            store.close()
            try RawDatabase(folder.store).run("UPDATE _metadata SET value = 5 WHERE name = 'firstFreeKey'")
            options.resetPolicy = policy
            if policy == .changedEntities {
                options.identity.entityKeys = ["Item": "2"]
            } else {
                options.layout = ModelLayout(TestModel.nextModel)
                options.identity = TestModel.identity(of: TestModel.nextModel)
            }
            let next = try SQLiteStore.open(options)
            #expect(next.startup.isReset == (policy == .changedEntities))
            #expect(next.firstFreeKey == 71)
            next.close()
        }
    }

    @Test func aDamagedTableDoesNotKeepTheStoreFromBeingOpened() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: (1...2000).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
        store.close()
        try damage("Item", of: folder)
        let next = try SQLiteStore.open(.test(folder))
        #expect(code { _ = try next.rows(RowQuery(entity: TestModel.item)) } == .storeCorrupt)
        try next.write([.of(1, insert: [StoredRow(key: 3000, row: RowSnapshot(columnCount: 8))])])
        next.close()
    }
}
