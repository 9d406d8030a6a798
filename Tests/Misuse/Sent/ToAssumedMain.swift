// error: sending 'contact' risks causing data races
import CoreDataSource

final class Contacts: DataSource {
    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        MainActor.assumeIsolated { print(contact.name) }
        return contact
    }
}
