import RowStore
import StoreTestModel
import Testing

/// How much of a history each kind of store keeps. The rule is the same for all kinds.
struct HistoryLimitPromises {
    private static let limit = 64 << 10

    private func save(_ key: Int64, author: String? = nil) -> ChangeSet {
        let code = String(repeating: "x", count: 300)
        var set = ChangeSet.of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(code) \(key + 1000)"))])
        set.facts = SaveFacts(.local, dataSourceName: nil, author: author)
        return set
    }

    /// The bytes with which the record of a save counts.
    private func size(_ set: ChangeSet) -> Int {
        var bytes = 0
        HistoryEncoding(TestModel.layout).forEachPart(of: set) { words, _ in
            bytes += words.count * 8 + StoredRecord.rowOverhead
        }
        return bytes
    }

    private func records(_ store: any PersistentStore) throws -> [StoredRecord] {
        let page = try #require(store.recordStore).readHistory(after: nil, HistoryFilter())
        #expect(!page.isMore)
        return page.records
    }

    /// A history exceeds its bytes by less than a sixteenth and one record, and drops no more than it must.
    @Test(arguments: TestedStore.all)
    func aHistoryKeepsItsBytes(kind: TestedStore) throws {
        let place = try kind.makePlace()
        let store = try place.open(.kept(for: .seconds(86_400), upTo: Self.limit))
        let size = size(save(1))
        let (fewest, most) = (Self.limit / size, (Self.limit + Self.limit / 16) / size + 1)
        for key in Int64(1)...200 {
            try store.write([save(key)])
            let numbers = try records(store).map(\.number)
            #expect(numbers.last == key && numbers.count >= min(Int(key), fewest))
            #expect(numbers.count <= most, "\(numbers.count) records, but at most \(most)")
        }
        store.close()
        try place.verify()
    }

    /// Texts can make a record larger than the limit.
    @Test(arguments: TestedStore.all)
    func theNewestRecordStays(kind: TestedStore) throws {
        let place = try kind.makePlace()
        let store = try place.open(.kept(for: .seconds(86_400), upTo: Self.limit))
        for key in Int64(1)...3 {
            try store.write([save(key, author: String(repeating: "a", count: 2 * Self.limit))])
            #expect(try records(store).map(\.number) == [key])
        }
        store.close()
        try place.verify()
    }
}
