// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

func share(_ contact: Contact) -> any Sendable {
    contact
}
