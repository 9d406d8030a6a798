import CoreDataSource

struct Contact: Sendable {
    var uid: String
    var name: String
    var gid: String?
}

/// The contacts: the entities that it owns, and a hook each for adding and deleting a value.
final class ContactDataSource: DataSource<Contact> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated override func onAdd(_ contact: Contact, in context: PrivateContext) throws -> ManagedObject? {
        let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
        entity.name = contact.name
        entity.group = try contact.gid.flatMap { try context.first(GroupEntity.self, where: \.gid, equals: $0) }
        return entity
    }

    nonisolated override func onDelete(_ contact: Contact, in context: PrivateContext) throws {
        try context.delete(ContactEntity.self, where: \.uid == contact.uid)
    }
}

extension ContactEntity {
    /// The section of a list that the contact is in.
    var initial: String { String(name.prefix(1)) }
}

struct Group: Sendable {
    var gid: String
    var name: String
}

/// The groups. A value and its object have one key each, so adding, deleting and syncing follow from it.
final class GroupDataSource: KeyedDataSource<Group, GroupEntity> {
    nonisolated override class var key: ObjectKey<Group, GroupEntity> { ObjectKey(\.gid, \.gid) }

    nonisolated override func update(_ entity: GroupEntity, from group: Group) { entity.name = group.name }
}
