import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import Testing

/// The last reference to a container may go anywhere, and the store can be opened again.
@MainActor
struct LastReferenceTests {
    private func open(_ directory: borrowing TemporaryDirectory) async throws -> PersistentContainer {
        try await PersistentContainer(model: .contacts, store: .sqlite(directory.store), databaseKey: "1")
    }

    /// The thread that ended the commit waited for the commit that it was ending.
    @Test(arguments: [1, 30, 300])
    func aContainerIsReleasedInACallback(count: Int) async throws {
        let directory = try TemporaryDirectory()
        for round in 1...3 {
            var container: PersistentContainer? = try await open(directory)
            var contacts = try container?.dataSource(ContactDataSource.self)
            await withCheckedContinuation { continuation in
                let left = Shared(count)
                for contact in contactList(round * 1_000..<round * 1_000 + count) {
                    contacts?.add([contact]) { [container] _ in
                        withExtendedLifetime(container) {}
                        left.update { $0 -= 1 }
                        if left.value == 0 { continuation.resume() }
                    }
                }
                (container, contacts) = (nil, nil)
            }
            // The callbacks may still be held for a moment.
            let next = try await opened(directory)
            #expect(try next.main.count(ContactEntity.self) == round * count)
        }
        try expectIntact(directory.store)
    }

    @Test func aContainerIsReleasedInAHook() async throws {
        let directory = try TemporaryDirectory()
        do {
            let container = Shared<PersistentContainer?>(try await open(directory))
            let contacts = try #require(try container.value?.dataSource(ContactDataSource.self))
            try await contacts.perform { context in
                try context.insert(ContactEntity.self).uid = "1"
                container.value = nil
            }
        }
        #expect(try await opened(directory).main.count(ContactEntity.self) == 1)
    }

    /// Main follows a relationship without its context, through tables of objects that only main may free.
    @Test func aContainerThatIsReleasedOffMainIsEmptiedOnMain() async throws {
        for _ in 0..<30 {
            var container: PersistentContainer? = try await PersistentContainer(model: .graph, store: .inMemory)
            var source = try container?.dataSource(GraphDataSource.self)
            try await source?.perform { try $0.letter("letter").topic = try $0.topic("topic") }
            let letter = try #require(try source?.main.first(Letter.self))
            weak let topic = letter.topic
            #expect(topic?.key == "topic")
            let held = Shared<(PersistentContainer?, GraphDataSource?)>((container, source))
            (container, source) = (nil, nil)
            let release = Task.detached { held.value = (nil, nil) }
            // It is there, or not any more; but it is never half freed.
            for _ in 0..<2_000 {
                let key = letter.topic?.key
                #expect(key == nil || key == "topic")
            }
            await release.value
            var turns = 0
            while topic != nil, turns < 100_000 {
                await Task.yield()
                turns += 1
            }
            #expect(topic == nil)
            #expect(letter.topic == nil)
        }
    }

    @Test func aContainerIsReleasedInTheBodyOfARead() async throws {
        let directory = try TemporaryDirectory()
        var container: PersistentContainer? = try await open(directory)
        let store = try #require(container?.stack.root.store)
        let stack = Shared<(any Sendable)?>(container)
        container = nil
        _ = try store.read(.snapshot) { (reader) throws(DataSourceError) in
            stack.value = nil
            return try reader.count(RowQuery(entity: 0))
        }
        #expect(try await opened(directory).main.count(ContactEntity.self) == 0)
    }

    @Test func aContainerIsReleasedInItsOwnRead() async throws {
        let directory = try TemporaryDirectory()
        do {
            let container = Shared<PersistentContainer?>(try await open(directory))
            let count = try await container.value?.read { context in
                container.value = nil
                return try context.count(ContactEntity.self)
            }
            #expect(count == 0)
        }
        #expect(try await opened(directory).main.count(ContactEntity.self) == 0)
    }

