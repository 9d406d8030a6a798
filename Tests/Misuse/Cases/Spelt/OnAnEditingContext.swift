// error: is unavailable: The edits are saved when the hook or the closure of perform returns without an error. Remove this line.
// error: is unavailable: The draft saves its edits: try await draft.save().
// error: is unavailable: A context makes its objects: let book = try context.insert(Book.self). Then set the properties.
// error: is unavailable: Write delete(Book.self, where: ...).
import CoreDataSource

func edit(_ contacts: ContactDataSource) async throws {
    try await contacts.perform { context in
        for contact in try context.fetch(Contact.self) { context.insert(contact) }
        try context.delete(model: Contact.self)
        try context.save()
    }
}

@MainActor func edit(_ draft: Draft<Contact>) throws {
    draft.object.name = "Guan Yu"
    try draft.context.save()
}
