import CoreDataSource
import Foundation

struct Contact: Sendable {
    var uid: String
    var name: String
}

final class ContactDataSource: DataSource<Contact> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated override func onAdd(_ contact: Contact, in context: PrivateContext) throws -> ManagedObject? {
        let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
        entity.name = contact.name
        return entity
    }

    nonisolated override func onDelete(_ contact: Contact, in context: PrivateContext) throws {
        try context.delete(ContactEntity.self, where: \.uid == contact.uid)
    }
}

let store = StoreLocation.sqlite(URL(filePath: "contacts.sqlite"))
let container = try await PersistentContainer(model: .contacts, store: store, databaseKey: "1")
let contacts = try container.dataSource(ContactDataSource.self)
let count = try contacts.count(ContactEntity.self)
print("startup: \(container.startup.reason), \(count) contacts")

let report = try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
print("added: \(report.inserted)")
for contact in try contacts.fetch(ContactEntity.self, order: [.ascending(\.name)]) {
    print(contact.uid, contact.name)
}
let serverList = [Contact(uid: "2", name: "Zhang Yide"), Contact(uid: "3", name: "Zhao Yun")]
let sync = try await contacts.sync(serverList, entity: ContactEntity.self)
print("synced: \(sync.inserted) new, \(sync.updated) changed, \(sync.deleted) gone")
