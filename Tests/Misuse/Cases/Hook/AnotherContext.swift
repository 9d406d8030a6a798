// error: 'nonisolated' can not be applied to variable with non-'Sendable' type 'PrivateContext?'
// error: non-Sendable type 'PrivateContext?' of property 'others' cannot exit nonisolated context
import CoreDataSource

final class Contacts: DataSource<String> {
    nonisolated let others: PrivateContext? = nil

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        _ = try others?.insert(Contact.self)
        return contact
    }
}
