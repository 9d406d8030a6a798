// error: stored property 'others' of 'Sendable'-conforming class 'Contacts' has non-Sendable type 'PrivateContext?'
import CoreDataSource

final class Contacts: DataSource<String> {
    nonisolated let others: PrivateContext? = nil

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        _ = try others?.insert(Contact.self)
        return contact
    }
}
