// error: is unavailable: A context has no queue of its own: use it directly where you have it. To edit objects, call perform of their data source: try await books.perform { context in ... }.
// error: is unavailable: A context has no queue of its own: use it directly where you have it. To edit objects, call performAndWait of their data source.
// error: is unavailable: Name the class: try context.object(Book.self, id: id). The result is optional.
// error: is unavailable: Write context.count(request).
// error: is unavailable: Objects of the main context follow every save, and a batch begins with the newest rows. Remove this line.
import CoreDataSource

@MainActor func read(_ container: PersistentContainer, _ id: ManagedObjectID) throws {
    let main = container.main
    main.perform { print(1) }
    main.performAndWait { print(1) }
    print(main.object(with: id).isUpdated)
    print(try main.existingObject(with: id).isUpdated)
    print(try main.count(for: ObjectRequest(Contact.self)))
    print(try main.fetchCount(ObjectRequest(Contact.self)))
    if let contact = try main.first(Contact.self) { main.refresh(contact, mergeChanges: true) }
    main.refreshAllObjects()
}

@MainActor func edit(_ container: PersistentContainer) async throws {
    await container.main.perform { print(1) }
}
