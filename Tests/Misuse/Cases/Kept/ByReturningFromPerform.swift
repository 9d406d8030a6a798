// error: conformance of 'ManagedObject' to 'Sendable' is unavailable: An object stays in its context.
import CoreDataSource

func made(_ contacts: ContactDataSource) async throws -> Contact {
    try await contacts.perform { try $0.insert(Contact.self) }
}
