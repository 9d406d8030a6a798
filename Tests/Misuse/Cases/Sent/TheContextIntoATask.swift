// error: passing closure as a 'sending' parameter risks causing data races
import CoreDataSource

final class Contacts: DataSource<String> {
    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        Task { _ = try context.insert(Contact.self) }
        return nil
    }
}
