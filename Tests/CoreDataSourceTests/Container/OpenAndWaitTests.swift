import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Opening while a thread waits.
@MainActor
struct OpenAndWaitTests {
    /// The contacts' model with another attribute.
    private func changedModel() throws -> ManagedObjectModel {
        var model = ManagedObjectModel.contacts
        let contact = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        model.entities[contact].attributes.append(
            AttributeDescription(name: "country", type: .string, defaultValue: .string("Shu")))
        return model
    }

    @Test func aStoreIsMadeAndOpenedAgainOnMain() async throws {
        let directory = try TemporaryDirectory()
        let made = try PersistentContainer.openAndWait(name: "Contacts", configuration: .init(directory: directory.url))
        #expect(made.startup.reason == .firstLaunch)
        try await made.dataSource(ContactDataSource.self).add(contactList(0..<3))
        try await made.close()
        let file = directory.url.appending(component: "Contacts.sqlite")
        let again = try PersistentContainer.openAndWait(model: .contacts, store: .sqlite(file))
        #expect(again.startup.reason == .current)
        #expect(try again.main.count(ContactEntity.self) == 3)
        try await again.close()
    }

    @Test func onMainAStoreIsNotMigrated() async throws {
        let directory = try TemporaryDirectory()
        let before = try PersistentContainer.openAndWait(model: .contacts, store: .sqlite(directory.store))
        try await before.dataSource(ContactDataSource.self).add(contactList(0..<3))
        try await before.close()
        let bytes = try Data(contentsOf: directory.store)
        let model = try changedModel()
        let error = expectError(.openingWouldBlock) {
            try PersistentContainer.openAndWait(
                model: model, store: .sqlite(directory.store), configuration: .init(resetPolicy: .migrate))
        }
        #expect(error?.cause == "the model changed: ContactEntity")
        #expect(try Data(contentsOf: directory.store) == bytes)
        // The same call waits on another thread.
        let url = directory.store
        let container = try await Task.detached {
            try PersistentContainer.openAndWait(
                model: model, store: .sqlite(url), configuration: .init(resetPolicy: .migrate))
        }.value
        #expect(container.startup.migration?.rowsCarried == 3)
        try await container.close()
    }

    @Test func onMainAStoreIsReset() async throws {
        let directory = try TemporaryDirectory()
        let before = try PersistentContainer.openAndWait(model: .contacts, store: .sqlite(directory.store))
        try await before.dataSource(ContactDataSource.self).add(contactList(0..<3))
        try await before.close()
        let container = try PersistentContainer.openAndWait(model: try changedModel(), store: .sqlite(directory.store))
        #expect(container.startup.isReset && container.startup.rowsDropped == 3)
        try await container.close()
    }

    /// A custom store may block for as long as it likes when it is opened.
    @Test func onMainACustomStoreIsNotOpened() async throws {
        let opened = Guarded(0)
        let location = StoreLocation.custom("memory") { options in
            opened.withLock { $0 += 1 }
            return (InMemoryStore(options.layout), StoreStartup(reason: .firstLaunch))
        }
        let error = expectError(.openingWouldBlock) {
            try PersistentContainer.openAndWait(model: .contacts, store: location)
        }
        #expect(error?.message.hasPrefix("A custom store cannot be opened while this thread waits") == true)
        #expect(opened.withLock { $0 } == 0)
        let container = try await Task.detached {
            try PersistentContainer.openAndWait(model: .contacts, store: location)
        }.value
        #expect(opened.withLock { $0 } == 1)
        try await container.close()
    }

    #if PostgreSQL
    @Test func aStoreOnAServerIsRefusedWithoutAConnection() {
        expectError(.openingWouldBlock) {
            try PersistentContainer.openAndWait(
                model: .contacts, store: .postgreSQL("host=192.0.2.1 dbname=app", name: "contacts"))
        }
    }
    #endif

    @Test func inAPrivateContextItTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            try await container.dataSource(ContactDataSource.self).perform { _ in
                _ = try PersistentContainer.openAndWait(model: .contacts, store: .inMemory)
            }
        }
        #expect(
            result?.standardErrorString.contains(
                "openAndWait was called inside a private context or container.read, and could wait for itself. Open the container outside of both."
            ) == true)
    }
}
