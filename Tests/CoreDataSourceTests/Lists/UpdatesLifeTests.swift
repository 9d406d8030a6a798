import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Neither a loop over the updates of a list nor a list that is observed keeps the container or its store.
@MainActor
struct UpdatesLifeTests {
    private func open(_ directory: borrowing TemporaryDirectory) async throws -> PersistentContainer {
        try await PersistentContainer(model: .contacts, store: .sqlite(directory.store), databaseKey: "1")
    }

    /// Opens the store as soon as it is free.
    private func opened(_ directory: borrowing TemporaryDirectory) async throws -> PersistentContainer {
        while true {
            do { return try await open(directory) } catch let error as DataSourceError where error.code == .storeInUse {
                await Task.yield()
            }
        }
    }

    @Test(arguments: [ListBuffering.latest, .every()])
    func aLoopEndsWhenContainerAndDataSourcesAreGone(buffering: ListBuffering) async throws {
        let directory = try TemporaryDirectory()
        let started = Shared(0)
        let loops: [Task<Int, Never>]
        do {
            let container = try await open(directory)
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            // Two loops of one query, and one of another.
            let requests: [ObjectRequest<ContactEntity>] = [
                ObjectRequest(), ObjectRequest(), ObjectRequest(where: \.name == "name 1"),
            ]
            loops = requests.map { request in
                let updates = contacts.updates(request, buffering: buffering)
                return Task {
                    var last = 0
                    for await update in updates {
                        last = update.snapshot.count
                        started.update { $0 += 1 }
                    }
                    return last
                }
            }
            while started.value < loops.count { await Task.yield() }
            try await contacts.add(contactList(3..<5))
        }
        var counts: [Int] = []
        for loop in loops { counts.append(await loop.value) }
        // Whether the loops took the last save before they ended is a matter of order.
        #expect([[3, 3, 1], [5, 5, 1], [3, 5, 1], [5, 3, 1]].contains(counts))
        #expect(try await opened(directory).main.count(ContactEntity.self) == 5)
    }

    @Test(arguments: [false, true]) func anObservedListEndsWhenContainerAndDataSourcesAreGone(isPaused: Bool)
        async throws
    {
        let directory = try TemporaryDirectory()
        let list: LiveList<ContactEntity>
        do {
            let container = try await open(directory)
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            list = try contacts.list(ObjectRequest(order: [.ascending(\ContactEntity.name)], limit: 4))
            list.isPaused = isPaused
            try await contacts.add(contactList(3..<5), waitFor: .main)
            #expect(list.object(0)?.name == "name 0")
        }
        #expect(try await opened(directory).main.count(ContactEntity.self) == 5)
        while list.lastUpdateReason.kind != .closed { await Task.yield() }
        #expect(list.count == (isPaused ? 3 : 4))
        list.isPaused = false
        #expect(list.snapshot.map(\.name) == ["name 0", "name 1", "name 2", "name 3"])
        #expect(list.object(0) == nil)
        expectError(.storeClosed) { try list.moveWindow(after: nil) }
    }

    /// What it reads ahead is read by main, which it does not keep.
    @Test func anObservedListThatPrefetchesEndsToo() async throws {
        let directory = try TemporaryDirectory()
        let list: LiveList<Letter>
        weak var main: MainTier?
        do {
            let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { try $0.letter("l").topic = try $0.topic("t") }
            var request = ObjectRequest(Letter.self)
            request.prefetch = [\.topic]
            list = try source.list(request)
            #expect(list.object(0)?.topic?.key == "t")
            main = container.mainTier
        }
        // Tasks of main may hold it for a moment.
        while main != nil { await Task.yield() }
        #expect(list.count == 1 && list.object(0) == nil)
    }

    @Test func aSequenceThatIsKeptEndsAtOnceWhenTheContainerIsGone() async throws {
        let directory = try TemporaryDirectory()
        let updates: ListUpdates<ContactEntity>
        var iterator: ListUpdates<ContactEntity>.Iterator
        do {
            let container = try await open(directory)
            updates = try container.dataSource(ContactDataSource.self).updates(ObjectRequest())
            iterator = updates.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
        _ = try await opened(directory)
        #expect(await iterator.next() == nil)
        for await _ in updates { Issue.record("There is nothing to follow.") }
    }

    /// Snapshots are values.
    @Test func aSnapshotOutlivesTheContainer() async throws {
        let directory = try TemporaryDirectory()
        let snapshot: ListSnapshot<ContactEntity>
        do {
            let container = try await open(directory)
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            var iterator = contacts.updates(ObjectRequest(order: [.ascending(\ContactEntity.name)])).makeAsyncIterator()
            snapshot = try #require(await iterator.next()).snapshot
        }
        _ = try await opened(directory)
        #expect(snapshot.map(\.name) == ["name 0", "name 1", "name 2"])
    }
}
