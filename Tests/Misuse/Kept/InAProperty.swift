// error: main actor-isolated property 'last' can not be mutated
import CoreDataSource

final class Contacts: DataSource {
    var last: Contact?

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        last = contact
        return contact
    }
}
