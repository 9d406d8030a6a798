// error: capture of 'contact' with non-Sendable type 'Contact' in a '@Sendable' closure
import CoreDataSource

@MainActor func edit(_ contacts: ContactDataSource, _ draft: Draft<Contact>) async throws {
    let contact = draft.object
    try await contacts.perform { _ in contact.name = "Zhang Fei" }
}
