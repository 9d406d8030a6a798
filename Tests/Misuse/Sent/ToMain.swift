// error: sending 'contact' risks causing data races
import CoreDataSource

final class Contacts: DataSource {
    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        Task { @MainActor in print(contact.name) }
        return contact
    }
}
