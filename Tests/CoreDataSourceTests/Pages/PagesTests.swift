import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import RowStore
import TestSupport
import Testing

/// What loops over pages return, and what they keep in memory.
@MainActor
struct PagesTests {
    private nonisolated static let seed = testSeed()

    // MARK: Equal to one fetch

    @Test(arguments: PinPlace.all)
    func pagesAreTheSameAsOneFetch(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let container = try await place.open(directory.store)
        try await compareRandomPages(of: container, rounds: 8) {
        } after: {
        }
        try await container.close()
        if place.isFile { try expectIntact(directory.store) }
    }

    /// The store does not have the rows of the last saves yet.
    @Test func pagesHaveTheSavesThatAreNotInTheStoreYet() async throws {
        let layout = ModelLayout(.contacts)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let release = Shared<(@Sendable () -> Void)?>(nil)
        try await compareRandomPages(of: container, rounds: 12) {
            release.value = store.holdCommits()
        } after: {
            release.value?()
        }
        try await container.close()
    }

    /// Makes random changes, and compares the pages of random requests with one fetch.
    private func compareRandomPages(
        of container: PersistentContainer, rounds: Int, before: () -> Void, after: () -> Void
    ) async throws {
        let source = try container.dataSource(PlainDataSource<ContactEntity, GroupEntity>.self)
        var random = SeededRandom(seed: Self.seed)
        for round in 0..<rounds {
            let comment: Comment = "seed \(Self.seed), round \(round)"
            before()
            for _ in 0..<2 { try await change(source, &random) }
            for _ in 0..<8 {
                let (request, size) = (randomRequest(&random), 1 + random.next(below: 7))
                let expected = try await container.read { try $0.fetch(as: PageContact.self, request) }
                let pages = try await allPages(container.pages(as: PageContact.self, request, size: size, for: .ample))
                #expect(pages.flatMap(\.self) == expected, comment)
                #expect(pages.dropLast().allSatisfy { $0.count == size }, comment)
                #expect(pages.allSatisfy { !$0.isEmpty && $0.count <= size }, comment)
            }
            let request = ObjectRequest<BaseEntity>(
                order: random.next(below: 2) == 0 ? [] : [.descending(\.syncFlag)], limit: 30,
                offset: random.next(below: 3))
            let expected = try await container.read { try $0.ids(request) }
            let pages = try await allPages(container.pages(as: PageObject.self, request, size: 4, for: .ample))
            #expect(pages.flatMap(\.self).map(\.id) == expected, comment)
            after()
            try await container.flush()
        }
    }

