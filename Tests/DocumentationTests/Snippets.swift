import CoreDataSource
import Foundation
import FrameworkNames
import TestSupport

// What the articles of the documentation share.

nonisolated struct Contact: Sendable, Equatable {
    var uid: String
    var name: String
    var age: Int32 = 0
    var phone: String?
}

final class ContactDataSource: KeyedDataSource<Contact, ContactEntity> {
    nonisolated override class var key: ObjectKey<Contact, ContactEntity> { ObjectKey(\.uid, \.uid) }

    nonisolated override func update(_ entity: ContactEntity, from contact: Contact, in context: PrivateContext) {
        entity.name = contact.name
        entity.age = contact.age
        entity.phone = contact.phone
    }
}

struct Group: Sendable {
    var gid: String
    var name: String
}

final class GroupDataSource: DataSource<Group> {
    nonisolated override class var entities: [ManagedObject.Type] { [GroupEntity.self] }

    nonisolated override func onAdd(_ group: Group, in context: PrivateContext) throws -> ManagedObject? {
        guard !group.name.isEmpty else { return nil }
        let entity = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: group.gid)
        entity.name = group.name
        return entity
    }

    nonisolated override func onDelete(_ group: Group, in context: PrivateContext) throws {
        try context.delete(GroupEntity.self, where: \.gid == group.gid)
    }
}

/// Three contacts in a container of their own, in memory.
@MainActor
func withContacts(_ body: @MainActor (PersistentContainer, ContactDataSource) async throws -> Void) async throws {
    let container = try await PersistentContainer(model: .contacts, store: .inMemory)
    let contacts = try container.dataSource(ContactDataSource.self)
    try await contacts.add([
        Contact(uid: "1", name: "Guan Yu", age: 32, phone: "110"), Contact(uid: "2", name: "Zhang Fei", age: 27),
        Contact(uid: "3", name: "Guan Ping", age: 16),
    ])
    try await body(container, contacts)
    try await container.close()
}

/// The same contacts, of whom the grown ones are in a group.
@MainActor
func withOath(_ body: @MainActor (ContactDataSource, GroupDataSource) async throws -> Void) async throws {
    try await withContacts { container, contacts in
        let groups = try container.dataSource(GroupDataSource.self)
        try await groups.add(Group(gid: "1", name: "Oath"))
        try await contacts.perform { context in
            let brothers = try context.first(GroupEntity.self, where: \.gid, equals: "1")
            for contact in try context.fetch(ContactEntity.self, where: \.age >= 18) { contact.group = brothers }
        }
        try await body(contacts, groups)
    }
}
