import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Foundation
import Testing

/// The class to subclass, as in Skopelos and NSPersistentContainer.
@MainActor
struct PersistenceServiceTests {
    /// An app's own service, which counts what it is told.
    private final class Persistence: PersistenceService {
        private(set) var failures: [StoreFailure.Kind] = []

        override func handleError(_ failure: StoreFailure) { failures.append(failure.kind) }
    }

    /// A service whose stores are in a folder of the test.
    private final class ServiceInTestFolder: PersistenceService {
        static let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)

        override class var defaultDirectory: URL { directory }
    }

    @Test func aServiceIsLoadedOnceAndWritesAndReadsInAChain() async throws {
        let service = Persistence(name: "Contacts", store: .inMemory)
        #expect(!service.isLoaded)
        try service.loadAndWait()
        let container = service.container
        try await service.load()
        #expect(service.container === container)
        let contacts = try service.dataSource(ContactDataSource.self)
        var counts: [Int] = []
        try service
            .writeSync(in: contacts) { try ContactEntity.create(in: $0).uid = "1" }
            .readSync { counts.append(try ContactEntity.count(in: $0)) }
        #expect(counts == [1])
        #expect(try await service.read { try $0.count(ContactEntity.self) } == 1)
        try await service.close()
        #expect(!service.isLoaded)
    }

    @Test func callsThatLoadAtTheSameTimeOpenOneContainer() async throws {
        let service = Persistence(name: "Contacts", store: .inMemory)
        async let first: Void = service.load()
        async let second: Void = service.load()
        _ = try await (first, second)
        let container = service.container
        try await service.load()
        #expect(service.container === container)
        try await service.close()
    }

    @Test func callsThatLoadAtTheSameTimeFailAlikeAndTheNextOneTriesAgain() async throws {
        let directory = try TemporaryDirectory()
        try Data("no database, but long enough to be one".utf8).write(to: directory.store)
        let service = Persistence(name: "Contacts", store: .sqlite(directory.store))
        func load() async -> DataSourceError.Code? {
            do { try await service.load() } catch { return (error as? DataSourceError)?.code }
            return nil
        }
        async let first = load()
        async let second = load()
        #expect(await [first, second] == [.notADatabase, .notADatabase])
        #expect(!service.isLoaded)
        try FileManager.default.removeItem(at: directory.store)
        #expect(await load() == nil)
        #expect(service.isLoaded)
        try await service.close()
    }

    @Test func aSecondCallOfCloseReturnsWhenTheStoreIsClosed() async throws {
        let directory = try TemporaryDirectory()
        let service = Persistence(name: "Contacts", store: .sqlite(directory.store))
        try await service.load()
        let contacts = try service.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<2_000), waitFor: .main)
        let (hasBegun, reading) = (Gate(), Gate())
        let read = Task {
            try await service.read { _ in
                hasBegun.open()
                reading.wait()
            }
        }
        await hasBegun.opened()
        let closing = Shared(2)
        let closes = (0..<2).map { _ in
            Task {
                try await service.close()
                closing.update { $0 -= 1 }
            }
        }
        for _ in 0..<100 { await Task.yield() }
        // A read is under way, so that neither call has returned.
        #expect(closing.value == 2)
        reading.open()
        try await read.value
        for close in closes { try await close.value }
        try await service.load()
        #expect(try service.dataSource(ContactDataSource.self).count(ContactEntity.self) == 2_000)
        try await service.close()
    }

    @Test func aServiceIsLoadedBehindACloseThatIsUnderWay() async throws {
        let directory = try TemporaryDirectory()
        let service = Persistence(name: "Contacts", store: .sqlite(directory.store))
        try await service.load()
        async let closing: Void = service.close()
        async let loading: Void = service.load()
        _ = try await (closing, loading)
        try await service.load()
        #expect(try service.dataSource(ContactDataSource.self).count(ContactEntity.self) == 0)
        try await service.close()
    }

    @Test func aServiceThatIsClosedWhileItIsLoadedIsClosed() async throws {
        let directory = try TemporaryDirectory()
        let service = Persistence(name: "Contacts", store: .sqlite(directory.store))
        var hasBegun = false
        let loading = Task {
            hasBegun = true
            try await service.load()
        }
        while !hasBegun { await Task.yield() }
        try await service.close()
        try await loading.value
        #expect(!service.isLoaded)
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        try await container.close()
    }

    @Test func eachStoreGetsTheWritesOfItsDataSources() async throws {
        let service = Persistence(name: "Stores", model: .chat)
        service.descriptions = [
            StoreDescription(name: "first", location: .inMemory), StoreDescription(name: "second", location: .inMemory),
        ]
        try service.loadAndWait()
        let second = try #require(service.container(named: "second"))
        try service.writeSync(in: try second.dataSource(SenderDataSource.self)) { try Sender.create(in: $0).key = "a" }
        #expect(try second.main.count(Sender.self) == 1)
        #expect(try service.main.count(Sender.self) == 0)
        try await service.close()
    }

    @Test func aDataSourceOfAnotherContainerTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            let service = PersistenceService(name: "Contacts", model: .contacts, store: .inMemory)
            try service.loadAndWait()
            let other = try PersistentContainer.openAndWait(model: .contacts, store: .inMemory)
            try service.writeSync(in: try other.dataSource(ContactDataSource.self)) { _ in }
        }
        #expect(
            result?.standardErrorString.contains(
                "A ContactDataSource of another container was passed to writeSync(in:).")
                == true)
    }

    @Test(arguments: [true, false])
    func aServiceWithoutADescriptionTraps(blocks: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [blocks = blocks as Bool] in
            let service = await PersistenceService(name: "Contacts", model: .contacts)
            await MainActor.run { service.descriptions = [] }
            if blocks { try await MainActor.run { try service.loadAndWait() } } else { try await service.load() }
        }
        #expect(
            result?.standardErrorString.contains(
                "PersistenceService was loaded without a description, so there is no store to open.") == true)
    }

    @Test func aFailedWriteWithoutACallbackIsHandled() async throws {
        let service = Persistence(name: "Contacts", store: .inMemory)
        try await service.load()
        let contacts = try service.dataSource(ContactDataSource.self)
        service.writeAsync(in: contacts) { _ in throw Poison() }
        while service.failures.isEmpty { await Task.yield() }
        #expect(service.failures == [.writeFailed])
        try await service.close()
    }

    @Test func theDirectoryIsThatOfTheClass() async throws {
        defer { try? FileManager.default.removeItem(at: ServiceInTestFolder.directory) }
        let service = ServiceInTestFolder(name: "Contacts")
        try await service.load()
        let file = ServiceInTestFolder.directory.appending(component: "Contacts.sqlite")
        #expect(FileManager.default.fileExists(atPath: file.path))
        try await service.close()
    }

    @Test func ifOneStoreCannotBeOpenedNoneIs() async throws {
        let directory = try TemporaryDirectory()
        try Data("no database, but long enough to be one".utf8).write(to: directory.store)
        let first = directory.url.appending(component: "first.sqlite")
        for blocks in [false, true] {
            let service = Persistence(name: "Contacts")
            service.descriptions = [
                StoreDescription(name: "first", location: .sqlite(first)),
                StoreDescription(name: "second", location: .sqlite(directory.store)),
            ]
            await expectError(.notADatabase) {
                if blocks { try service.loadAndWait() } else { try await service.load() }
            }
            #expect(!service.isLoaded)
            // Nobody has the first one open any more.
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(first))
            try await container.close()
        }
    }

    @Test func aServiceThatIsReleasedClosesItsStore() async throws {
        let directory = try TemporaryDirectory()
        weak var released: Persistence?
        do {
            let service = Persistence(name: "Contacts", store: .sqlite(directory.store))
            try service.loadAndWait()
            released = service
        }
        #expect(released == nil)
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        try await container.close()
    }

    @Test func beforeLoadingTheContainerTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            _ = PersistenceService(name: "Contacts").container
        }
        #expect(
            result?.standardErrorString.contains(
                "PersistenceService.container was used before the service was loaded. Call load() or loadAndWait() when the app starts, and handle the thrown error."
            ) == true)
    }

    @Test func aReadingFunctionTakesBothKindsOfContainers() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
        #expect(try await count(container) == 2)
        try await container.close()
        let archive = try await ReadOnlyContainer(model: .contacts, store: .sqlite(directory.store))
        #expect(try await count(archive) == 2)
        var shown = 0
        try archive.readSync { shown = try ContactEntity.count(in: $0) }
        #expect(shown == 2)
        try await archive.close()
    }

    private func count(_ contacts: some PersistenceReading) async throws -> Int {
        try await contacts.read { try $0.count(ContactEntity.self) }
    }

    @Test(arguments: [false, true])
    func aWriteThatBlocksCallsBackBeforeItReturns(fails: Bool) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            var outcomes: [Bool] = []
            contacts.writeSync { context in
                try context.insert(ContactEntity.self).uid = "a"
                if fails { throw Poison() }
            } completion: { outcome in
                if case .success = outcome { outcomes.append(true) } else { outcomes.append(false) }
            }
            #expect(outcomes == [!fails])
            #expect(try contacts.count(ContactEntity.self) == (fails ? 0 : 1))
        }
    }
}
