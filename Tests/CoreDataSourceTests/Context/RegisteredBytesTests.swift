import CoreDataSource
import Foundation
import Testing
import TestSupport

/// How much a private context keeps of what it has read and saved.
@MainActor
struct RegisteredBytesTests {
    private nonisolated static let megabyte = String(repeating: "x", count: 1 << 20)

    @Test(arguments: StoreKind.allCases)
    func manyLargeSavesStayUnderTheLimit(kind: StoreKind) async throws {
        let limit = 8 << 20
        let configuration = PersistentContainer.Configuration(
            synchronous: .normal, registeredObjectByteLimit: limit)
        try await withContainer(kind, configuration: configuration) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            var most = 0
            for number in 0..<(kind == .sqlite ? 500 : 50) {
                try await contacts.perform { context in
                    let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "\(number)")
                    contact.note = Self.megabyte
                }
                most = max(most, await contacts.tier.registeredByteCount)
                // Reading them, and editing them, registers them too.
                if number % 50 == 49 {
                    try await contacts.perform { context in
                        for contact in try context.fetch(ContactEntity.self, order: [], limit: 20) { contact.age += 1 }
                    }
                    most = max(most, await contacts.tier.registeredByteCount)
                }
            }
            #expect(most > limit / 2 && most <= limit)
            #expect(try contacts.count(ContactEntity.self, where: \.age > 0) >= 20)
            _ = groups
        }
    }

    /// Growing, shrinking, deleted and rolled back objects are counted as what they are.
    @Test func theCountedBytesAreThoseOfTheObjects() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            var random = SeededRandom(seed: 7)
            for step in 0..<60 {
                let seed = random.next()
                _ = try? await contacts.perform { context in
                    var random = SeededRandom(seed: seed)
                    for _ in 0..<10 {
                        let uid = "\(random.next(below: 30))"
                        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: uid)
                        contact.note = String(repeating: "n", count: random.next(below: 2000))
                        if random.next(below: 4) == 0 { context.delete(contact) }
                        if random.next(below: 12) == 0 { context.rollback() }
                    }
                    if step % 5 == 0 { throw Poison() }
                }
                if step % 7 == 0 {
                    try await contacts.update(
                        ContactEntity.self, set: [.set(\.note, String(repeating: "u", count: step * 9))])
                    try await contacts.delete(ContactEntity.self, where: \ContactEntity.uid < "2")
                }
                let counts = await contacts.tier.registeredByteCountCheck
                #expect(counts.tracked == counts.recomputed, "step \(step)")
            }
            await contacts.tier.forgetObjects()
            #expect(await contacts.tier.registeredByteCount == 0)
        }
    }
}
