// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

func look(_ contacts: ContactDataSource) {
    _ = Task { try await contacts.perform { try $0.fetch(Contact.self) } }
}
