// error: is unavailable: The main context only reads, and follows every save. Edit objects in perform of their data source, which saves them, or in a Draft.
// error: is unavailable: The main context only reads. Insert objects in perform of their data source: try await books.perform { context in try context.insert(Book.self) }, or in a Draft.
// error: is unavailable: A context makes its objects: try context.insert(Book.self) in perform of the data source, or in a Draft. Then set the properties.
// error: is unavailable: The main context only reads. Delete objects with their data source: try await books.delete(Book.self, where: ...), or in perform or a Draft.
// error: is unavailable: The main context only reads. Delete objects with their data source: try await books.delete(Book.self, where: ...).
// error: is unavailable: The main context merges every save without a setting. Remove this line.
// error: is unavailable: The main context has no edits, so it has no conflicts. A Draft resolves conflicts: save(resolving:).
import CoreDataSource

@MainActor func edit(_ container: PersistentContainer, _ contact: Contact) throws {
    let main = container.main
    main.automaticallyMergesChangesFromParent = true
    main.mergePolicy = "trump"
    let other = try main.insert(Contact.self)
    other.name = "Guan Yu"
    main.insert(contact)
    main.delete(contact)
    try main.delete(model: Contact.self)
    try main.delete(model: Contact.self, where: \.name == "")
    try main.save()
}
