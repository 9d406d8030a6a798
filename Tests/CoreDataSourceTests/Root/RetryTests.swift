import CoreDataSource
import ErrorExpectations
import RowStore
import Testing

/// Saves that were promised to main only.
@MainActor
struct RetryTests {
    private let item = ItemData(key: "a", number: 1)

    /// It stayed pending for ever while nothing else was saved.
    @Test func aSaveThatNobodyAwaitsIsTriedAgain() async throws {
        let (container, store, timers) = PersistentContainer.timed()
        let senders = try container.dataSource(SenderDataSource.self)
        var failures = container.failures.makeAsyncIterator()
        store.failOnce(with: DataSourceError(.storeBusy, "Locked."))
        try await senders.add(item, waitFor: .main)
        let failure = await failures.next()
        #expect(failure?.kind == .saveDelayed)
        #expect(failure?.error.code == .storeBusy)
        #expect(failure?.dataSourceName == "SenderDataSource")
        while timers.delays.isEmpty { await Task.yield() }
        timers.fire()
        while container.pendingSaveCount > 0 { await Task.yield() }
        #expect(store.committedGroups == [[1]])
    }

    @Test func pausesGrowWhileTheDiskFails() async throws {
        let (container, store, timers) = PersistentContainer.timed()
        let senders = try container.dataSource(SenderDataSource.self)
        store.fail(with: noRoom)
        try await senders.add(item, waitFor: .main)
        var delays: [Duration] = []
        for _ in 0..<12 {
            while timers.delays.isEmpty { await Task.yield() }
            delays += timers.delays
            timers.fire()
        }
        #expect(delays.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(delays.last == .seconds(30))
        #expect(container.pendingSaveCount == 1)
        #expect(try senders.count(Sender.self) == 1)
    }

    @Test func aDataSourceIsNotifiedOnceOfEachSave() async throws {
        let (container, store, timers) = PersistentContainer.timed()
        let senders = try container.dataSource(ListeningDataSource.self)
        store.fail(with: noRoom)
        try await senders.add(item, waitFor: .main)
        for _ in 0..<3 {
            while timers.delays.isEmpty { await Task.yield() }
            timers.fire()
        }
        try await senders.add(ItemData(key: "b", number: 2), waitFor: .main)
        while senders.failures.value.count < 2 { await Task.yield() }
        #expect(senders.failures.value.map(\.kind) == [.saveDelayed, .saveDelayed])
    }

    /// Of two saves one awaited and refused, the one before it stays, and the one after it goes.
    @Test func savesThatDependOnARefusedOneAreReported() async throws {
        let (container, store, _) = PersistentContainer.timed()
        let senders = try container.dataSource(ListeningDataSource.self)
        let root = container.stack.root
        let source = SaveSource("Other", origin: 77)
        var failures = container.failures.makeAsyncIterator()
        store.fail(with: noRoom)
        _ = try root.accept(ChangeSet(entities: []), from: source, isAwaited: false)
        let awaited = try root.accept(ChangeSet(entities: []), from: source)
        _ = try root.accept(ChangeSet(entities: []), from: source, isAwaited: false)
        root.commitSoon()
        await expectError(.diskFull) { try await root.committed(awaited) }
        let reported = [await failures.next(), await failures.next()]
        #expect(reported.map { $0?.kind } == [.saveRefused, .saveDelayed])
        #expect(reported.first??.error.code == .saveRolledBack)
        let failure = "saveDelayed of Other (the container tries the save again): diskFull: "
        #expect(reported.last??.description.hasPrefix(failure) == true)
        #expect(container.pendingSaveCount == 1)
        withExtendedLifetime(senders) {}
    }
}

/// A data source that keeps its failures.
final class ListeningDataSource: ItemDataSource<Sender> {
    let failures = Shared<[StoreFailure]>([])

    override func handleError(_ failure: StoreFailure) {
        failures.update { $0.append(failure) }
    }
}
