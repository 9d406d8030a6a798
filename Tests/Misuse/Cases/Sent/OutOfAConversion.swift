// error: sending 'contact' risks causing data races
import CoreDataSource

struct Value: ManagedObjectConvertible {
    init(_ contact: Contact) {
        Task { @MainActor in print(contact.name) }
    }
}
