// error: 'inout sending' parameter '$0' cannot be task-isolated at end of function
import CoreDataSource
import Synchronization

final class Contacts: DataSource<String> {
    nonisolated let kept = Mutex<Contact?>(nil)

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.insert(Contact.self)
        kept.withLock { $0 = contact }
        return contact
    }
}
