// error: non-Sendable '[Contact]'-typed result can not be returned from main actor-isolated instance method 'fetch(_:where:order:limit:offset:)'
import CoreDataSource

func count(_ contacts: ContactDataSource) {
    Task.detached { print(try await contacts.fetch(Contact.self).count) }
}
