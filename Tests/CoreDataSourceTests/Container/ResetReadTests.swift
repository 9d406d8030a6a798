import CoreDataSource
import Dispatch
import Foundation
import RowStore
import Testing

/// Fetches that begin before a reset and end after it.
@MainActor
struct ResetReadTests {
    /// It had the rows of the old store, without a save that main had shown by then.
    @Test func aFetchDuringWhichTheStoreIsEmptiedFindsNothing() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1))
        let root = container.stack.root
        let isEmptied = Shared(false)
        store.afterNextRead {
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                _ = try? await senders.add(ItemData(key: "a", number: 2))
                isEmptied.value = (try? await root.reset()) != nil
                isDone.signal()
            }
            isDone.wait()
        }
        #expect(try senders.fetch(Sender.self).map(\.number) == [])
        #expect(isEmptied.value)
    }

    /// It had the rows of the old store, without what was pending over them when it began.
    @Test func aSnapshotDuringWhichTheStoreIsEmptiedIsTakenAgain() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let root = container.stack.root
        try await senders.add(ItemData(key: "a", number: 1))
        store.fail(with: noRoom)
        try await senders.add(ItemData(key: "b", number: 2), waitFor: .main)
        store.duringNextRead {
            store.fail(with: nil)
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                _ = try? await root.reset()
                isDone.signal()
            }
            isDone.wait()
        }
        let keys = try await container.read { context in try context.fetch(Sender.self).map(\.key) }
        #expect(root.generation == 1)
        #expect(keys == [])
    }

    /// Between the two it saw the pending saves alone, without the rows that they were made on.
    @Test func nothingSavedBeforeIsSeenInTheEmptyStore() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let root = container.stack.root
        let sender = try #require(root.layout.entities.first { $0.name == "Sender" })
        try await senders.add(ItemData(key: "a", number: 1))
        store.fail(with: noRoom)
        try await senders.add(ItemData(key: "b", number: 2), waitFor: .main)
        store.duringReset { store.fail(with: nil) }
        let seen = Shared<Int?>(nil)
        store.afterReset { seen.value = try? root.rows.rows(RowQuery(entity: sender.index), sender).rows.count }
        _ = try await root.reset()
        #expect(seen.value == 0)
        #expect(container.pendingSaveCount == 0)
    }
}
