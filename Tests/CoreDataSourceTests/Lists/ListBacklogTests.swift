import CoreDataSource
import RowStore
import TestSupport
import Testing

/// Saves that come while a list works off the main actor.
@MainActor
struct ListBacklogTests: ItemListSuite {
    /// They were kept without a bound while the store was slow to answer.
    @Test func savesThatWaitForAListAreBoundedInBytes() async throws {
        let (container, store) = PersistentContainer.faulty(configuration: .init(mainBacklogByteLimit: 100_000))
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<200))
        let delegate = try register(senders, "list")
        let read = store.holdNextRead()
        container.mainTier.reloadLists()
        for await _ in read.arrived {}
        var most = 0
        for step in 1...30 {
            try senders.performAndWait { context in
                for sender in try context.fetch(Sender.self) { sender.number = Int64(step) }
            }
            // Main takes the save in, and the list is notified of it.
            #expect(try senders.count(Sender.self, where: \.number == Int64(step)) == 200)
            container.mainTier.merge()
            most = max(most, container.mainTier.keptListBytes)
        }
        #expect(most > 0)
        #expect(most <= 100_000)
        read.release()
        await container.mainTier.waitForLists()
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(senders.lastUpdateReason(dataKey: "list")?.kind == .backlog)
        try await senders.add(ItemData(key: "k0", number: 77), waitFor: .main)
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(delegate.problems == [])
    }

    /// A list of a million rows was read twice then, and a search that is long enough was refused by its budget.
    @Test func aSaveDuringAReadIsMergedIntoTheReadRows() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<20))
        let (root, sender) = (container.stack.root, try #require(container.stack.layout.entity(named: "Sender")))
        _ = store.takeQueries()
        let read = store.holdNextRead()
        let count = Task.detached { try root.rows.rows(RowQuery(entity: sender.index), sender).rows.count }
        for await _ in read.arrived {}
        try senders.performAndWait { try $0.insert(Sender.self).key = "new" }
        read.release()
        #expect(try await count.value == 21)
        #expect(store.takeQueries().count == 1)
    }

    /// Below the bound nothing is read again.
    @Test func fewSavesThatWaitForAListAreMerged() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<20))
        let delegate = try register(senders, "list")
        let read = store.holdNextRead()
        container.mainTier.reloadLists()
        for await _ in read.arrived {}
        for step in 1...5 {
            try senders.performAndWait { context in
                for sender in try context.fetch(Sender.self) { sender.number = Int64(step) }
            }
        }
        container.mainTier.merge()
        #expect(container.mainTier.keptListBytes > 0)
        read.release()
        await container.mainTier.waitForLists()
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(container.mainTier.keptListBytes == 0)
        #expect(delegate.problems == [])
    }
}
