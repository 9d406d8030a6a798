// error: 'count' is unavailable: Count the objects of a request in the main context: main.count(request).
import CoreDataSource

@MainActor func count(_ contacts: ContactDataSource) throws -> Int {
    try contacts.count(ObjectRequest(Contact.self, limit: 5))
}
