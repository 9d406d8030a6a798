// error: stored property 'contact' of 'Sendable'-conforming struct 'Refusal' has non-Sendable type 'Contact'
import CoreDataSource

final class Contacts: DataSource<String> {
    struct Refusal: Error { var contact: Contact }

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        if contact.name.isEmpty { throw Refusal(contact: contact) }
        return contact
    }
}
