// error: passing closure as a 'sending' parameter risks causing data races
import CoreDataSource

final class Contacts: DataSource<String> {
    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        Task.detached { print(contact.name) }
        return contact
    }
}
