// error: main actor-isolated property 'kept' can not be mutated
import CoreDataSource

final class Contacts: DataSource<String> {
    var kept: PrivateContext?

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        kept = context
        return nil
    }
}
