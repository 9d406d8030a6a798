import CoreDataSource
import Foundation

final class NameDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: name)
        contact.name = name
        return contact
    }
}

let container = try await PersistentContainer(model: .contacts, store: .inMemory)
let contacts = try container.dataSource(NameDataSource.self)
var names = ["Zhang Fei", "Guan Yu"]

for await update in contacts.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.name, [.numeric])])) {
    print("\(update.reason.kind): \(update.snapshot.map(\.name))")
    for change in update.difference.changes { print("  \(change.type) at \(change.newIndex ?? 0)") }
    guard let name = names.popLast() else { break }
    try await contacts.add(name)
}
