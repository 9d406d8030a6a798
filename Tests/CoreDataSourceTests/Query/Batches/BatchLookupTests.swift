import CoreDataSource
import Foundation
import SQLiteStore
import TestSupport
import Testing

/// What queries in the middle of a batch cost: they are counted in statements and in rows that are tested.
@MainActor
struct BatchLookupTests {
    private struct Cost: Sendable {
        var statements = 0
        var rowsTested = 0
    }

    /// Runs the work in one batch and counts what it takes.
    private func cost(
        _ container: PersistentContainer, _ contacts: ContactDataSource,
        _ work: @escaping @Sendable (PrivateContext) throws -> Void
    ) async throws -> Cost {
        let counters = try #require(container.stack.root.store as? SQLiteStore).counters
        return try await contacts.perform { context in
            let (statements, rows) = (counters.statementsRun, context.rowsTested)
            try work(context)
            return Cost(statements: counters.statementsRun - statements, rowsTested: context.rowsTested - rows)
        }
    }

    private nonisolated static func findOrInsert(_ range: Range<Int>, in context: PrivateContext) throws {
        for number in range {
            let contact = try context.findOrInsert(ContactEntity.self, where: \.phone, equals: "\(number)")
            if contact.isInserted { contact.uid = "phone-\(number)" }
        }
    }

    @Test(arguments: [500, 2000])
    func findOrInsertWithoutAConstraintAsksAnEmptyStoreOnce(count: Int) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let cost = try await cost(container, contacts) { context in
                for _ in 0..<2 { try Self.findOrInsert(0..<count, in: context) }
            }
            #expect(cost.statements <= 3 && cost.rowsTested <= 2 * count, "\(cost)")
            #expect(try contacts.count(ContactEntity.self) == count)
        }
    }

    @Test func findOrInsertWithoutAConstraintRegistersFewStoredRows() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<300))
            await contacts.tier.forgetObjects()
            let cost = try await cost(container, contacts) { try Self.findOrInsert(0..<1000, in: $0) }
            #expect(cost.statements <= 70 && cost.rowsTested <= 1000, "\(cost)")
            // The even ones of the first 300 were there.
            #expect(try contacts.count(ContactEntity.self) == 1150)
        }
    }

    @Test func aValueThatWasLookedUpInALargeStoreNeedsNoStatement() async throws {
        try await withContainer(configuration: .uncached) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<300))
            let cost = try await cost(container, contacts) { context in
                for _ in 0..<10 { try Self.findOrInsert(200..<400, in: context) }
            }
            // Those of before, and whether there is any row and whether there are few.
            #expect(cost.statements <= 200 + 2 && cost.rowsTested == 0, "\(cost)")
            #expect(try contacts.count(ContactEntity.self) == 450)
        }
    }

    @Test func countingAfterEachInsertTestsMatchingRowsOnly() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<300))
            await contacts.tier.forgetObjects()
            let cost = try await cost(container, contacts) { context in
                for number in 300..<1000 {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = ("uid-\(number)", "name \(number % 10)")
                    #expect(try context.count(ContactEntity.self) == number + 1)
                    let same = try context.count(ContactEntity.self, where: \.name == "name 7")
                    #expect(same == 1 + (number - 297) / 10)
                }
            }
            // Two counts for each, whose store has no index to be asked for and no object to be made.
            #expect(cost.statements <= 2 * 700, "\(cost)")
            // The matching ones of each count: a tenth of those that were inserted.
            #expect(cost.rowsTested <= 700 * 70, "\(cost)")
        }
    }

    @Test func aLimitedFetchReadsNoMoreBecauseOfInserts() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<300))
            await contacts.tier.forgetObjects()
            let registered = try await contacts.perform { context in
                for number in 300..<700 { try context.insert(ContactEntity.self).uid = "uid-\(number)" }
                let before = context.registeredObjectCount
                let first = try context.fetch(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)], limit: 3))
                #expect(first.map(\.uid) == ["uid-0", "uid-1", "uid-10"])
                return context.registeredObjectCount - before
            }
            #expect(registered == 3)
        }
    }

    @Test func queriesOfAnEntityWithoutEditsTestNoRows() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add((0..<10).map { GroupData(gid: "\($0)", name: "group \($0)") })
            let cost = try await cost(container, contacts) { context in
                for number in 0..<500 { try context.insert(ContactEntity.self).uid = "uid-\(number)" }
                for number in 0..<10 {
                    let name = "group \(number)"
                    #expect(try context.fetch(GroupEntity.self, where: \.name == name).map(\.gid) == ["\(number)"])
                    #expect(try context.count(GroupEntity.self) == 10)
                }
            }
            #expect(cost.statements == 20 && cost.rowsTested == 0, "\(cost)")
        }
    }

    // MARK: Diagnostics

    @Test func aLookUpWithoutAnIndexIsNamedOnce() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10))
            _ = try await contacts.perform { try $0.first(ContactEntity.self, where: \.name, equals: "name 1")?.uid }
            #expect(contacts.diagnostics.isEmpty)
            try await contacts.perform { try Self.findOrInsert(0..<10, in: $0) }
            _ = try contacts.main.first(ContactEntity.self, where: \.phone, equals: "1")
            _ = try contacts.main.first(ContactEntity.self, where: \.age, equals: 1)
            #expect(contacts.diagnostics.map(\.attributeName) == ["phone", "age"])
            #expect(contacts.diagnostics.allSatisfy { $0.entityName == "ContactEntity" })
            let plan = try contacts.main.explain(ObjectRequest(ContactEntity.self, where: \.phone == "1"))
            #expect(plan.warnings == [contacts.diagnostics[0].message])
        }
    }
}

