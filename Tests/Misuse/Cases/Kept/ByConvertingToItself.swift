// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

final class Employee: Contact, ManagedObjectConvertible {
    convenience init(_ object: Contact) throws { fatalError() }
}
