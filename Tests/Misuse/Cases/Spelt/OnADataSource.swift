// error: is unavailable: Nothing waits for a save here: add, sync, delete and perform save their own edits. Remove this call.
// error: is unavailable: Insert objects in perform: try await books.perform { context in try context.insert(Book.self) }, or add values: try await books.add(values).
// error: is unavailable: Write try await books.perform { context in ... }, which saves the edits.
import CoreDataSource

@MainActor func edit(_ contacts: ContactDataSource) async throws {
    print(try contacts.insert(Contact.self) as Any)
    try await contacts.write { context in try context.delete(Contact.self, where: \.name == "") }
    try contacts.save()
}
