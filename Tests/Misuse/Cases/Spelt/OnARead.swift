// error: is unavailable: container.read only reads. Edit objects in perform of their data source, which saves them.
// error: is unavailable: container.read only reads. Insert objects in perform of their data source, or in a Draft.
// error: is unavailable: container.read only reads. Delete objects with their data source, or in a Draft.
import CoreDataSource

func edit(_ container: PersistentContainer) async throws {
    try await container.read { context in
        let contact = try context.insert(Contact.self)
        contact.name = "Guan Yu"
        for contact in try context.fetch(Contact.self) { context.delete(contact) }
        try context.save()
    }
    try await container.performBackgroundTask { context in
        let contact = try context.insert(Contact.self)
        contact.name = "Guan Yu"
    }
    try await container.newBackgroundContext().perform { context in
        let contact = try context.insert(Contact.self)
        contact.name = "Guan Yu"
    }
}
