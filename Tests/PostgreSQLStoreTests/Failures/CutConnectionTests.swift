#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import Synchronization
import TestSupport
import Testing

/// The connection is cut at any statement of what a store does.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct CutConnectionTests {
    private static let statements = [
        "BEGIN", "INSERT INTO \"store 1\".\"Item\"", "SET CONSTRAINTS", "INSERT INTO \"store 1\".\"_changes\"",
        "INSERT INTO \"store 1\".\"_saves\"", "SELECT 1 / least", "SELECT 1 / (NOT EXISTS",
        "UPDATE \"store 1\".\"_changes\"", "DELETE FROM \"store 1\".\"_saves\"", "COMMIT",
    ]

    private static let historyStatements = [
        "INSERT INTO \"store 1\".\"_history\"", "INSERT INTO \"store 1\".\"_history_state\"",
        "UPDATE \"store 1\".\"_history\"", "COMMIT",
    ]

    private func open(_ place: FailurePlace, _ keepsHistory: Bool, isDirect: Bool = false) throws -> PostgreSQLStore {
        var options = place.options(isDirect: isDirect)
        if keepsHistory { options.history = .kept(for: .seconds(86_400), upTo: 64 << 20) }
        return try .open(options)
    }

    /// The keys that each record has inserted. The numbers of the records have no gaps.
    private func recordedKeys(_ store: PostgreSQLStore) throws -> [[Int64]] {
        var (records, position, isMore) = ([StoredRecord](), HistoryPosition?.none, true)
        while isMore {
            let page = try store.readHistory(after: position, HistoryFilter())
            records += page.records
            (position, isMore) = (page.position, page.isMore)
        }
        #expect(records.map(\.number) == records.indices.map { Int64($0) + 1 })
        return records.map { $0.changes?.entities.flatMap { $0.inserted.map(\.key) } ?? [] }
    }

    @Test(arguments: statements, [false, true])
    func aSaveIsWrittenOnceOrNotAtAll(statement: String, isAfterwards: Bool) throws {
        try cut(at: statement, isAfterwards, keepsHistory: false)
    }

    @Test(arguments: historyStatements, [false, true])
    func aRecordIsWrittenWithItsSaveOrNotAtAll(statement: String, isAfterwards: Bool) throws {
        try cut(at: statement, isAfterwards, keepsHistory: true)
    }

    private func cut(at statement: String, _ isAfterwards: Bool, keepsHistory: Bool) throws {
        let place = try FailurePlace()
        let store = try open(place, keepsHistory)
        let start = try store.position()
        let cut = isAfterwards ? place.proxy.cutReply(to: statement) : place.proxy.cutBefore(statement)
        let failure = code { try store.write([FailurePlace.save(1)]) }
        #expect(cut.isReached)
        #expect(failure == nil || failure == .storeUnavailable)
        #expect(try place.keys() == (failure == nil ? [1] : []))
        if keepsHistory { #expect(try recordedKeys(store) == (failure == nil ? [[1]] : [])) }
        if failure != nil { try store.write([FailurePlace.save(1)]) }
        #expect(try place.keys() == [1])
        #expect(try store.position() == start + 1)
        if keepsHistory { #expect(try recordedKeys(store) == [[1]]) }
        store.close()
    }

    @Test func readsGoOnAfterACut() throws {
        let place = try FailurePlace()
        let store = try place.open()
        try store.write([FailurePlace.save(1)])
        for _ in 0..<3 {
            #expect(try store.count() == 1)
            place.proxy.cutAll()
            #expect(try store.readFeed(after: 0).position == 1)
            place.proxy.cutAll()
        }
        try place.open(isDirect: true).close()
        store.close()
    }

    @Test func aReadWithACutConnectionThrows() throws {
        let place = try FailurePlace()
        let store = try place.open()
        try store.write([FailurePlace.save(1)])
        let query = RowQuery(entity: TestModel.item)
        #expect(
            code {
                try store.read(.snapshot) { (reader) throws(DataSourceError) in
                    _ = try reader.count(query)
                    place.proxy.cutAll()
                    _ = try reader.count(query)
                }
            } == .storeUnavailable)
        #expect(try store.count() == 1)
        store.close()
    }

    /// Three members save the same number of rows each, whatever is cut; a save that was not acknowledged is tried again. Each save
    /// has one record, and the records of a member are in the order of its saves.
    @Test(arguments: [false, true])
    func eachSaveIsThereOnceHoweverOftenTheConnectionsAreCut(keepsHistory: Bool) throws {
        let seed = testSeed()
        let place = try FailurePlace()
        let stores = try (0..<3).map { _ in try open(place, keepsHistory) }
        let start = try stores[0].position()
        let failures = Mutex<[String]>([])
        let acknowledged = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            var random = SeededRandom(seed: seed).branch(UInt64(index))
            guard index < 3 else {
                while acknowledged.load(ordering: .relaxed) < 60 {
                    let count = acknowledged.load(ordering: .relaxed)
                    cutSomething(place.proxy, keepsHistory, &random)
                    // However long a connection and a save take, some come through between two cuts.
                    while acknowledged.load(ordering: .relaxed) == count, count < 60 { usleep(1000) }
                }
                return
            }
            for step in Int64(1)...20 {
                let key = Int64(index) * 1000 + step
                if let failure = saved(key, stores[index]) { failures.withLock { $0.append(failure) } }
                acknowledged.add(1, ordering: .relaxed)
            }
        }
        #expect(failures.withLock { $0 } == [], "seed \(seed)")
        #expect(try place.keys() == (0..<3).flatMap { index in (1...20).map { index * 1000 + $0 } }, "seed \(seed)")
        let reader = try open(place, keepsHistory, isDirect: true)
        #expect(try reader.position() == start + 60, "seed \(seed)")
        if keepsHistory {
            let keys = try recordedKeys(reader)
            for member in Int64(0)..<3 {
                let own = keys.filter { $0.first.map { $0 / 1000 == member } ?? false }
                #expect(own == (1...20).map { [member * 1000 + $0] }, "seed \(seed)")
            }
            #expect(keys.count == 60, "seed \(seed)")
        }
        for store in stores + [reader] { store.close() }
    }

    private func cutSomething(_ proxy: TCPProxy, _ keepsHistory: Bool, _ random: inout SeededRandom) {
        let all = CutConnectionTests.statements + (keepsHistory ? CutConnectionTests.historyStatements : [])
        let statement = all.randomElement(using: &random) ?? ""
        switch random.next(below: 4) {
        case 0: proxy.cutAll()
        case 1: _ = proxy.cutBefore(statement)
        default: _ = proxy.cutReply(to: statement)
        }
        usleep(UInt32(random.next(below: 100_000)))
    }

    /// - Returns: What went wrong; nil once it is acknowledged.
    private func saved(_ key: Int64, _ store: PostgreSQLStore) -> String? {
        for _ in 0..<200 {
            do {
                let outcome = try store.commit([FailurePlace.save(key, number: key)])
                // The server has not noticed yet that a connection with this row is cut.
                if !outcome.postponed.isEmpty { continue }
                return outcome.refused[0].map { "\(key): \($0)" }
            } catch {
                guard error.code == .storeUnavailable || error.code == .outcomeUnknown else {
                    return "\(key): \(error)"
                }
            }
        }
        return "\(key): given up"
    }
}
#endif
