// error: main actor-isolated property 'added' can not be mutated
import CoreDataSource

final class Contacts: DataSource<String> {
    var added = 0

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        added += 1
        return contact
    }
}
