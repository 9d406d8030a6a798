// error: sending 'contact' risks causing data races
import CoreDataSource
import Dispatch

final class Contacts: DataSource {
    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        DispatchQueue.main.async { print(contact.name) }
        return contact
    }
}
