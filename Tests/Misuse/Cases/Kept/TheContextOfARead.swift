// error: capture of 'kept' with non-Sendable type 'ReadContext?' in a '@Sendable' closure
// error: mutation of captured var 'kept' in concurrently-executing code
import CoreDataSource

func keep(_ container: PersistentContainer) async throws -> Int {
    var kept: ReadContext?
    try await container.read { kept = $0 }
    return try kept?.count(Contact.self) ?? 0
}
