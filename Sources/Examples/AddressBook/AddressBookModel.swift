import CoreDataSource

// The model is written in Swift, so it needs no plugin. In the sample package-catalog, the plugin generates the model from a
// bundle.

@StoredEntity final class ContactEntity: ManagedObject {
    @Stored(unique: true) var uid: String
    var name: String = ""
    @Related(inverse: "members") var group: GroupEntity?

    /// The name of the contact's section in a list.
    var initial: String { String(name.prefix(1)) }
}

@StoredEntity final class GroupEntity: ManagedObject {
    @Stored(unique: true) var gid: String
    var name: String = ""
    @Related var members: RelatedObjects<ContactEntity>
}

extension ManagedObjectModel {
    static let addressBook = ManagedObjectModel("AddressBook") {
        ContactEntity.self
        GroupEntity.self
    }
}
