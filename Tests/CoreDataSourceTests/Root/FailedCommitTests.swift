import CoreDataSource
import RowStore
import Testing

/// What happens when the disk refuses a save that the tiers above have accepted.
@MainActor
struct FailedCommitTests {
    private let item = ItemData(key: "a", number: 1)

    @Test func theCallerHearsWhatTheDiskSaid() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        let error = await #expect(throws: DataSourceError.self) { try await senders.add(item) }
        #expect(error?.code == .diskFull)
    }

    @Test func theChangesStayVisibleAndPending() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        _ = try? await senders.add(item)
        #expect(container.pendingSaveCount == 1)
        #expect(try senders.first(Sender.self, where: \.key, equals: "a")?.number == 1)
    }

    @Test func theNextSaveWritesThemToo() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        _ = try? await senders.add(item)
        store.fail(with: nil)
        try await senders.add(ItemData(key: "b", number: 2))
        #expect(store.committedGroups == [[1, 2]])
        #expect(container.pendingSaveCount == 0)
    }

    @Test func flushWritesThem() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        _ = try? await senders.add(item)
        await #expect(throws: DataSourceError.self) { try await container.flush() }
        store.fail(with: nil)
        try await container.flush()
        #expect(container.pendingSaveCount == 0)
        #expect(store.committedGroups == [[1]])
    }

    /// It was told of a commit that had begun before there was room again.
    @Test func aFlushIsNotToldOfACommitThatBeganBeforeIt() async throws {
        let (container, store) = PersistentContainer.faulty()
        let goOn = store.holdCommits()
        store.failOnce(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(item, waitFor: .main)
        async let flushed: Void = container.flush()
        for _ in 0..<100 { await Task.yield() }
        goOn()
        try await flushed
        #expect(store.committedGroups == [[1]])
    }

    @Test func flushOfNothingReturns() async throws {
        let (container, _) = PersistentContainer.faulty()
        try await container.flush()
        try container.flushAndWait()
    }

    @Test func discardingTakesThemOutOfAllContexts() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add([item, ItemData(key: "b", number: 2)])
        let shown = try #require(try senders.first(Sender.self, where: \.key, equals: "b"))
        store.fail(with: noRoom)
        _ = try? await senders.add([ItemData(key: "b", number: 3), ItemData(key: "c", number: 4)])
        #expect(try await container.discardPending() == 1)
        #expect(shown.number == 2)
        #expect(try senders.count(Sender.self) == 2)
        store.fail(with: nil)
        let report = try await senders.add([ItemData(key: "b", number: 3), ItemData(key: "c", number: 4)])
        #expect(report == SaveReport(inserted: 1, updated: 1))
        #expect(try senders.fetch(Sender.self).map(\.number) == [1, 3, 4])
    }

    @Test func aBlockedCallerHearsItToo() throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        let error = #expect(throws: DataSourceError.self) {
            try senders.performAndWait { try $0.insert(Sender.self).key = "a" }
        }
        #expect(error?.code == .diskFull)
    }

    @Test func aSaveThatOnlyWaitsForMainDoesNotFail() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(item, waitFor: .main)
        #expect(try senders.count(Sender.self) == 1)
        await #expect(throws: DataSourceError.self) { try await container.flush() }
    }

    /// Its number is below those of later saves that are in the store, but it is not.
    @Test func aSaveThatWasDiscardedIsNeverSaidToBeInTheStore() async throws {
        let (container, _) = PersistentContainer.faulty()
        let root = container.stack.root
        for (end, code) in [
            ({ _ = await root.discardPending() }, DataSourceError.Code.pendingDiscarded),
            ({ _ = try await root.reset() }, .storeReset),
        ] as [(() async throws -> Void, DataSourceError.Code)] {
            let number = try root.accept(ChangeSet(entities: []), generation: root.generation)
            try await end()
            let error = await #expect(throws: DataSourceError.self) { try await root.committed(number) }
            #expect(error?.code == code)
            #expect(throws: DataSourceError.self) { try root.commitInPlace(number) }
            try await container.flush()
        }
    }
}
