// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

func contacts(_ container: PersistentContainer) async throws -> [Contact] {
    try await container.read { try $0.fetch(Contact.self) }
}
