// error: main actor-isolated property 'later' can not be mutated
import CoreDataSource

final class Contacts: DataSource {
    var later: [() -> Void] = []

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        later.append { contact.name = "Guan Yu" }
        return contact
    }
}
