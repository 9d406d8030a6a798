// error: 'inout sending' parameter '$0' cannot be task-isolated at end of function
import CoreDataSource
import Synchronization

final class Contacts: DataSource {
    nonisolated let kept = Mutex<Contact?>(nil)

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        kept.withLock { $0 = contact }
        return contact
    }
}
