import CoreDataSource
import SQLiteStore
import TestSupport
import Testing

/// Queries that a batch asks again and again while it edits: counted in rows that are tested, and compared with Swift's answer.
@MainActor
struct RepeatedQueryTests {
    /// - Parameter isEmpty: Whether the store has no rows at first, so that all objects are registered.
    @Test(arguments: isThorough ? [1000, 10_000, 100_000] : [1000, 10_000], [true, false])
    func insertingAndQueryingInTurnTestsEachObjectOnce(count: Int, isEmpty: Bool) async throws {
        try await withContainer { container, _ in
            let counters = try #require(container.stack.root.store as? SQLiteStore).counters
            let contacts = try container.dataSource(ContactDataSource.self)
            if !isEmpty {
                try await contacts.add(contactList(0..<300))
                await contacts.tier.forgetObjects()
            }
            let first = isEmpty ? 0 : 300
            let (tested, statements) = try await contacts.perform { context in
                let (before, statementsBefore) = (context.rowsTested, counters.statementsRun)
                var known = isEmpty ? 0 : 300
                for number in first..<first + count {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = ("uid-\(number)", "name \(number)")
                    known += 1
                    #expect(try context.count(ContactEntity.self, where: \.name >= "name") == known)
                    #expect(try context.exists(ContactEntity.self, where: \.name >= "name"))
                    #expect(try !context.exists(ContactEntity.self, where: \.name >= "nbme"))
                }
                return (context.rowsTested - before, counters.statementsRun - statementsBefore)
            }
            // Each object once for each of the two predicates, and all of the first 64 each time.
            #expect(tested <= 3 * count + 3 * 64 * 66, "\(tested)")
            // The store is asked for what it has a constant number of times for each question.
            #expect(statements <= 4 * count, "\(statements)")
            if isThorough { print("\(count), \(isEmpty): \(tested) rows tested, \(statements) statements") }
        }
    }

    @Test(arguments: 0..<20)
    func repeatedQueriesFollowEveryEdit(seed: UInt64) async throws {
        try await withContainer(configuration: seed % 2 == 0 ? .uncached : .init()) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            var random = SeededRandom(seed: seed)
            try await contacts.add(contactList(0..<Int.random(in: 0...200, using: &random)))
            await contacts.tier.forgetObjects()
            let start = random.next()
            try await contacts.perform { context in
                var random = SeededRandom(seed: start)
                var ages: [String: Int32] = [:]
                for contact in try context.fetch(ContactEntity.self) { ages[contact.uid] = contact.age }
                for step in 0..<400 {
                    let uid = "uid-\(Int.random(in: 0..<400, using: &random))"
                    let known = try context.first(ContactEntity.self, where: \.uid, equals: uid)
                    #expect((known == nil) == (ages[uid] == nil))
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0:
                        if let known { context.delete(known) }
                        ages[uid] = nil
                    default:
                        let contact = try known ?? context.insert(ContactEntity.self)
                        let age = Int32.random(in: 0..<100, using: &random)
                        if known == nil { (contact.uid, contact.name) = (uid, "new") }
                        contact.age = age
                        ages[uid] = age
                    }
                    for limit: Int32 in [30, 70] where step % 3 > 0 {
                        let expected = ages.values.count { $0 > limit }
                        #expect(try context.count(ContactEntity.self, where: \.age > limit) == expected)
                        #expect(try context.exists(ContactEntity.self, where: \.age > limit) == (expected > 0))
                        let found = try context.fetch(ContactEntity.self, where: \.age > limit).map(\.uid)
                        #expect(Set(found) == Set(ages.filter { $0.value > limit }.keys) && found.count == expected)
                    }
                }
            }
        }
    }
}
