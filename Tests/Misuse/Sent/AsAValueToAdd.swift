// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

@MainActor func addAgain(_ contacts: ContactDataSource) async throws {
    try await contacts.add(try contacts.fetch(Contact.self))
}
