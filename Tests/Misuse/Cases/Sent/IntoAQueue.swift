// error: capture of 'contact' with non-Sendable type 'Contact' in a '@Sendable' closure
import CoreDataSource
import Dispatch

final class Contacts: DataSource<String> {
    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        DispatchQueue.global().async { print(contact.name) }
        return contact
    }
}
