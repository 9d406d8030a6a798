import CoreDataSource
import Testing

@MainActor
struct ChainingTests {
    @Test func whatIsWrittenIsReadInTheSameChain() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            var counts: [Int] = []
            try contacts
                .writeSync { try $0.insert(ContactEntity.self).uid = "a" }
                .read { counts.append(try $0.count(ContactEntity.self)) }
                .writeSync { context in
                    for contact in try context.fetch(ContactEntity.self) { context.delete(contact) }
                }
                .read { counts.append(try $0.count(ContactEntity.self)) }
            #expect(counts == [1, 0])
        }
    }

    /// Skopelos never called back when the write failed.
    @Test func aFailedWriteCallsBack() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let outcome: Result<Void, any Error> = await withCheckedContinuation { continuation in
                contacts.writeAsync { _ in
                    throw Poison()
                } callback: {
                    continuation.resume(returning: $0)
                }
            }
            #expect(throws: Poison.self) { try outcome.get() }
        }
    }
}
