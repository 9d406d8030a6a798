// error: call to main actor-isolated instance method 'fetch(_:where:order:limit:offset:)' in a synchronous nonisolated context
import CoreDataSource

final class Contacts: DataSource<String> {
    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        _ = try fetch(Contact.self)
        return contact
    }
}
