// error: is unavailable: container.read only reads. Insert objects in perform of their data source
import CoreDataSource

func insert(_ container: PersistentContainer) async throws {
    try await container.read { _ = try $0.insert(Contact.self) }
}
