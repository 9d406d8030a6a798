// error: value of type 'MainContext' has no member 'insert'
import CoreDataSource

@MainActor func insert(_ contacts: ContactDataSource) throws -> Contact {
    try contacts.main.insert(Contact.self)
}
