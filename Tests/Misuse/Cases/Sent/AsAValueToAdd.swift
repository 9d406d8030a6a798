// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

final class Copies: DataSource<Contact> {
    override class var entities: [ManagedObject.Type] { [Contact.self] }
}
