// error: main actor-isolated property 'later' can not be mutated
import CoreDataSource

final class Contacts: DataSource<String> {
    var later: [() -> Void] = []

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        later.append { contact.name = "Guan Yu" }
        return contact
    }
}
