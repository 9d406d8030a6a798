// error: main actor-isolated property 'last' can not be mutated
import CoreDataSource

final class Contacts: DataSource<String> {
    var last: Contact?

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        last = contact
        return contact
    }
}
