// error: passing closure as a 'sending' parameter risks causing data races
import CoreDataSource

@MainActor func edit(_ draft: Draft<Contact>) throws {
    let context = try draft.context
    Task.detached { print(try context.count(Contact.self)) }
}
