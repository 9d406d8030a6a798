// error: capture of 'kept' with non-Sendable type 'Contact?' in a '@Sendable' closure
// error: mutation of captured var 'kept' in concurrently-executing code
import CoreDataSource

func keep(_ contacts: ContactDataSource) async throws -> String? {
    var kept: Contact?
    try await contacts.perform { kept = try $0.insert(Contact.self) }
    return kept?.name
}
