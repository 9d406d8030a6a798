import CoreDataSource
import Foundation
import Synchronization
import Testing

/// A store that lives through a change of its app's model.
@MainActor
struct ContainerMigrationTests {
    private func open(
        _ url: URL, _ model: ManagedObjectModel, progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: model, store: .sqlite(url),
            configuration: .init(resetPolicy: .migrate, migrationProgress: progress))
    }

    /// The contacts' model with a change of its contacts.
    private func changed(_ change: (inout EntityDescription) -> Void) throws -> ManagedObjectModel {
        var model = ManagedObjectModel.contacts
        let contact = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        change(&model.entities[contact])
        return model
    }

    @Test func objectsStayWhenTheModelChanges() async throws {
        let directory = try TemporaryDirectory()
        let before = try await open(directory.store, .contacts)
        try await before.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await before.close()
        let model = try changed {
            $0.attributes.append(
                AttributeDescription(name: "country", type: .string, defaultValue: .string("Shu")))
        }
        let rows = Atomic(0)
        let container = try await open(directory.store, model) { rows.store($0.completedRowCount, ordering: .relaxed) }
        #expect(container.startup.reason == .modelChanged(entities: ["ContactEntity"]))
        #expect(container.startup.migration?.rowsCarried == 5)
        #expect(container.startup.migration?.changes == ["ContactEntity.country: added (String, required)"])
        #expect(!container.startup.isReset && container.startup.rowsDropped == 0)
        #expect(rows.load(ordering: .relaxed) == 5)
        let contacts = try container.dataSource(ContactDataSource.self)
        let found = try contacts.fetch(ContactEntity.self, order: [SortDescriptor(\.uid)])
        #expect(found.map(\.uid) == contactList(0..<5).map(\.uid))
        #expect(found.map(\.phone) == contactList(0..<5).map(\.phone))
        // They are found by their keys, and new ones get other keys.
        let report = try await contacts.add(contactList(3..<8))
        #expect(report.inserted == 3)
        #expect(try contacts.count(ContactEntity.self) == 8)
        try await container.close()
        #expect(try await open(directory.store, model).startup.reason == .current)
        try expectIntact(directory.store)
    }

    @Test func aStoreThatCannotBeMigratedIsResetAndSaysWhy() async throws {
        let directory = try TemporaryDirectory()
        let before = try await open(directory.store, .contacts)
        try await before.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await before.close()
        let model = try changed {
            guard let name = $0.attributes.firstIndex(where: { $0.name == "name" }) else { return }
            $0.attributes[name].type = .binary
        }
        let container = try await open(directory.store, model)
        #expect(container.startup.rowsDropped == 5 && container.startup.isReset)
        #expect(container.startup.backup != nil)
        #expect(container.startup.fallback?.hasPrefix("ContactEntity.name: String -> Binary cannot be") == true)
    }
}
