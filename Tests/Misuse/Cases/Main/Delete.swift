// error: is unavailable: The main context only reads. Delete objects with their data source
import CoreDataSource

@MainActor func delete(_ contact: Contact, _ contacts: ContactDataSource) {
    contacts.main.delete(contact)
}
