import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// How much of the history is read at once.
struct HistoryPageTests {
    /// An app may give authors of any length.
    @Test(arguments: [true, false]) func longAuthorsEndAPage(includesValues: Bool) throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.history = .kept(for: .seconds(3600), upTo: 64 << 20)
        let store = try SQLiteStore.open(options)
        defer { store.close() }
        let author = String(repeating: "a", count: 100 << 10)
        for key in Int64(1)...40 {
            var save = ChangeSet.of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))], number: key)
            save.facts = SaveFacts(.local, dataSourceName: nil, author: author)
            try store.write([save])
        }
        var filter = HistoryFilter()
        filter.includesValues = includesValues
        var (counts, position) = ([Int](), HistoryPosition?.none)
        while counts.reduce(0, +) < 40, counts.count < 40 {
            let page = try store.readHistory(after: position, filter)
            counts.append(page.records.count)
            position = page.position
        }
        #expect(counts.count == 4 && counts.allSatisfy { (1...11).contains($0) }, "\(counts)")
        // Records that the filter leaves out are not in memory together.
        var other = HistoryFilter(authors: ["b"])
        other.includesValues = includesValues
        let page = try store.readHistory(after: nil, other)
        #expect(page.records.isEmpty && !page.isMore && page.position.number == 40)
    }
}
