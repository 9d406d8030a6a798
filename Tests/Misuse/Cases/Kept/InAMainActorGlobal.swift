// error: main actor-isolated var 'kept' can not be mutated from a nonisolated context
import CoreDataSource

@MainActor var kept: Contact?

func keep(_ contacts: ContactDataSource) async throws {
    try await contacts.perform { kept = try $0.insert(Contact.self) }
}
