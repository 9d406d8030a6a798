// error: conformance of 'ManagedObject' to 'Sendable' is unavailable
import CoreDataSource

func made(_ contacts: ContactDataSource) throws -> [Contact] {
    try contacts.performAndWait { try $0.fetch(Contact.self) }
}
