// error: capture of 'kept' with non-Sendable type 'Contact?' in a '@Sendable' closure
// error: mutation of captured var 'kept' in concurrently-executing code
import CoreDataSource

func keep(_ container: PersistentContainer, _ one: ContactDataSource, _ other: ContactDataSource) async throws {
    var kept: Contact?
    try await container.perform(in: one, other) { first, _ in kept = try first.insert(Contact.self) }
    print(kept?.name ?? "")
}
