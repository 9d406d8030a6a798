import CSQLite
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct SettingsTests {
    @Test(arguments: [(SynchronousLevel.full, Int64(2)), (.normal, 1)])
    func everySettingIsReadBack(level: SynchronousLevel, number: Int64) throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.synchronous = level
        // The second time the store is there already.
        for _ in 0..<2 {
            let store = try SQLiteStore.open(options)
            #expect(try store.pragma("synchronous") == .integer(number))
            #expect(try store.pragma("journal_mode") == .text("wal"))
            #expect(try store.pragma("trusted_schema") == .integer(0))
            #expect(try store.pragma("cell_size_check") == .integer(1))
            #expect(try store.pragma("temp_store") == .integer(1))
            #expect(try store.pragma("fullfsync") == .integer(1))
            #expect(try store.pragma("checkpoint_fullfsync") == .integer(1))
            #expect(try store.pragma("cache_size") == .integer(-16000))
            #expect(try store.pragma("wal_autocheckpoint") == .integer(0))
            #expect(try store.pragma("mmap_size") ?? .integer(0) == .integer(0))
            #expect(store.longestValue > 1 << 20)
            store.close()
        }
    }

    @Test func theLogIsCopiedWhenItIsLong() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        #expect(!store.needsUpkeep)
        var blob = RowSnapshot(columnCount: TestModel.columnCount)
        blob.setValue(.blob(Array(repeating: 1, count: 100_000)), TestModel.blob)
        for key in Int64(1)...100 { try store.write([.of(insert: [StoredRow(key: key, row: blob)])]) }
        #expect(store.counters.walBytes > 8 << 20)
        #expect(store.needsUpkeep)
        store.upkeep()
        #expect(!store.needsUpkeep)
        try store.write([.of(insert: [StoredRow(key: 101, row: TestModel.row(code: "a"))])])
        #expect(store.counters.walBytes < 100_000)
        store.close()
        try checkIntegrity(folder)
    }

    @Test func aStoreThatIsNeverIdleCopiesItsLogToo() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        var blob = RowSnapshot(columnCount: TestModel.columnCount)
        blob.setValue(.blob(Array(repeating: 1, count: 1_000_000)), TestModel.blob)
        var longest = 0
        for key in Int64(1)...200 {
            try store.write([.of(insert: [StoredRow(key: key, row: blob)])])
            longest = max(longest, store.counters.walBytes)
        }
        #expect(longest < 80 << 20)
        store.close()
        try checkIntegrity(folder)
    }
}
