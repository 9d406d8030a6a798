// error: call to main actor-isolated instance method 'fetch(_:where:sortBy:limit:offset:)' in a synchronous actor-isolated context
import CoreDataSource

final class Contacts: DataSource {
    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        _ = try fetch(Contact.self)
        return contact
    }
}
