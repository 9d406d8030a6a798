// error: is unavailable: A context makes its objects: let book = try context.insert(Book.self), in perform of the data source, in a hook, or in a Draft.
// error: is unavailable: Make a request: ObjectRequest(Book.self, where: ..., order: [...]), or call fetch(Book.self).
// error: is unavailable: A context fetches: try context.fetch(Book.self, where: ..., order: [...]).
// error: is unavailable: A context fetches: try context.first(Book.self, where: ...).
// error: is unavailable: An object is saved with its context: set its properties in perform of the data source, in a hook, or in a Draft.
// error: is unavailable: A context deletes its objects: context.delete(book), in perform of the data source or in a Draft.
// error: has been renamed to 'context'
// error: is unavailable: An id is Codable. Encode it, or store its entityName and its key.
import CoreDataSource

@MainActor func ask(_ container: PersistentContainer) throws {
    let contact = Contact(context: container.main)
    contact.delete()
    try contact.save()
    print(contact.managedObjectContext as Any, contact.objectID.uriRepresentation())
    let request = Contact.fetchRequest()
    print(try container.main.fetch(request))
    print(try Contact.fetchAll(container.main), try Contact.fetchOne(container.main) as Any)
    print(Contact.query(on: container.main))
}
