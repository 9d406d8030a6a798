import CoreDataSource
import Foundation

struct ContactData: Sendable, Equatable {
    var uid: String
    var name: String
    var phone: String?
}

/// The data source of the README.
final class ContactDataSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
        guard let data = object as? ContactData else { return nil }
        if data.name == "poison" { throw Poison() }
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: data.uid)
        contact.name = data.name
        contact.phone = data.phone
        return contact
    }

    override func onDelete(_ object: any Sendable, in context: PrivateContext) throws {
        guard let data = object as? ContactData else { return }
        if let contact = try context.first(ContactEntity.self, where: \.uid, equals: data.uid) {
            context.delete(contact)
        }
    }
}

/// A value that is made from a contact.
struct ContactValue: ManagedObjectConvertible, Equatable {
    var uid: String
    var name: String

    init(_ contact: ContactEntity) throws {
        if contact.name == "poison" { throw Poison() }
        uid = contact.uid
        name = contact.name
    }
}

/// A data source without hooks.
final class PlainDataSource<each Entity: ManagedObject>: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] {
        var entities: [ManagedObject.Type] = []
        for entity in repeat (each Entity).self { entities.append(entity) }
        return entities
    }
}

/// What a hook throws.
struct Poison: Error {}

struct GroupData: Sendable {
    var gid: String
    var name: String
}

final class GroupDataSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [GroupEntity.self] }

    override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
        guard let data = object as? GroupData else { return nil }
        let group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: data.gid)
        group.name = data.name
        return group
    }
}

func contactList(_ range: Range<Int>, name: (Int) -> String = { "name \($0)" }) -> [ContactData] {
    range.map { ContactData(uid: "uid-\($0)", name: name($0), phone: $0 % 2 == 0 ? "\($0)" : nil) }
}

extension PersistentContainer.Configuration {
    /// Nothing stays registered between saves.
    static let uncached = Self(registeredObjectByteLimit: 0)
}
