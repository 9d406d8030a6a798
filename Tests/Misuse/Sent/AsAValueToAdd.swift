// error: type 'Contact' does not conform to the 'Sendable' protocol
import CoreDataSource

final class Copies: DataSource<Contact> {
    override class var entities: [ManagedObject.Type] { [Contact.self] }
}
