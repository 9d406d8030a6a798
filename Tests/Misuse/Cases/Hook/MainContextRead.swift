// error: main actor-isolated property 'main' can not be referenced from a nonisolated context
import CoreDataSource

final class Contacts: DataSource<String> {
    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        _ = try main.fetch(Contact.self)
        return contact
    }
}
