import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What a store that keeps a history promises.
struct HistoryPromises {
    private static let ample = KeptHistory.kept(for: .seconds(86_400), upTo: 64 << 20)

    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(code: code))
    }

    private func records(
        _ store: any PersistentStore, after position: HistoryPosition? = nil
    ) throws -> [StoredRecord] {
        let history = try #require(store.recordStore)
        var page = try history.readHistory(after: position, HistoryFilter())
        var records = page.records
        while page.isMore {
            page = try history.readHistory(after: page.position, HistoryFilter())
            records += page.records
        }
        return records
    }

    private func resume(_ store: any PersistentStore, _ name: String, _ id: String) throws -> [StoredRecord] {
        let history = try #require(store.recordStore)
        return try records(store, after: history.changeConsumer(name, .resume(historyID: id)))
    }

    @Test(arguments: TestedStore.all)
    func eachSaveHasARecordWithItsValues(kind: TestedStore) throws {
        let place = try kind.makePlace()
        let store = try place.open(HistoryPromises.ample)
        var first = ChangeSet.of(insert: [item(1, "a"), item(2, "b")])
        first.facts = SaveFacts(.incoming, dataSourceName: "Items", author: "loader")
        let layout = TestModel.layout.entities[TestModel.item]
        let update = UpdatedRow.of(1, TestModel.row(code: "a"), TestModel.row(code: "c"), layout)
        var second = ChangeSet.of(update: [update], delete: [item(2, "b")])
        let mark = DraftMark()
        second.facts = SaveFacts(
            .local, dataSourceName: nil, author: nil, reversal: .step(UndoReference(isUndo: true, 1...3)), mark: mark)
        // A refused save has no record, and leaves no gap.
        let refused = ChangeSet.of(insert: [item(3, "c")])
        try store.write([first])
        #expect(try store.commit([second, refused]).refused.keys.sorted() == [1])
        let records = try records(store)
        #expect(records.map(\.number) == [1, 2])
        #expect(records[0].kind == .incoming && records[0].author == "loader" && records[0].dataSourceName == "Items")
        #expect(records[0].entityNames == ["Item"] && records[0].undo == nil && records[0].mark == nil)
        #expect(records[0].changes?.entities[0].inserted.map(\.key) == [1, 2])
        #expect(records[1].kind == .local && records[1].author == nil && records[1].mark == mark)
        #expect(records[1].undo == UndoReference(isUndo: true, 1...3))
        let changes = try #require(records[1].changes?.entities.first)
        #expect(changes.updated.map { $0.previous.text(TestModel.code) } == ["a"])
        #expect(changes.updated.map { $0.row.text(TestModel.code) } == ["c"])
        #expect(changes.deleted.map { $0.row.text(TestModel.code) } == ["b"])
        store.close()
        try place.verify()
    }

    /// The record says that the step is done. Other saves without rows have no record.
    @Test(arguments: TestedStore.all)
    func anUndoThatChangesNothingHasARecord(kind: TestedStore) throws {
        let place = try kind.makePlace()
        let store = try place.open(HistoryPromises.ample)
        try store.write([.of(insert: [item(1, "a")])])
        let undo = UndoReference(isUndo: true, 1...1)
        func empty(_ reversal: SaveReversal?) -> ChangeSet {
            var set = ChangeSet(entities: [])
            set.facts = SaveFacts(.local, dataSourceName: nil, author: "me", reversal: reversal)
            return set
        }
        try store.write([
            empty(.step(undo)), empty(nil), .of(insert: [item(2, "b")]), empty(.record(isIncoming: false)),
        ])
        let records = try records(store)
        #expect(records.map(\.number) == [1, 2, 3] && records.map(\.undo) == [nil, undo, nil])
        #expect(records[1].author == "me" && records[1].entityNames.isEmpty && records[1].note == nil)
        #expect(records[1].changes?.entities.isEmpty == true)
        store.close()
        try place.verify()
    }

    @Test(arguments: TestedStore.persistent)
    func recordsAndConsumersAreThereWhenTheStoreIsOpenedAgain(kind: TestedStore) throws {
        let place = try kind.makePlace()
        var store = try place.open(HistoryPromises.ample)
        for key in Int64(1)...3 { try store.write([.of(insert: [item(key, "\(key)")])]) }
        let history = try #require(store.recordStore)
        let id = try history.historyEnd().historyID
        _ = try history.changeConsumer("index", .register)
        let read = try history.readHistory(after: nil, HistoryFilter()).records[0]
        let position = HistoryPosition(historyID: id, number: read.number, time: read.time)
        #expect(try history.changeConsumer("index", .move(position)) == position)
        store.close()
        store = try place.open()
        try store.write([.of(insert: [item(4, "4")])])
        #expect(try records(store).map(\.number) == [1, 2, 3, 4])
        #expect(try records(store).allSatisfy { $0.changes?.entities[0].inserted.count == 1 })
        #expect(try resume(store, "index", id).map(\.number) == [2, 3, 4])
        #expect(code { _ = try resume(store, "other", id) } == .historyNotKept)
        store.close()
        try place.verify()
    }

    @Test(arguments: TestedStore.all)
    func aResetEndsTheHistory(kind: TestedStore) throws {
        let place = try kind.makePlace()
        let store = try place.open(HistoryPromises.ample)
        try store.write([.of(insert: [item(1, "a")])])
        let history = try #require(store.recordStore)
        let old = try history.historyEnd()
        _ = try history.changeConsumer("index", .register)
        _ = try store.reset()
        #expect(code { _ = try records(store, after: old) } == .historyExpired)
        try store.write([.of(insert: [item(5000, "a")])])
        #expect(try records(store).map(\.kind) == [.reset, .local])
        #expect(try resume(store, "index", old.historyID).map(\.kind) == [.reset, .local])
        store.close()
        try place.verify()
    }

    @Test(arguments: TestedStore.all)
    func theOldestRecordsAreDroppedAndReadersAreTold(kind: TestedStore) throws {
        let place = try kind.makePlace()
        var store = try place.open(.kept(for: .seconds(86_400), upTo: 64 << 10))
        try store.write([.of(insert: [item(1, "1")])])
        let history = try #require(store.recordStore)
        let old = try history.historyEnd()
        _ = try history.changeConsumer("index", .register)
        let long = String(repeating: "x", count: 1000)
        for key in Int64(2)...200 { try store.write([.of(insert: [item(key, "\(long) \(key)")])]) }
        func check() throws {
            let numbers = try records(store).map(\.number)
            #expect(numbers.count > 10 && numbers.count < 100 && numbers == Array((numbers.first ?? 0)...200))
            #expect(code { _ = try records(store, after: old) } == .historyExpired)
            // A consumer that never reads keeps no more than the bytes, and is told.
            #expect(code { _ = try resume(store, "index", old.historyID) } == .historyExpired)
        }
        try check()
        store.close()
        guard kind.isPersistent else { return }
        store = try place.open()
        try check()
        store.close()
        try place.verify()
    }

    /// A program that makes few saves each time would otherwise never drop any.
    @Test(arguments: TestedStore.persistent)
    func theFirstSaveDropsOldRecords(kind: TestedStore) throws {
        let place = try kind.makePlace()
        var store = try place.open(HistoryPromises.ample)
        try store.write((Int64(1)...600).map { .of(insert: [item($0, "\($0)")]) })
        #expect(try records(store).first?.number == 1)
        store.close()
        store = try place.open(.kept(for: .seconds(86_400), upTo: 64 << 10))
        try store.write([.of(insert: [item(601, "601")])])
        #expect(try records(store).first?.number ?? 0 > 1)
        store.close()
        try place.verify()
    }

    @Test(arguments: TestedStore.persistent)
    func aHistoryIsSwitchedOnAndOff(kind: TestedStore) throws {
        let place = try kind.makePlace()
        var store = try place.open()
        try store.write([.of(insert: [item(1, "a")])])
        #expect(store.recordStore?.keepsHistory ?? false == false)
        store.close()
        store = try place.open(HistoryPromises.ample)
        try store.write([.of(insert: [item(2, "b")])])
        // Whoever knew an earlier history is told.
        #expect(try records(store).map(\.kind) == [.reset, .local])
        #expect(try records(store).map { $0.changes?.entities[0].inserted.map(\.key) } == [nil, [2]])
        let position = try #require(store.recordStore).historyEnd()
        store.close()
        store = try place.open(.none)
        #expect(store.recordStore?.keepsHistory ?? false == false)
        #expect(try store.count() == 2)
        store.close()
        store = try place.open(HistoryPromises.ample)
        #expect(try records(store).map(\.kind) == [.reset])
        #expect(code { _ = try records(store, after: position) } == .historyOfOtherStore)
        store.close()
        try place.verify()
    }
}
