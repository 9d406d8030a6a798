import CoreDataSource

// What every source here is compiled with: an entity as the generator would write it, and a data source that owns it.

class Contact: ManagedObject {
    override class var entityName: String { "Contact" }

    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Contact.name: "name"] }

    final var name: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}

final class ContactDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Contact.self] }

    nonisolated override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.findOrInsert(Contact.self, where: \.name, equals: name)
    }
}
