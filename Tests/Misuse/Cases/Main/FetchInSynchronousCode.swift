// error: call to main actor-isolated instance method 'fetch(_:where:order:limit:offset:)' in a synchronous nonisolated context
import CoreDataSource

func count(_ contacts: ContactDataSource) throws -> Int {
    try contacts.fetch(Contact.self).count
}
