// error: sending 'contact' risks causing data races
import CoreDataSource

final class Contacts: DataSource<String> {
    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        MainActor.assumeIsolated { print(contact.name) }
        return contact
    }
}
