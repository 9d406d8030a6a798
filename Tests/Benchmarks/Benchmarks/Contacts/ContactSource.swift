internal import CoreDataSource

/// The data source that an app would write: found by uid, all eight attributes set.
final class ContactSource: DataSource<ContactValue> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ value: ContactValue, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: value.uid)
        contact.name = value.name
        contact.note = value.note
        contact.phone = value.phone
        contact.age = value.age
        contact.score = value.score
        contact.birthday = value.birthday
        contact.isFavorite = value.isFavorite
        return contact
    }
}