    @Test func anObjectThatOutlivesItsContainerIsReadableAndHasNoContext() async throws {
        let directory = try TemporaryDirectory()
        var container: PersistentContainer? = try await open(directory)
        var contacts = try container?.dataSource(ContactDataSource.self)
        try await contacts?.add(contactList(0..<1))
        let held = try #require(try contacts?.fetch(ContactEntity.self).first)
        #expect(held.context === container?.main)
        (container, contacts) = (nil, nil)
        // Tasks of main may hold it for a moment.
        while held.context != nil { await Task.yield() }
        #expect(held.name == "name 0")
    }

    /// The store is closed once the commit has ended, and who opens it waits for that.
    @Test func theLastReferenceGoesDuringACommit() async throws {
        let directory = try TemporaryDirectory()
        let url = directory.store
        let layout = ModelLayout(.chat)
        let identity = StoreIdentity(modelHash: "1", entityHashes: [:], databaseKey: "")
        var options = SQLiteStore.Options(
            url: url, layout: layout, identity: identity, synchronous: .normal, resetPolicy: .fail)
        let store = FaultyStore(over: try SQLiteStore.open(options))
        let root = RootTier(layout, store: store) {}
        let entity = try #require(layout.entity(named: "Sender"))
        _ = try root.accept(.inserting(1, entity))
        let (arrived, goOn) = (store.commitArrives(), store.holdCommits())
        root.commitSoon()
        for await _ in arrived {}
        // As when the last reference goes.
        root.shutDown()
        options.calls = .system(afterFirstLockOf: url, goOn)
        // On a thread that may wait.
        let next = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [options] in
                continuation.resume(with: Result { try SQLiteStore.open(options) })
            }
        }
        let count = try next.read(.statement) { (reader) throws(DataSourceError) in
            try reader.count(RowQuery(entity: entity.index))
        }
        #expect(count == 1)
        next.close()
        try expectIntact(url)
    }

    @Test func theLastReferenceGoesInADelegatesCall() async throws {
        let directory = try TemporaryDirectory()
        let delegate = DroppingDelegate()
        do {
            let container = try await open(directory)
            delegate.contacts = try container.dataSource(ContactDataSource.self)
            delegate.container = container
            try delegate.contacts?.register(
                delegate, dataKey: "list", ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)]))
        }
        let contacts = try #require(delegate.contacts)
        Task { try await contacts.add(contactList(0..<3)) }
        while delegate.container != nil { await Task.yield() }
        _ = consume contacts
        delegate.contacts = nil
        #expect(try await opened(directory).main.count(ContactEntity.self) == 3)
    }

    @Test func closingWaitsForCallsThatWereMadeBefore() async throws {
        for _ in 0..<20 {
            let (container, _) = PersistentContainer.faulty()
            let senders = try container.dataSource(SenderDataSource.self)
            let isRunning = Shared(false)
            let gate = Gate()
            let first = Task.detached {
                try await senders.perform { _ in
                    isRunning.value = true
                    gate.wait()
                }
            }
            while !isRunning.value { await Task.yield() }
            let queued = Shared<Result<SaveReport, any Error>?>(nil)
            senders.add([ItemData(key: "queued", number: 1)]) { queued.value = $0 }
            let closing = Task { try await container.close() }
            while (try? container.stack.root.admission.enterNow(0)) != nil {
                container.stack.root.admission.leave(0)
                await Task.yield()
            }
            await expectError(.storeClosed) {
                try await senders.add(ItemData(key: "late", number: 1))
            }
            gate.open()
            _ = (try await first.value, try await closing.value)
            while queued.value == nil { await Task.yield() }
            #expect(try queued.value?.get() == SaveReport(inserted: 1))
        }
    }

    /// Opens the store as soon as it is free.
    private func opened(_ directory: borrowing TemporaryDirectory) async throws -> PersistentContainer {
        while true {
            do { return try await open(directory) } catch let error as DataSourceError where error.code == .storeInUse {
                await Task.yield()
            }
        }
    }
}

@MainActor
private final class DroppingDelegate: DataSourceDelegate {
    var container: PersistentContainer?
    var contacts: ContactDataSource?

    func didChangeContent(dataKey: String) { container = nil }
}
