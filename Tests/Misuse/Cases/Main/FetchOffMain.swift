// error: main actor-isolated instance method 'count(_:where:)' cannot be called from outside of the actor
import CoreDataSource

@concurrent func count(_ contacts: ContactDataSource) async throws -> Int {
    try contacts.count(Contact.self)
}
