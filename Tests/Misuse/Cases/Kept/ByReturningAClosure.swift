// error: capture of 'contact' with non-Sendable type 'Contact' in a '@Sendable' closure
import CoreDataSource

func made(_ contacts: ContactDataSource) async throws -> @Sendable () -> String {
    try await contacts.perform { context in
        let contact = try context.insert(Contact.self)
        return { contact.name }
    }
}
