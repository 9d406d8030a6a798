import CoreDataSource

struct Contact: Sendable {
    var uid: String
    var name: String
    var gid: String?
}

/// The data source of contacts. One hook adds a value, and another hook deletes a value.
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

struct Group: Sendable {
    var gid: String
    var name: String
}

/// The data source of groups. A value and its object have the same key, so the data source needs no hooks for adding, deleting
/// and syncing.
final class GroupDataSource: KeyedDataSource<Group, GroupEntity> {
    nonisolated override class var key: ObjectKey<Group, GroupEntity> { ObjectKey(\.gid, \.gid) }

    nonisolated override func update(_ entity: GroupEntity, from group: Group, in context: PrivateContext) {
        entity.name = group.name
    }
}
