// error: is unavailable: container.read only reads. Edit objects in perform of their data source, which saves them.
// error: is unavailable: container.read only reads. Insert objects in perform of their data source, or in a Draft.
// error: is unavailable: container.read only reads. Delete objects with their data source, or in a Draft.
import CoreDataSource

func edit(_ container: PersistentContainer) async throws {
    try await container.read { context in
        _ = try context.insert(Contact.self)
        for contact in try context.fetch(Contact.self) { context.delete(contact) }
        try context.save()
    }
}
