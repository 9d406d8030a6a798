// error: call to actor-isolated instance method 'insert' in a synchronous actor-isolated context
import CoreDataSource

final class Contacts: DataSource {
    nonisolated let others: PrivateContext? = nil

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        _ = try others?.insert(Contact.self)
        return contact
    }
}
