import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import JSONFolderStore
import RowStore
import TestSupport
import Testing

/// The history of a store in a container that only reads.
@MainActor
struct ReadOnlyHistoryTests {
    private static let reading = PersistentContainer.Configuration(
        isReadOnly: true, history: .kept(for: .seconds(1), upTo: 0))

    @Test(arguments: HistoryPlace.lasting)
    func theRecordsAreReadAndNothingIsChanged(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        let contacts = try first.dataSource(ContactDataSource.self)
        for step in 0..<3 { try await contacts.add(contactList(step..<step + 1)) }
        let index = try await first.historyConsumer("index")
        try await index.didRead(try #require(try await first.records().first?.position))
        try await first.close()
        let reader = try await place.open(directory.store, Self.reading)
        let records = try await reader.records()
        #expect(records.map(\.number) == [1, 2, 3] && records.allSatisfy(\.hasValues))
        #expect(try await reader.records(after: records[0].position).map(\.number) == [2, 3])
        #expect(try await reader.historyPosition() == records[2].position)
        let known = try await reader.historyConsumer("index")
        #expect(try await known.records().all().map(\.number) == [2, 3])
        await expectError(.storeReadOnly) { try await known.didRead(records[2].position) }
        await expectError(.storeReadOnly) { try await known.remove() }
        await expectError(.storeReadOnly) { try await reader.historyConsumer("other") }
        _ = try reader.dataSource(ContactDataSource.self)
        await expectError(.storeReadOnly) { try await reader.revert(records[2], includingIncoming: true) }
        try await reader.close()
        if place.isFile {
            let bytes = "SELECT value FROM _history_state WHERE name = 'bytes'"
            #expect(try RawConnection(directory.store).column(bytes) == ["\(64 << 20)"])
        }
        let last = try await place.open(directory.store)
        #expect(try await last.historyConsumer("index").records().all().map(\.number) == [2, 3])
        try await last.close()
    }

    /// The setting cannot switch the history on, and does not prevent the opening.
    @Test(arguments: HistoryPlace.lasting)
    func aStoreWithoutAHistoryIsOpened(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, .init(synchronous: .normal))
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<1))
        try await first.close()
        let reader = try await place.open(directory.store, Self.reading)
        #expect(try reader.main.count(ContactEntity.self) == 1)
        await expectError(.historyNotKept) { try await reader.records() }
        await expectError(.historyNotKept) { try await reader.historyConsumer("index") }
        try await reader.close()
    }

    /// A custom store that knows nothing of histories.
    @Test func aCustomStoreWithoutTheProtocolIsOpened() throws {
        let layout = ModelLayout(.contacts)
        let identity = StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1")
        var metadata = StoreMetadata(new: identity)
        for isKept in [false, true] {
            metadata.keepsHistory = isKept
            let options = StoreOptions(
                layout: layout, identity: identity, isReadOnly: true, history: .kept(for: .seconds(1), upTo: 0))
            let plan = try options.plan(for: metadata)
            #expect(plan.reason == .current && plan.metadata == metadata)
        }
    }
}

/// A folder of JSON files that is open for reading only.
final class ReadOnlyFolderStore: HistoryStore {
    private let base: JSONFolderStore

    init(_ folder: URL, _ options: StoreOptions) throws(DataSourceError) {
        base = try JSONFolderStore(folder, StoreOptions(layout: options.layout, identity: options.identity))
    }

    var isReadOnly: Bool { true }
    var history: InMemoryHistory? { base.history }
    var firstFreeKey: Int64 { base.firstFreeKey }

    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try base.read(isolation, body)
    }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome { throw Self.refusal }

    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup { throw Self.refusal }

    /// The container must not call this.
    func writeHistory(_ change: StoredHistoryChange) throws(DataSourceError) { try base.writeHistory(change) }

    func close() { base.close() }

    private static var refusal: DataSourceError { DataSourceError(.storeReadOnly, "The folder is only read.") }
}
