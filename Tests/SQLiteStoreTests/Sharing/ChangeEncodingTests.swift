import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Saves as other processes get them.
struct ChangeEncodingTests {
    private var mostMemory: Int {
        var usage = rusage()
        // RUSAGE_SELF, which is of another type on each platform.
        _ = getrusage(0, &usage)
        #if canImport(Darwin)
        return Int(usage.ru_maxrss)
        #else
        return Int(usage.ru_maxrss) * 1024
        #endif
    }

    private func save(_ count: Int, _ bytes: Int) -> ChangeSet {
        let row = TestModel.row(.null, .null, .text(String(repeating: "x", count: bytes)))
        return .of(insert: (1...Int64(count)).map { StoredRow(key: $0, row: row) })
    }

    @Test func encodedChangesAreRead() throws {
        let encoding = ChangeEncoding(TestModel.layout)
        let words = try #require(encoding.words(save(100, 1000)))
        let read = try #require(words.withUnsafeBufferPointer(encoding.changes))
        #expect(read.entities.first?.inserted.count == 100)
        #expect(read.entities.first?.inserted.last?.row.text(TestModel.text).count == 1000)
    }

    private static let facts: [(String?, String?)] = [
        (nil, nil), ("Contacts", nil), (nil, "Zoë, a longer name"), ("Contacts", ""), ("12345678", "1234567"),
    ]

    @Test(arguments: facts) func theFactsOfASaveAreRead(source: String?, author: String?) throws {
        let encoding = ChangeEncoding(TestModel.layout)
        var changes = save(3, 10)
        changes.facts = SaveFacts(.incoming, dataSourceName: source, author: author)
        var words = try #require(encoding.words(changes))
        let read = try #require(words.withUnsafeBufferPointer(encoding.changes))
        #expect(read.entities.first?.inserted.count == 3)
        #expect(read.facts?.kind == .incoming && read.facts?.dataSourceName == source && read.facts?.author == author)
        // No end in the middle of the facts is taken for another author.
        while words.removeLast() != .max {
            let part = words.withUnsafeBufferPointer(encoding.changes)
            #expect(part == nil || part?.facts == nil)
        }
    }

    @Test func factsThatAreTooLongAreLeftOut() throws {
        let encoding = ChangeEncoding(TestModel.layout)
        var changes = save(1, 10)
        changes.facts = SaveFacts(.local, dataSourceName: nil, author: String(repeating: "a", count: 1 << 20))
        let words = try #require(encoding.words(changes))
        #expect(words.count < 100)
        let read = try #require(words.withUnsafeBufferPointer(encoding.changes))
        #expect(read.facts == nil && read.entities.count == 1)
    }

    /// An edit in place would write its bytes over the head of the row, which says how long the row is.
    @Test func bytesThatBeginInTheHeadOfARowAreRefused() throws {
        let encoding = ChangeEncoding(TestModel.layout)
        var words = try #require(encoding.words(save(1, 16)))
        let entity = try #require(TestModel.layout.entities.first { $0.columns.indices.contains(TestModel.text) })
        let slot = UInt64(RowSnapshot.headWords(entity.columns.count)) << 32 | 16
        let place = try #require(words.firstIndex(of: slot))
        words[place] = 1 << 32 | 16
        #expect(words.withUnsafeBufferPointer(encoding.changes) == nil)
        words[place] = slot
        #expect(words.withUnsafeBufferPointer(encoding.changes) != nil)
    }

    /// All rows were copied before they were found to be too large: 4 GB here.
    @Test func changesThatAreTooLargeAreNotCopied() {
        let changes = save(4096, 1 << 20)
        let before = mostMemory
        #expect(ChangeEncoding(TestModel.layout).words(changes) == nil)
        #expect(mostMemory - before < 1 << 30)
        #expect(ChangeEncoding(TestModel.layout).words(save(1, 5 << 20)) == nil)
    }
}
