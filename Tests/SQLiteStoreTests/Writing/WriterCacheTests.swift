import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// How much SQLite keeps in memory for a save.
struct WriterCacheTests {
    private static let count: Int64 = 180_000

    /// - Returns: The sizes that were set while the body ran, in kilobytes.
    private func sizes(_ body: (SQLiteStore) throws -> Void) throws -> [String] {
        let folder = try TemporaryFolder()
        let sizes = Guarded<[String]>([])
        var options = SQLiteStore.Options.test(folder)
        options.tracing = StatementTracing(showsValues: false) { trace in
            guard trace.sql.hasPrefix("PRAGMA cache_size = -") else { return }
            sizes.withLock { $0.append(String(trace.sql.dropFirst(21))) }
        }
        let store = try SQLiteStore.open(options)
        sizes.withLock { $0 = [] }
        try body(store)
        let found = sizes.withLock { $0 }
        #expect(try store.pragma("cache_size") == .integer(-16_000))
        store.close()
        try checkIntegrity(folder)
        return found
    }

    private func rows(_ keys: ClosedRange<Int64>) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: "code \($0)")) }
    }

    @Test func aSaveOfVeryManyRowsGetsMoreUntilItsEnd() throws {
        let found = try sizes { store in
            try store.write([.of(insert: rows(1...Self.count))])
            let count = try store.count()
            #expect(count == Int(Self.count))
            try store.write([.of(insert: rows(Self.count + 1...Self.count + 5_000))])
        }
        #expect(found == ["26000", "16000"])
    }

    @Test func aSaveThatIsRefusedGivesItBack() throws {
        let found = try sizes { store in
            var all = rows(1...Self.count)
            all[all.count - 1] = StoredRow(key: Self.count, row: TestModel.row(code: "code 1"))
            #expect(code { try store.write([.of(insert: all)]) } == .uniquenessViolated)
            let count = try store.count()
            #expect(count == 0)
        }
        // Once more when the save was tried alone, to find the error.
        #expect(found.last == "16000" && found.contains("26000"))
    }

    @Test func rowsThatAreWrittenEarlyCount() throws {
        let found = try sizes { store in
            let earlyWrite = EarlyWrite()
            for start in stride(from: 1, to: Self.count, by: 60_000) {
                let part = NewRows(entity: TestModel.item, rows(start...start + 59_999))
                #expect(store.write(part, for: earlyWrite))
            }
            store.abandon(earlyWrite)
            let count = try store.count()
            #expect(count == 0)
        }
        #expect(found == ["26000", "16000"])
    }
}
