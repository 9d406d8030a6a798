// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

func made(_ contacts: ContactDataSource) async throws -> Contact {
    try await contacts.perform { try $0.insert(Contact.self) }
}
