// error: main actor-isolated property 'added' can not be mutated
import CoreDataSource

final class Contacts: DataSource {
    var added = 0

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        added += 1
        return contact
    }
}
