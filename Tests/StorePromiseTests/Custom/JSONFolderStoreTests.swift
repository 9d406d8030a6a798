import ErrorExpectations
import Foundation
import JSONFolderStore
import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What the store that is the example for others promises beyond what every store does.
struct JSONFolderStoreTests {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "store") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func options(
        _ synchronous: SynchronousLevel = .normal, key: String = "1", history: KeptHistory = .unchanged
    ) -> StoreOptions {
        StoreOptions(
            layout: TestModel.layout, identity: TestModel.identity(key: key), resetPolicy: .discard,
            synchronous: synchronous, history: history)
    }

    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(.integer(key), .real(0.5), .null, .blob([1]), .null, .text(code)))
    }

    private func contents(_ store: any PersistentStore) throws -> [String] {
        try store.rows(RowQuery(entity: TestModel.item)).map { "\($0.key) \($0.row.text(TestModel.code))" }
    }

    /// The rows, and the numbers of the records.
    private func contentsAndRecords(_ store: any PersistentStore) throws -> [String] {
        let page = try store.recordStore?.readHistory(after: nil, HistoryFilter())
        return try contents(store) + (page?.records.map { "record \($0.number)" } ?? [])
    }

    /// What is in each copy of the folder that was made while the body ran, opened again.
    private func contentsAfterKills(
        _ synchronous: SynchronousLevel, history: KeptHistory = .unchanged,
        _ body: (JSONFolderStore) throws -> Void
    ) throws -> [[String]] {
        let isCopying = Guarded(false)
        let count = Guarded(0)
        let copies = directory.url.appending(component: "copies")
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        let url = url
        let store = try JSONFolderStore(url, options(synchronous, history: history)) {
            guard isCopying.withLock({ $0 }) else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            do { try FileManager.default.copyItem(at: url, to: copies.appending(component: "\(number)")) } catch {
                Issue.record(error)
            }
        }
        try store.write([.of(insert: [item(1, "a"), item(2, "b"), item(3, "c")])])
        isCopying.withLock { $0 = true }
        try body(store)
        isCopying.withLock { $0 = false }
        store.close()
        return try (1...max(1, count.withLock { $0 })).map { number in
            let copy = try JSONFolderStore(copies.appending(component: "\(number)"), options(synchronous))
            defer { copy.close() }
            return try contentsAndRecords(copy)
        }
    }

    @Test func aKillAtAnyStepLeavesASaveWithItsRecordOrNeither() throws {
        let found = try contentsAfterKills(.full, history: .kept(for: .seconds(86_400), upTo: 1 << 20)) { store in
            try store.write([.of(delete: [item(3, "c")])])
        }
        let (before, after) = (["1 a", "2 b", "3 c", "record 1"], ["1 a", "2 b", "record 1", "record 2"])
        let first = try #require(found.firstIndex(of: after))
        #expect(first > 0)
        #expect(found[..<first].allSatisfy { $0 == before })
        #expect(found[first...].allSatisfy { $0 == after })
    }

    @Test func aRecordThatIsMissingOrDamagedIsAnErrorAndNoReset() throws {
        let history = KeptHistory.kept(for: .seconds(86_400), upTo: 1 << 20)
        let store = try JSONFolderStore(url, options(history: history))
        for key in Int64(1)...3 { try store.write([.of(insert: [item(key, "\(key)")])]) }
        store.close()
        let file = url.appending(path: "history/2.record")
        let record = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        #expect(code { _ = try JSONFolderStore(url, options()) } == .storeCorrupt)
        try Data(record.dropLast(20)).write(to: file)
        #expect(code { _ = try JSONFolderStore(url, options()) } == .storeCorrupt)
        try record.write(to: file)
        let again = try JSONFolderStore(url, options())
        #expect(try contentsAndRecords(again).count == 6)
        again.close()
        // Without its file, the history cannot be continued. It can be dropped.
        try FileManager.default.removeItem(at: url.appending(path: "history.json"))
        #expect(code { _ = try JSONFolderStore(url, options()) } == .storeCorrupt)
        let without = try JSONFolderStore(url, options(history: .none))
        #expect(try contentsAndRecords(without).count == 3)
        without.close()
    }

    @Test(arguments: [SynchronousLevel.full, .normal])
    func aKillAtAnyStepLeavesAGroupWholeOrNotAtAll(synchronous: SynchronousLevel) throws {
        let layout = TestModel.layout.entities[TestModel.item]
        let (before, after) = (["1 a", "2 b", "3 c"], ["1 a", "2 d", "4 b", "5 e"])
        let found = try contentsAfterKills(synchronous) { store in
            let update = UpdatedRow.of(2, item(2, "b").row, item(2, "d").row, layout)
            try store.write([
                .of(insert: [item(4, "b")], update: [update], delete: [item(3, "c")]), .of(insert: [item(5, "e")]),
            ])
            #expect(try contents(store) == after)
        }
        #expect(found.count > 8)
        let first = try #require(found.firstIndex(of: after))
        #expect(first > 0)
        #expect(found[..<first].allSatisfy { $0 == before })
        #expect(found[first...].allSatisfy { $0 == after })
    }

    @Test func aKillAtAnyStepOfAResetLeavesAllRowsOrNone() throws {
        let found = try contentsAfterKills(.full) { store in
            let startup = try store.reset()
            #expect(startup.rowsDropped == 3)
        }
        let first = try #require(found.firstIndex(of: []))
        #expect(first > 0)
        #expect(found[..<first].allSatisfy { $0 == ["1 a", "2 b", "3 c"] })
        #expect(found[first...].allSatisfy { $0 == [] })
    }

    @Test func aKillAtAnyStepOfAnOpeningThatResetsLeavesTheOldStoreOrTheNewOne() throws {
        let store = try JSONFolderStore(url, options())
        try store.write([.of(insert: [item(1, "a"), item(2, "b")])])
        store.close()
        let (url, copies) = (url, directory.url)
        let count = Guarded(0)
        try JSONFolderStore(url, options(key: "2")) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            do { try FileManager.default.copyItem(at: url, to: copies.appending(component: "\(number)")) } catch {
                Issue.record(error)
            }
        }.close()
        var reasons: [StoreStartup.Reason] = []
        for number in 1...count.withLock({ $0 }) {
            let copy = try JSONFolderStore(copies.appending(component: "\(number)"), options(key: "2"))
            reasons.append(copy.startup.reason)
            #expect(copy.startup.rowsDropped == (copy.startup.reason == .current ? 0 : 2))
            #expect(try contents(copy) == [])
            copy.close()
        }
        #expect(reasons.first == .databaseKeyChanged)
        #expect(reasons.last == .current)
    }

    @Test func aFileThatCannotBePutInPlaceYetIsStoredAllTheSame() throws {
        let store = try JSONFolderStore(url, options())
        // A file where the folder of the objects has to be.
        let obstacle = url.appending(component: "Item")
        try Data().write(to: obstacle)
        try store.write([.of(insert: [item(1, "a")])])
        #expect(try contents(store) == ["1 a"])
        expectThrows(DataSourceError.self) { try store.write([.of(insert: [item(2, "b")])]) }
        #expect(try contents(store) == ["1 a"])
        try FileManager.default.removeItem(at: obstacle)
        try store.write([.of(insert: [item(3, "c")])])
        store.close()
        let reopened = try JSONFolderStore(url, options())
        #expect(try contents(reopened) == ["1 a", "3 c"])
        reopened.close()
    }

    @Test func aFileThatIsDamagedIsAnErrorAndNoReset() throws {
        let store = try JSONFolderStore(url, options())
        try store.write([.of(insert: [item(1, "a")])])
        store.close()
        for (file, contents) in [
            ("Item/1.json", "{\"integer\": \"no number\"}"), ("Item/1.json", "{"), ("Item/x.json", "{}"),
            ("Other/1.json", "{}"), ("store.json", "{}"), ("store.json", "["),
        ] {
            let file = url.appending(path: file)
            let old = try? Data(contentsOf: file)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contents.utf8).write(to: file)
            let isRefused = code { _ = try JSONFolderStore(url, options()) } == .storeCorrupt
            #expect(isRefused, "\(file.lastPathComponent): \(contents)")
            #expect(try Data(contentsOf: file) == Data(contents.utf8))
            if let old { try old.write(to: file) } else { try FileManager.default.removeItem(at: file) }
        }
        let reopened = try JSONFolderStore(url, options())
        #expect(try contents(reopened) == ["1 a"])
        reopened.close()
    }

    @Test func linksThatHaveRowsOfTheirOwnAreThereAtTheNextStart() throws {
        let model = TestModel.linkModel
        let layout = ModelLayout(model)
        let options = StoreOptions(layout: layout, identity: TestModel.identity(of: model), synchronous: .normal)
        let pairs = try #require(layout.entities.first { $0.links != nil })
        let values = pairs.columns.indices.map { RowValue.integer(Int64($0 + 1)) }
        let store = try JSONFolderStore(url, options)
        try store.write([.of(pairs.index, insert: [StoredRow(key: 7, row: try pairs.row(values))])])
        store.close()
        let reopened = try JSONFolderStore(url, options)
        let row = try #require(try reopened.row(7, entity: pairs.index))
        #expect(pairs.values(of: row) == values)
        reopened.close()
    }

    @Test func aFolderOfOthersIsLeftAlone() throws {
        let file = url.appending(path: "Item/1.json")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: file)
        #expect(code { _ = try JSONFolderStore(url, options()) } == .foreignDatabase)
        #expect(try Data(contentsOf: file) == Data("{}".utf8))
    }

    @Test func onlyOneContainerHasAFolderOpen() throws {
        let store = try JSONFolderStore(url, options())
        #expect(code { _ = try JSONFolderStore(url, options()) } == .storeInUse)
        store.close()
        try JSONFolderStore(url, options()).close()
    }
}
