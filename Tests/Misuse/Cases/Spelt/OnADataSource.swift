// error: is unavailable: Nothing waits for a save here: add, sync, delete and perform save their own edits. Remove this call.
// error: is unavailable: Insert objects in perform: try await books.perform { context in try context.insert(Book.self) }, or add values: try await books.add(values).
// error: is unavailable: Write try await books.perform { context in ... }, which saves the edits.
// error: is unavailable: A list takes a request: books.list(ObjectRequest(Book.self, where: ..., order: [...])).
// error: is unavailable: Updates take a request: books.updates(ObjectRequest(Book.self, where: ..., order: [...])).
import CoreDataSource

@MainActor func edit(_ contacts: ContactDataSource) async throws {
    print(try contacts.insert(Contact.self) as Any)
    try await contacts.write { context in try context.delete(Contact.self, where: \.name == "") }
    let list = try contacts.list(Contact.self, where: \.name == "Guan Yu", order: [.ascending(\.name)])
    print(list as Any, contacts.updates(Contact.self, where: \.name == "Guan Yu") as Any)
    try contacts.save()
}