    /// Inserts, edits, links and deletes contacts.
    private func change(
        _ source: PlainDataSource<ContactEntity, GroupEntity>, _ random: inout SeededRandom
    ) async throws {
        let seed = random.next()
        try await source.perform(waitFor: .main) { context in
            var random = SeededRandom(seed: seed)
            for _ in 0..<6 {
                let gid = "g\(random.next(below: 3))"
                let group = try context.findOrInsert(GroupEntity.self, where: \.gid, equals: gid)
                group.name = "group \(random.next(below: 3))"
                group.syncFlag = Int16(random.next(below: 3))
                let uid = "\(random.next(below: 40))"
                let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: uid)
                contact.name = "name \(random.next(below: 5))"
                contact.age = Int32(random.next(below: 50))
                contact.syncFlag = Int16(random.next(below: 3))
                contact.group = random.next(below: 3) == 0 ? nil : group
                if random.next(below: 6) == 0 { context.delete(contact) }
            }
        }
    }

    private func randomRequest(_ random: inout SeededRandom) -> ObjectRequest<ContactEntity> {
        let isEven = custom { Int($0.uid)?.isMultiple(of: 2) == true }
        let predicates: [FetchPredicate<ContactEntity>?] = [
            nil, \.age >= 20, \.name == "name 1", \.group?.name == "group 1", isEven, \.age >= 10 && isEven,
            \.group?.name != nil && isEven,
        ]
        let orders: [[FetchOrder<ContactEntity>]] = [
            [], [.ascending(\.name)], [.descending(\.age), .ascending(\.name)], [.ascending(\.group?.name)],
        ]
        var request = ObjectRequest(where: predicates[random.next(below: predicates.count)])
        request.order = orders[random.next(below: orders.count)]
        if random.next(below: 3) == 0 { request.limit = random.next(below: 12) }
        if random.next(below: 3) == 0 { request.offset = random.next(below: 5) }
        if random.next(below: 3) == 0 { request.prefetch = [\.group] }
        return request
    }

    /// A predicate that only objects can answer.
    private func custom(_ accepts: @escaping @Sendable (ContactEntity) -> Bool) -> FetchPredicate<ContactEntity> {
        let matcher = ObjectMatcher("a closure") { object in (object as? ContactEntity).map(accepts) == true }
        return FetchPredicate(.custom(matcher))
    }

    @Test func aRequestBeginsAfterItsCursor() async throws {
        try await PinPlace.memory.withContacts(20) { container, contacts in
            var request = ObjectRequest(ContactEntity.self, order: [.descending(\.name)])
            let all = try contacts.fetch(request)
            request.after = FetchCursor(all[6])
            let pages = try await allPages(container.pages(as: ContactValue.self, request, size: 5, for: .ample))
            #expect(pages.map(\.count) == [5, 5, 3])
            #expect(pages.flatMap(\.self).map(\.uid) == all[7...].map(\.uid))
        }
    }

    // MARK: One state

    @Test(arguments: PinPlace.all)
    func laterSavesDoNotChangeThePages(place: PinPlace) async throws {
        try await place.withContacts(20) { container, contacts in
            let pages = container.pages(as: ContactValue.self, size: 6, for: .ample)
            var iterator = pages.makeAsyncIterator()
            var names = try await iterator.next().map { $0.map(\.name) } ?? []
            try await contacts.add(contactList(0..<40) { "new \($0)" })
            try await contacts.delete(contactList(10..<20))
            while let page = try await iterator.next() { names += page.map(\.name) }
            #expect(names == contactList(0..<20).map(\.name))
            let newest = try await allPages(pages).flatMap(\.self)
            #expect(newest.count == 30 && newest.allSatisfy { $0.name.hasPrefix("new ") })
        }
    }

    @Test(arguments: PinPlace.all)
    func relationshipsAreReadFromTheSameState(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let container = try await place.open(directory.store)
        let source = try container.dataSource(PlainDataSource<ContactEntity, GroupEntity>.self)
        try await source.perform { context in
            let group = try context.insert(GroupEntity.self)
            (group.gid, group.name) = ("g", "old")
            for number in 0..<6 {
                let contact = try context.insert(ContactEntity.self)
                (contact.uid, contact.group) = ("\(number)", group)
            }
        }
        var iterator = container.pages(as: PageContact.self, size: 2, for: .ample).makeAsyncIterator()
        #expect(try await iterator.next()?.map(\.group) == ["old", "old"])
        try await source.perform { context in
            for group in try context.fetch(GroupEntity.self) { group.name = "new" }
            for contact in try context.fetch(ContactEntity.self, limit: 5) { contact.group = nil }
        }
        #expect(try await iterator.next()?.map(\.group) == ["old", "old"])
        #expect(try await iterator.next()?.map(\.group) == ["old", "old"])
        #expect(try await iterator.next() == nil)
        try await container.close()
    }

    // MARK: Memory and work

    @Test func noObjectOutlivesItsPage() async throws {
        try await PinPlace.sqlite.withContacts(2000) { container, _ in
            var count = 0
            for try await page in container.pages(as: ObjectProbe.self, size: 100, for: .ample) {
                #expect(page.count == 100 && page.allSatisfy { !$0.isAlive })
                // All objects of a page are registered when the first value is made. No other object is.
                #expect(page.allSatisfy { $0.registeredCount == 100 })
                count += page.count
            }
            #expect(count == 2000)
            #expect(container.pageSnapshots.openCount == 0)
        }
    }

    /// The predicate rejects most objects, and these do not stay registered.
    @Test func rejectedObjectsAreReleasedToo() async throws {
        try await PinPlace.memory.withContacts(1000) { container, _ in
            let request = ObjectRequest<ContactEntity>(where: custom { $0.uid.hasSuffix("00") })
            let pages = try await allPages(container.pages(as: ObjectProbe.self, request, size: 4, for: .ample))
            #expect(pages.map(\.count) == [4, 4, 1])
            #expect(pages.flatMap(\.self).allSatisfy { $0.registeredCount <= 4 })
        }
    }

    /// Reading twice as many pages takes twice as many rows, not four times as many.
    @Test(arguments: [[], [.ascending(\.age)]] as [[FetchOrder<ContactEntity>]])
    func workGrowsWithTheNumberOfObjects(order: [FetchOrder<ContactEntity>]) async throws {
        let directory = try TemporaryDirectory()
        let traces = Shared<[StatementTrace]>([])
        let configuration = PersistentContainer.Configuration(
            synchronous: .normal,
            trace: { trace in if !trace.isWriting && !trace.isLookingForOthers { traces.update { $0.append(trace) } } })
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<1000))
        traces.value = []
        let pages = try await allPages(
            container.pages(as: ContactValue.self, ObjectRequest<ContactEntity>(order: order), size: 50, for: .ample))
        #expect(pages.count == 20)
        // The keys, and then the objects by key.
        #expect(traces.value.reduce(0) { $0 + $1.rowCount } <= 2000)
        // A look-up that begins the snapshot, one query for the keys, one for each page, and the statements of the transaction.
        #expect(traces.value.count <= 20 + 4)
        #expect(!traces.value.contains { $0.sql.contains("OFFSET") })
        try await container.close()
    }
}

// MARK: Values

/// All pages of one loop.
func allPages<Value>(_ pages: ObjectPages<Value>) async throws -> [[Value]] {
    var all: [[Value]] = []
    for try await page in pages { all.append(page) }
    return all
}

private struct PageContact: ManagedObjectConvertible, Equatable {
    let uid: String
    let name: String
    let age: Int32
    let group: String?

    init(_ contact: ContactEntity) {
        (uid, name, age, group) = (contact.uid, contact.name, contact.age, contact.group?.name)
    }
}

private struct PageObject: ManagedObjectConvertible {
    let id: ManagedObjectID

    init(_ object: BaseEntity) { id = object.objectID }
}

/// Tells whether the object of a value is still in memory.
private struct ObjectProbe: ManagedObjectConvertible {
    /// Guarded by: nobody uses the object. It is only compared with nil.
    private final class Weak: @unchecked Sendable {
        weak let object: ManagedObject?

        init(_ object: ManagedObject) { self.object = object }
    }

    private let probe: Weak
    /// The number of objects that were in memory together.
    let registeredCount: Int

    var isAlive: Bool { probe.object != nil }

    init(_ contact: ContactEntity) {
        probe = Weak(contact)
        registeredCount = contact.context?.registeredObjectCount ?? -1
    }
}
