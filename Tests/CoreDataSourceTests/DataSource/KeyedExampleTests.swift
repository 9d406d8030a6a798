import CoreDataSource
import Testing

/// The keyed data source of the articles.
@MainActor struct KeyedExampleTests {
    struct Contact: Sendable {
        var uid: String
        var name: String
    }

    final class ContactDataSource: KeyedDataSource<Contact, ContactEntity> {
        nonisolated override class var key: ObjectKey<Contact, ContactEntity> { ObjectKey(\.uid, \.uid) }

        nonisolated override func update(_ entity: ContactEntity, from contact: Contact, in context: PrivateContext) {
            entity.name = contact.name
        }
    }

    @Test func valuesAreAddedByTheirKey() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "1", name: "Guan Yunchang")])
        #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["Guan Yunchang"])
        try await contacts.delete(Contact(uid: "1", name: ""))
        #expect(try contacts.count(ContactEntity.self) == 0)
    }
}
