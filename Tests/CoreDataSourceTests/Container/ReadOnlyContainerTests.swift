import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// A container that only reads.
@MainActor
struct ReadOnlyContainerTests {
    @Test func aSaveIsRefusedAndLeavesNothing() async throws {
        let directory = try TemporaryDirectory()
        var container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        try await container.close()

        var configuration = PersistentContainer.Configuration()
        configuration.isReadOnly = true
        container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        #expect(try contacts.fetch(ContactEntity.self).count == 5)
        let changes: [@MainActor () async throws -> Void] = [
            { try await contacts.add(contactList(4..<6, name: { "new \($0)" })) },
            { try await contacts.add(contactList(5..<6), waitFor: .main) },
            { try await contacts.delete(contactList(0..<1)) },
            { _ = try await container.reset() },
        ]
        for change in changes {
            await expectError(.storeReadOnly) { try await change() }
            #expect(try container.main.count(ContactEntity.self) == 5)
            #expect(container.pendingSaveCount == 0)
        }
        // Nothing to save is no save.
        try await contacts.add(contactList(0..<5))
        try await container.flush()
        try await container.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() == [
                "store.sqlite", "store.sqlite.lock",
            ])
        try expectIntact(directory.store)
    }
}
