// error: value of type 'MainContext' has no member 'delete'
import CoreDataSource

@MainActor func delete(_ contact: Contact, _ contacts: ContactDataSource) {
    contacts.main.delete(contact)
}
