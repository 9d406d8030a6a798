// error: non-Sendable 'Contact'-typed result can not be returned from actor-isolated instance method 'insert'
import CoreDataSource

func made(_ contacts: ContactDataSource) async throws -> Contact {
    try await contacts.context.insert(Contact.self)
}
