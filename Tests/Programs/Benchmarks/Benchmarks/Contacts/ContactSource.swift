internal import CoreDataSource

/// The data source that an app would write: found by uid, all eight attributes set.
final class ContactSource: DataSource<ContactValue> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated override func onAdd(_ value: ContactValue, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: value.uid)
        contact.take(value)
        return contact
    }
}

/// The same with the contact's group.
final class MemberSource: DataSource<ContactValue> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self, GroupEntity.self] }

    nonisolated static let groupCount = 1000

    nonisolated override func onAdd(_ value: ContactValue, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: value.uid)
        contact.take(value)
        let number = (Int(value.uid.dropFirst(4)) ?? 0) % MemberSource.groupCount
        contact.group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: "group-\(number)")
        return contact
    }
}

/// Groups by their identifiers, beside a source of contacts.
final class GroupSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [GroupEntity.self] }

    nonisolated override func onAdd(_ value: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.findOrInsert(GroupEntity.self, where: \.gid, equals: value)
    }
}

extension ContactEntity {
    fileprivate func take(_ value: ContactValue) {
        name = value.name
        note = value.note
        phone = value.phone
        age = value.age
        score = value.score
        birthday = value.birthday
        isFavorite = value.isFavorite
    }
}
