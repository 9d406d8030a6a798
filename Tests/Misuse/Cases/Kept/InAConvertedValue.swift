// error: stored property 'contact' of 'Sendable'-conforming struct 'Value' has non-Sendable type 'Contact'
import CoreDataSource

struct Value: ManagedObjectConvertible {
    let contact: Contact

    init(_ contact: Contact) {
        self.contact = contact
    }
}
