// error: capture of 'contact' with non-Sendable type 'Contact' in a '@Sendable' closure
import CoreDataSource

final class Contacts: DataSource<String> {
    nonisolated let others: ContactDataSource? = nil

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        try others?.performAndWait { $0.delete(contact) }
        return contact
    }
}
