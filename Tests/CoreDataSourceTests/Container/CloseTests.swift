import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Ends: of a store, of a container, in whatever order.
@MainActor
struct CloseTests {
    private let item = ItemData(key: "a", number: 1)

    /// It returned as if the rows would be in the store soon, which they never were.
    @Test func nothingIsAcceptedAfterClosing() async throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        // Fills the cache, so that the hook needs no store.
        try await senders.add(ItemData(key: "b", number: 2))
        try await container.close()
        await expectError(.storeClosed) { try await senders.add(item, waitFor: .main) }
        #expect(container.pendingSaveCount == 0)
    }

    /// What closing could not write is tried again by somebody else, whom it did not wait for.
    @Test func theStoreIsNotClosedDuringACommit() async throws {
        let (container, store, _) = PersistentContainer.timed()
        let senders = try container.dataSource(SenderDataSource.self)
        store.fail(with: noRoom)
        try await senders.add(item, waitFor: .main)
        await expectError(.diskFull) { try await container.flush() }
        let (first, endFirst) = (store.commitArrives(), store.holdCommits())
        let closing = Task { try await container.close() }
        for await _ in first {}
        let flushing = Task { try await container.flush() }
        for _ in 0..<1000 { await Task.yield() }
        let (second, endSecond) = (store.commitArrives(), store.holdCommits())
        endFirst()
        for await _ in second {}
        for _ in 0..<1000 { await Task.yield() }
        store.fail(with: nil)
        endSecond()
        await expectThrows(DataSourceError.self) { try await closing.value }
        try await flushing.value
        #expect(!store.wasClosedDuringACommit)
        #expect(store.committedGroups == [[1]])
    }

    /// What main showed was gone if the container was dropped before the root came to it.
    @Test func droppingAContainerWritesWhatIsPending() async throws {
        weak var stack: PersistentStack?
        let store = try await {
            let (container, store) = PersistentContainer.faulty()
            stack = container.stack
            store.fail(with: noRoom)
            let senders = try container.dataSource(SenderDataSource.self)
            try await senders.add(item, waitFor: .main)
            store.fail(with: nil)
            return store
        }()
        // The commit that failed may hold it for a moment.
        while stack != nil { await Task.yield() }
        #expect(store.committedGroups == [[1]])
    }

    @Test func droppingAContainerWritesToTheFile() async throws {
        let directory = try TemporaryDirectory()
        for round in 1...20 {
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
            let contacts = try container.dataSource(ContactDataSource.self)
            #expect(try contacts.count(ContactEntity.self) == (round - 1) * 3)
            for number in 0..<3 {
                try await contacts.add(ContactData(uid: "\(round) \(number)", name: ""), waitFor: .main)
            }
        }
    }

    @Test func closingTwiceAtOnceReturns() async throws {
        let directory = try TemporaryDirectory()
        for _ in 0..<50 {
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { try? await container.close() } }
            }
        }
    }
}
