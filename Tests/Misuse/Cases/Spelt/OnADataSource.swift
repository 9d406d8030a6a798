// error: is unavailable: Nothing waits for a save here: add, sync, delete and perform save their own edits. Remove this call.
// error: is unavailable: Insert objects in perform: try await books.perform { context in try context.insert(Book.self) }, or add values: try await books.add(values).
// error: is unavailable: Write try await books.perform { context in ... }, which saves the edits.
// error: is unavailable: A list takes a request: books.list(ObjectRequest(Book.self, where: ..., order: [...])).
// error: is unavailable: Updates take a request: books.updates(ObjectRequest(Book.self, where: ..., order: [...])).
// error: is unavailable: A data source deletes values, or all objects that match a predicate: try await books.delete(Book.self, where: \.title == title). In perform, context.delete deletes an object.
// error: is unavailable: An update gets assignments: try await books.update(Book.self, where: ..., set: [.set(\.isRead, true)]). To run code for each object, edit the objects in perform.
import CoreDataSource

@MainActor func edit(_ contacts: ContactDataSource) async throws {
    let contact = try contacts.insert(Contact.self)
    contact.name = "Guan Yu"
    let name: String = try await contacts.write { context in try context.insert(Contact.self).name }
    print(name)
    let list = try contacts.list(Contact.self, where: \.name == "Guan Yu", order: [.ascending(\.name)])
    print(list.count)
    for await update in contacts.updates(Contact.self, where: \.name == "Guan Yu") { print(update) }
    try contacts.save()
    for contact in try contacts.fetch(Contact.self) { try await contacts.delete(contact) }
    print(try await contacts.update(Contact.self, where: \.name == "") { $0.name = "Guan Yu" }.updated)
}
