// error: capture of 'contact' with non-Sendable type 'Contact' in a '@Sendable' closure
import CoreDataSource

final class Contacts: DataSource {
    nonisolated let others: ContactDataSource? = nil

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        try others?.performAndWait { $0.delete(contact) }
        return contact
    }
}
