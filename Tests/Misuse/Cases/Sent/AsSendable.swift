// error: conformance of 'ManagedObject' to 'Sendable' is unavailable: An object stays in its context.
import CoreDataSource

func share(_ contact: Contact) -> any Sendable {
    contact
}
