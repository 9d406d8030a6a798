// error: main actor-isolated property 'object' can not be referenced from a nonisolated context
// error: call to main actor-isolated instance method 'draft(inserting:)' in a synchronous nonisolated context
import CoreDataSource

final class AddressBook: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Contact.self] }

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        try draft(inserting: Contact.self).object
    }
}
