// error: is unavailable: The main context only reads. Insert objects in perform of their data source
import CoreDataSource

@MainActor func insert(_ contacts: ContactDataSource) throws -> Contact {
    try contacts.main.insert(Contact.self)
}
