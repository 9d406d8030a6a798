import CoreDataSource
import CoreDataSourceActiveRecord
import Foundation
import FrameworkNames
import TestSupport
import Testing

@MainActor func report(on contacts: some PersistenceReading) throws {
    try contacts.readSync { main in print(try ContactEntity.count(in: main)) }
}

@MainActor func add(_ uid: String, to store: some PersistenceWriting, _ contacts: ContactDataSource) throws {
    try store.writeSync(in: contacts) { context in try ContactEntity.create(in: context).uid = uid }
}

/// The examples in the comments on reading and writing as in Skopelos.
@MainActor
struct SkopelosSnippets {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "contacts.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Compiled, and not run: the service opens a store in the directory of the user.
    private func useSharedService(_ contacts: ContactDataSource) throws {
        final class Persistence: PersistenceService {
            static let shared = Persistence(name: "Contacts")

            override func handleError(_ failure: StoreFailure) { print(failure) }
        }

        try Persistence.shared.loadAndWait()
        try Persistence.shared
            .writeSync(in: contacts) { context in try ContactEntity.create(in: context).uid = "1" }
            .readSync { main in print(try ContactEntity.count(in: main)) }
    }

    @Test func aServiceIsLoadedAndClosed() async throws {
        let service = PersistenceService(name: "contacts", model: .contacts, store: .inMemory)
        try await service.load()
        try service.loadAndWait()
        let contacts = try service.dataSource(ContactDataSource.self)
        service.writeAsync(in: contacts) { context in
            try ContactEntity.removeAll(in: context)
        } callback: { outcome in
            if case .failure(let error) = outcome { print(error) }
        }
        try add("1", to: service, contacts)
        try report(on: service)
        let cache = service.container(named: "cache")
        #expect(cache == nil)
        #expect(try contacts.count(ContactEntity.self) == 1)
        try await service.close()
    }

    @Test func aServiceIsDescribedByAName() {
        let service = PersistenceService(name: "Contacts")
        #expect(!service.isLoaded)
    }

    @Test func aContainerReadsAndWrites() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        try container.writeSync(in: contacts) { context in try ContactEntity.create(in: context).uid = "1" }
        try container.readSync { main in print(try ContactEntity.count(in: main)) }
        let count = try await container.read { context in try ContactEntity.count(in: context) }
        #expect(count == 1)
        try await container.close()
    }

    @Test func anArchiveIsRead() async throws {
        try await PersistentContainer(model: .contacts, store: .sqlite(url)).close()
        let archive = try await ReadOnlyContainer(model: .contacts, store: .sqlite(url))
        let names = try await archive.read { context in try context.values(ObjectRequest<ContactEntity>(), \.name) }
        #expect(names.isEmpty)
        try await archive.close()
    }
}
