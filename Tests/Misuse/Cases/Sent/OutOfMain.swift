// error: non-Sendable '[Contact]'-typed result can not be returned from main actor-isolated instance method 'fetch(_:where:order:limit:offset:)'
import CoreDataSource

@concurrent func count(_ contacts: ContactDataSource) async throws -> Int {
    try await contacts.fetch(Contact.self).count
}
