// error: capture of 'contact' with non-Sendable type 'Contact' in a '@Sendable' closure
import CoreDataSource
import Dispatch

final class Contacts: DataSource {
    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        DispatchQueue.global().async { print(contact.name) }
        return contact
    }
}
