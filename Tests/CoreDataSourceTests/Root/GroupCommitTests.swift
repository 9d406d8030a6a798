import CoreDataSource
import ErrorExpectations
import RowStore
import Testing

@MainActor
struct GroupCommitTests {
    @Test func savesThatWaitAreCommittedTogether() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let release = store.holdCommits()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask { try await senders.add(ItemData(key: "s\(number)", number: 0)) }
                group.addTask { try await rooms.add(ItemData(key: "r\(number)", number: 0)) }
            }
            // One context may commit in place and be held; the other one's saves wait in any case.
            while container.pendingSaveCount < 11 { await Task.yield() }
            release()
            try await group.waitForAll()
        }
        let groups = store.committedGroups
        #expect(groups.flatMap { $0 } == Array(1...20))
        #expect(groups.contains { $0.count >= 5 })
    }

    /// Its caller waits for the large save that is being written when it comes, and not for the one that comes after it.
    @Test func aSmallSaveDoesNotWaitForALargeSaveBehindIt() async throws {
        let (container, store) = PersistentContainer.faulty()
        let root = container.stack.root
        let (release, arrived) = (store.holdCommits(), store.commitArrives())
        try container.acceptSenders(1..<20_001, origin: 101)
        root.commitSoon()
        for await _ in arrived {}
        try container.acceptSenders(20_001..<20_002, origin: 102)
        try container.acceptSenders(30_000..<50_000, origin: 101)
        try container.acceptSenders(50_000..<50_001, origin: 102)
        try container.acceptSenders(50_001..<50_002, origin: 103)
        let written = Shared<[[SaveNumber]]>([])
        root.whenCommitted(2) { _ in written.value = store.committedGroups }
        release()
        try await container.flush()
        #expect(written.value == [[1], [2]])
        #expect(store.committedGroups == [[1], [2], [3], [4, 5]])
    }

    /// The one thing that three-tier stacks are known to hang on: main waits, and a save needs main.
    @Test func aSaveIsDoneWhileMainIsBlocked() throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        _ = try senders.fetch(Sender.self)
        let done = Gate()
        let counted = Shared(0)
        Task.detached {
            defer { done.open() }
            try await senders.add((0..<100).map { ItemData(key: "\($0)", number: $0) })
            counted.value = try await senders.perform { try $0.count(Sender.self) }
        }
        done.wait()
        #expect(counted.value == 100)
        #expect(try senders.fetch(Sender.self).count == 100)
    }

    /// D3: the ancestor wrote to the disk on the main thread.
    @Test func mainNeverWritesToTheDisk() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        for number in Int64(0)..<20 {
            try await senders.add(ItemData(key: "\(number)", number: number))
            try await senders.add(ItemData(key: "\(number)", number: -number), waitFor: .main)
        }
        try await container.flush()
        #expect(!store.wasCommittedOnMainThread)
    }

    /// D4: the ancestor called back when the rows had reached the memory of main, and knew no errors.
    @Test func aCallbackComesAfterTheCommitAndGetsErrors() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let committed = await withCheckedContinuation { continuation in
            senders.add([ItemData(key: "a", number: 1)]) { _ in
                continuation.resume(returning: store.committedGroups.count)
            }
        }
        #expect(committed == 1)
        store.fail(with: noRoom)
        let outcome: Result<SaveReport, any Error> = await withCheckedContinuation { continuation in
            senders.add([ItemData(key: "b", number: 1)]) { continuation.resume(returning: $0) }
        }
        expectError(.diskFull) { try outcome.get() }
    }

    @Test func aBlockingWriteWorksOnTheMainThread() throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let key = try senders.performAndWait { context in
            let sender = try context.insert(Sender.self)
            sender.key = "a"
            return sender.objectID
        }
        #expect(try container.main.object(Sender.self, id: key)?.key == "a")
        #expect(container.pendingSaveCount == 0)
    }

    @Test func callbacksComeInTheOrderOfTheirCalls() async throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let (order, continuation) = AsyncStream.makeStream(of: Int64.self)
        for number in Int64(0)..<50 {
            senders.add([ItemData(key: "only", number: number)]) { result in
                if case .success = result { continuation.yield(number) }
                if number == 49 { continuation.finish() }
            }
        }
        var called: [Int64] = []
        for await number in order { called.append(number) }
        #expect(called == Array(0..<50))
        #expect(try senders.fetch(Sender.self).map(\.number) == [49])
    }
}
