// error: has been renamed to 'main'
// error: is unavailable: The initializer opens the store: try await PersistentContainer(name: "Books"). Remove this call.
// error: is unavailable: Nothing waits for a save here: add, sync, delete and perform of a data source save their own edits. Remove this call.
// error: is unavailable: A data source writes its objects: try await books.perform { context in ... }. To write objects of several data sources in one save, call container.perform(in:).
import CoreDataSource

@MainActor func show(_ container: PersistentContainer) async throws {
    container.loadPersistentStores { _, error in print(error as Any) }
    print(try container.viewContext.fetch(Contact.self))
    print(try container.mainContext.fetch(Contact.self))
    try container.save()
    let name: String = try await container.write { context in try context.insert(Contact.self).name }
    print(name)
}