/// Queries in the middle of a batch, against a list of what the objects hold.
///
/// `COREDATASOURCE_SEED` repeats a run.
@MainActor
struct BatchQueryEqualityTests {
    private nonisolated static let seed = testSeed()

    private struct Content: Sendable, Equatable {
        var name: String
        var phone: String?
        var age: Int32
    }

    /// What was inserted and edited, by uid; the numbers are in the order of creation.
    private struct World: Sendable {
        var contents: [Int: Content] = [:]
        var next = 0
        var random: SeededRandom

        mutating func content() -> Content {
            Content(
                name: "n\(random.next(below: 4))",
                phone: random.next(below: 3) == 0 ? nil : "p\(random.next(below: 4))",
                age: Int32(random.next(below: 5)))
        }

        func uids(_ isWanted: (Content) -> Bool) -> [String] {
            contents.filter { isWanted($0.value) }.keys.sorted().map { "u\($0)" }
        }

        mutating func edit(in context: PrivateContext) throws {
            let known = contents.keys.sorted()
            switch random.next(below: known.count > 60 ? 7 : 5) {
            case 0, 1:
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "u\(next)"
                let content = content()
                (contact.name, contact.phone, contact.age) = (content.name, content.phone, content.age)
                contents[next] = content
                next += 1
            case 2, 3:
                guard !known.isEmpty else { return }
                let number = known[random.next(below: known.count)]
                let contact = try #require(try context.first(ContactEntity.self, where: \.uid, equals: "u\(number)"))
                let content = content()
                (contact.name, contact.phone, contact.age) = (content.name, content.phone, content.age)
                contents[number] = content
            default:
                guard !known.isEmpty else { return }
                let number = known[random.next(below: known.count)]
                context.delete(try #require(try context.first(ContactEntity.self, where: \.uid, equals: "u\(number)")))
                contents[number] = nil
            }
        }

        mutating func compare(in context: PrivateContext) throws {
            let (name, phone, age) = (
                "n\(random.next(below: 5))", "p\(random.next(below: 5))", Int32(random.next(below: 6))
            )
            switch random.next(below: 9) {
            case 0:
                let first = try context.first(ContactEntity.self, where: \.name, equals: name)?.uid
                #expect(first == uids { $0.name == name }.first)
            case 1:
                let first = try context.first(ContactEntity.self, where: \.phone, equals: phone)?.uid
                #expect(first == uids { $0.phone == phone }.first)
            case 2:
                let first = try context.first(ContactEntity.self, where: \.phone, equals: nil)?.uid
                #expect(first == uids { $0.phone == nil }.first)
            case 3: #expect(try context.count(ContactEntity.self) == contents.count)
            case 4:
                #expect(
                    try context.count(ContactEntity.self, where: \.phone == phone && \.age >= age)
                        == uids { $0.phone == phone && $0.age >= age }.count)
            case 5:
                #expect(
                    try context.count(ContactEntity.self, where: \.age < age) == uids { $0.age < age }.count)
            case 6:
                let request = ObjectRequest(
                    ContactEntity.self, where: \.age <= age, limit: random.next(below: 5), offset: random.next(below: 4)
                )
                let wanted = uids { $0.age <= age }.dropFirst(request.offset).prefix(request.limit ?? 0)
                #expect(try context.fetch(request).map(\.uid) == Array(wanted))
                #expect(try context.values(request, \.uid, \.age).map(\.0) == Array(wanted))
            case 7:
                let phones = [phone, "p1"]
                let found = try context.fetch(ContactEntity.self, where: .isIn(\ContactEntity.phone, phones)).map(\.uid)
                #expect(found == uids { $0.phone == phone || $0.phone == "p1" })
            default:
                let request = ObjectRequest(
                    ContactEntity.self, where: \.name == name, order: [.descending(\.age)], limit: 3)
                let wanted = contents.filter { $0.value.name == name }
                    .sorted { ($1.value.age, $0.key) < ($0.value.age, $1.key) }.prefix(3)
                #expect(try context.fetch(request).map(\.uid) == wanted.map { "u\($0.key)" })
            }
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func answersAreThoseOfAListOfContents(kind: StoreKind, isCached: Bool) async throws {
        try await withContainer(kind, configuration: isCached ? .init() : .uncached) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let world = Shared(World(random: SeededRandom(seed: Self.seed)))
            for batch in 0..<40 {
                let level: SaveLevel = batch % 3 == 0 ? .main : .store
                try await contacts.perform(waitFor: level) { context in
                    var now = world.value
                    for step in 0..<40 {
                        try now.edit(in: context)
                        try now.compare(in: context)
                        if step == 20, batch % 4 == 1 {
                            context.rollback()
                            // Numbers go on: a key is never given twice.
                            now.contents = world.value.contents
                            try now.compare(in: context)
                        }
                    }
                    world.value = now
                }
            }
        }
    }
}
