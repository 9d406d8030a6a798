import CoreDataSource
import Foundation

struct Contact {
    var uid: String
    var name: String
}

final class ContactDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        guard let data = object as? Contact else { return nil }
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: data.uid)
        contact.name = data.name
        return contact
    }

    override func onDelete(_ object: any Sendable, in context: isolated PrivateContext) throws {
        guard let data = object as? Contact else { return }
        if let contact = try context.first(ContactEntity.self, where: \.uid, equals: data.uid) {
            context.delete(contact)
        }
    }
}

let store = StoreLocation.sqlite(URL(filePath: "contacts.sqlite"))
let container = try await PersistentContainer(model: .contacts, store: store, databaseKey: "1")
let contacts = try container.dataSource(ContactDataSource.self)
print("startup: \(container.startup.reason), \(try contacts.count(ContactEntity.self)) contacts")

let report = try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
print("added: \(report.inserted)")
for contact in try contacts.fetch(ContactEntity.self, sortBy: [SortDescriptor(\.name)]) {
    print(contact.uid, contact.name)
}

let serverList = [Contact(uid: "2", name: "Zhang Yide"), Contact(uid: "3", name: "Zhao Yun")]
let sync = try await contacts.sync(serverList, entity: ContactEntity.self)
print("synced: \(sync.inserted) new, \(sync.updated) changed, \(sync.deleted) gone")
