import CoreDataSource
import Foundation
import Testing

/// Lists as values for `for await`.
struct UpdatesTests {
    @MainActor
    private func withContacts(
        _ kind: StoreKind = .inMemory, count: Int = 3,
        _ body: @Sendable (ContactDataSource, PersistentContainer) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<count))
            try await body(contacts, container)
        }
    }

    private func contact(_ number: Int, _ name: String) -> ContactData {
        ContactData(uid: "uid-\(number)", name: name, phone: number % 2 == 0 ? "\(number)" : nil)
    }

    @Test(arguments: StoreKind.allCases)
    func theFirstUpdateIsTheListAsItIs(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts, _ in
            var updates = contacts.updates(
                ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name, order: .reverse)])
            )
            .makeAsyncIterator()
            let first = try #require(await updates.next())
            #expect(first.snapshot.map(\.name) == ["name 2", "name 1", "name 0"])
            #expect(first.snapshot.map(\.phone) == ["2", nil, "0"])
            #expect(first.reason.kind == .initial)
            #expect(first.difference.changes.map(\.type) == [.insert, .insert, .insert])
            #expect(first.difference.changes.map(\.id) == first.snapshot.ids)
        }
    }

    @Test func eachSaveIsAnUpdateForALoopThatKeepsUp() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
                .makeAsyncIterator()
            let first = try #require(await updates.next())
            try await contacts.add(contact(1, "a"))
            let second = try #require(await updates.next())
            #expect(second.snapshot.map(\.name) == ["a", "name 0", "name 2"])
            #expect(second.difference.changes.map(\.type) == [.move])
            #expect(second.difference.changes.first?.indexPath == IndexPath(item: 1, section: 0))
            #expect(second.difference.changes.first?.newIndexPath == IndexPath(item: 0, section: 0))
            #expect(second.reason.attributes == ["name"])
            #expect(first.snapshot.map(\.name) == ["name 0", "name 1", "name 2"], "a snapshot stays as it is")
        }
    }

    @Test func aSlowLoopGetsTheLatestWithOneDifference() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
                .makeAsyncIterator()
            _ = await updates.next()
            try await contacts.add(contact(3, "name 3"), waitFor: .main)
            try await contacts.add(contact(4, "name 4"), waitFor: .main)
            try await contacts.add(contact(3, "name 9"), waitFor: .main)
            try await contacts.delete(contact(0, ""), waitFor: .main)
            let update = try #require(await updates.next())
            #expect(update.snapshot.map(\.name) == ["name 1", "name 2", "name 4", "name 9"])
            #expect(update.difference.changes.map(\.type) == [.delete, .insert, .insert])
            #expect(update.reason.saves == 2...5)
        }
    }

    @Test func aRowThatComesAndGoesUnseenIsNoUpdate() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self)).makeAsyncIterator()
            _ = await updates.next()
            try await contacts.add(contact(3, "name 3"), waitFor: .main)
            try await contacts.delete(contact(3, ""), waitFor: .main)
            try await contacts.add(contact(4, "name 4"), waitFor: .main)
            let update = try #require(await updates.next())
            #expect(update.difference.changes.map(\.type) == [.insert])
        }
    }

    @Test func everyChangeIsReportedOneByOne() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(
                ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]), buffering: .every()
            )
            .makeAsyncIterator()
            _ = await updates.next()
            // Main merges these at once.
            await MainActor.run { for number in 3..<6 { try? contacts.addNow(contact(number, "name \(number)")) } }
            for number in 3..<6 {
                let update = try #require(await updates.next())
                #expect(update.snapshot.count == number + 1)
                #expect(update.difference.changes.map(\.index) == [nil])
                #expect(update.difference.changes.map(\.newIndex) == [number])
            }
        }
    }

    @Test func anUpdateWithoutRoomIsJoinedToTheLast() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self), buffering: .every(bound: 2))
                .makeAsyncIterator()
            _ = await updates.next()
            for number in 3..<10 { try await contacts.add(contact(number, ""), waitFor: .main) }
            #expect(await updates.next()?.difference.changes.count == 1)
            let last = try #require(await updates.next())
            #expect(last.difference.changes.count == 6)
            #expect(last.snapshot.count == 10)
        }
    }

    @Test func sectionsAreInTheSnapshot() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(
                ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]), sectionBy: \.phone
            ).makeAsyncIterator()
            let first = try #require(await updates.next()).snapshot
            #expect(first.sections.map(\.name) == ["", "0", "2"])
            #expect(first.sections.map(\.range) == [0..<1, 1..<2, 2..<3])
            #expect(first[IndexPath(item: 0, section: 1)]?.name == "name 0")
            #expect(first[IndexPath(item: 1, section: 1)] == nil)
            #expect(first.indexPath(2) == IndexPath(item: 0, section: 2))
            #expect(first.index(of: first[2].id) == 2)
        }
    }

    @Test func rowsAreReadAsObjectsAre() async throws {
        try await withContacts { contacts, _ in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self)).makeAsyncIterator()
            let row = try #require(await updates.next()?.snapshot.first)
            #expect(row.shout == "NAME 0")
            #expect(row.map { "\($0.uid)/\($0.name)" } == "uid-0/name 0")
            #expect(row.id.entityName == "ContactEntity")
        }
    }

    @Test func aCancelledLoopEnds() async throws {
        try await withContacts { contacts, container in
            let begun = AsyncStream<Void>.makeStream()
            let loop = Task {
                var count = 0
                for await _ in contacts.updates(ObjectRequest(ContactEntity.self)) {
                    count += 1
                    begun.continuation.finish()
                }
                return count
            }
            for await _ in begun.stream {}
            loop.cancel()
            #expect(await loop.value == 1)
            #expect(await container.mainTier.followedQueryCount == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aLoopEndsWhenTheContainerIsClosed(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts, container in
            let updates = contacts.updates(ObjectRequest(ContactEntity.self))
            var waiting = updates.makeAsyncIterator()
            _ = await waiting.next()
            let begun = AsyncStream<Void>.makeStream()
            let loop = Task {
                var counts: [Int] = []
                for await update in updates {
                    counts.append(update.snapshot.count)
                    begun.continuation.finish()
                }
                return counts
            }
            for await _ in begun.stream {}
            try await contacts.add(contact(3, "name 3"))
            try await container.close()
            #expect(await loop.value.last == 4)
            #expect(await waiting.next()?.snapshot.count == 4)
            #expect(await waiting.next() == nil)
            #expect(await container.mainTier.followedQueryCount == 0)
            var late: [ListReason] = []
            for await update in updates { late.append(update.reason) }
            #expect(late.map(\.failure?.code) == [.storeClosed])
        }
    }

    /// Large saves are prepared elsewhere, which closing waits for.
    @Test func aLoopGetsALargeSaveBeforeItEnds() async throws {
        try await withContacts { contacts, container in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self)).makeAsyncIterator()
            #expect(await updates.next()?.snapshot.count == 3)
            try await contacts.add(contactList(3..<1_000))
            try await container.close()
            #expect(await updates.next()?.snapshot.count == 1_000)
            #expect(await updates.next() == nil)
        }
    }

    @Test func aLoopMayBeginBehindACursor() async throws {
        try await withContacts(count: 9) { contacts, _ in
            func page(after row: ListRow<ContactEntity>?) async -> ListSnapshot<ContactEntity>? {
                var updates = contacts.updates(
                    ObjectRequest(
                        ContactEntity.self, order: [SortDescriptor(\.name)], limit: 4,
                        after: row.map { FetchCursor($0) })
                ).makeAsyncIterator()
                return await updates.next()?.snapshot
            }
            var names: [[String]] = []
            var last: ListRow<ContactEntity>?
            while let page = await page(after: last), !page.isEmpty {
                names.append(page.map(\.name))
                last = page.last
            }
            #expect(names == [Array(0..<4), Array(4..<8), [8]].map { $0.map { "name \($0)" } })
        }
    }

    @Test func aWrongQueryIsAFailureAndTheEnd() async throws {
        try await withContacts { contacts, _ in
            var reasons: [ListReason] = []
            for await update in contacts.updates(ObjectRequest(Sender.self)) { reasons.append(update.reason) }
            #expect(reasons.map(\.kind) == [.failure])
            #expect(reasons.first?.failure?.code == .unknownEntity)
        }
    }

    @Test func loopsOfOneQueryShareTheirWork() async throws {
        try await withContacts { contacts, container in
            let updates = contacts.updates(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            var one = updates.makeAsyncIterator()
            var other = updates.makeAsyncIterator()
            _ = await (one.next(), other.next())
            #expect(await container.mainTier.followedQueryCount == 1)
            try await contacts.add(contact(3, "name 3"))
            #expect(await one.next()?.snapshot.count == 4)
            #expect(await other.next()?.snapshot.count == 4)
        }
    }
}

extension ContactDataSource {
    /// Adds a contact without giving main a chance to merge it.
    nonisolated func addNow(_ contact: ContactData) throws {
        try performAndWait { _ = try self.onAdd(contact, in: $0) }
    }
}

extension ContactEntity {
    fileprivate var shout: String { name.uppercased() }
}
