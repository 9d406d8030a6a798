import CoreDataSource
import Foundation
import Observation
import Testing

/// The list to observe, and the form of a diffable snapshot.
@MainActor
struct LiveListTests {
    private func withContacts(_ body: @MainActor (ContactDataSource) async throws -> Void) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            try await body(contacts)
        }
    }

    @Test func aLiveListShowsEverySave() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            #expect(list.snapshot.map(\.name) == ["name 0", "name 1", "name 2"])
            try await contacts.add(ContactData(uid: "a", name: "a"), waitFor: .main)
            #expect(list.count == 4)
            #expect(list.object(0)?.name == "a")
            #expect(list.object(4) == nil)
            #expect(list.difference.changes.map(\.type) == [.insert])
            #expect(list.lastUpdateReason.saves == 2...2)
        }
    }

    @Test func rowsThatNobodyHasUsedHaveNoObject() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            #expect(list.count == 3)
            #expect(contacts.main.registeredObjectCount == 0)
            try await contacts.add(ContactData(uid: "a", name: "a"), waitFor: .main)
            #expect(list.count == 4)
            #expect(contacts.main.registeredObjectCount == 0)
            let object = list.object(0)
            #expect(object?.name == "a")
            #expect(contacts.main.registeredObjectCount > 0)
        }
    }

    /// A view that is drawn again keeps its list, unless it has another request.
    @Test func aLiveListKnowsItsRequest() async throws {
        try await withContacts { contacts in
            func request(_ name: String, by sections: Bool = false) -> ObjectRequest<ContactEntity> {
                var request = ObjectRequest(
                    ContactEntity.self, where: \.name > name, order: [.ascending(\.name)], limit: 1)
                if sections { request.sections = .firstLetters(of: \.name) }
                return request
            }
            let list = try contacts.list(request("a"))
            #expect(list.shows(request("a")) && !list.shows(request("b")) && !list.shows(request("a", by: true)))
            try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
            #expect(list.shows(request("a")) && list.snapshot.map(\.name) == ["name 1"])
            let sections = try contacts.list(request("a", by: true))
            #expect(sections.shows(request("a", by: true)) && !sections.shows(request("a")))
            let empty = ListSnapshot<ContactEntity>(emptyIn: contacts.mainTier)
            #expect(empty.isEmpty && empty.sections.map(\.range) == [0..<0])
        }
    }

    @Test func observersOfALiveListAreNotified() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            let noticeCount = Shared(0)
            withObservationTracking {
                _ = list.snapshot
            } onChange: {
                noticeCount.update { $0 += 1 }
            }
            try await contacts.sync(contactList(0..<3), entity: ContactEntity.self, waitFor: .main)
            #expect(noticeCount.value == 1)
        }
    }

    @Test func aPausedListCatchesUpAtOnce() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            list.isPaused = true
            try await contacts.add(contactList(3..<5), waitFor: .main)
            try await contacts.add(contactList(5..<6), waitFor: .main)
            #expect(list.count == 3)
            list.isPaused = false
            #expect(list.count == 6)
            #expect(list.difference.changes.count == 3)
        }
    }

    /// Main has no objects of the rows before, and makes none from rows that are not the newest any more.
    @Test func theObjectsOfAPausedListAreTheNewestOnes() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            list.isPaused = true
            try await contacts.add(ContactData(uid: "uid-0", name: "new"), waitFor: .main)
            try await contacts.delete(ContactData(uid: "uid-1", name: ""), waitFor: .main)
            #expect(list.snapshot.map(\.name) == ["name 0", "name 1", "name 2"])
            #expect((0..<3).map { list.object($0)?.name } == ["new", "name 1", "name 2"])
            #expect((0..<3).map { list.object($0)?.isDeleted } == [false, true, false])
            let found = try contacts.main.first(ContactEntity.self, where: \.uid, equals: "uid-0")
            #expect(found?.name == "new" && found === list.object(0))
        }
    }

    @Test func theWindowOfALiveListCanBeMoved() async throws {
        try await withContacts { contacts in
            try await contacts.add(contactList(3..<9), waitFor: .main)
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)], limit: 4))
            #expect(list.snapshot.map(\.name) == ["name 0", "name 1", "name 2", "name 3"])
            let third = list.snapshot[2]
            try list.moveWindow(after: FetchCursor(third))
            #expect(list.snapshot.map(\.name) == ["name 3", "name 4", "name 5", "name 6"])
            #expect(list.difference.changes.map(\.type) == [.delete, .delete, .delete, .insert, .insert, .insert])
            #expect(list.object(0)?.name == "name 3")
            list.isPaused = true
            try await contacts.delete(ContactData(uid: "uid-4", name: ""), waitFor: .main)
            try list.moveWindow(after: list.snapshot.first.map { FetchCursor($0) })
            #expect(list.snapshot.map(\.name) == ["name 5", "name 6", "name 7", "name 8"])
            list.isPaused = false
            #expect(list.snapshot.count == 4)
            try await contacts.delete(ContactData(uid: "uid-7", name: ""), waitFor: .main)
            #expect(list.snapshot.map(\.name) == ["name 5", "name 6", "name 8"])
            try list.moveWindow(after: nil)
            #expect(list.snapshot.map(\.name) == ["name 0", "name 1", "name 2", "name 3"])
            #expect(contacts.mainTier.followedQueryCount == 1)
        }
    }

    @Test func aLiveListReportsThatTheContainerWasClosed() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            let delegate = RecordingDelegate()
            try contacts.register(delegate, dataKey: "list", ObjectRequest(ContactEntity.self))
            let said = AsyncStream<Void>.makeStream()
            withObservationTracking {
                _ = list.lastUpdateReason
            } onChange: {
                said.continuation.finish()
            }
            try await container.close()
            for await _ in said.stream {}
            #expect(list.lastUpdateReason.kind == .closed)
            #expect(list.count == 3)
            #expect(contacts.lastUpdateReason(dataKey: "list")?.kind == .closed)
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "list") == 3)
        }
    }

    @Test func aLiveListEndsWhenItIsReleased() async throws {
        try await withContacts { contacts in
            var list: LiveList<ContactEntity>? = try contacts.list(ObjectRequest(ContactEntity.self))
            weak let probe = list
            #expect(contacts.mainTier.followedQueryCount == 1)
            list = nil
            #expect(probe == nil)
            #expect(contacts.mainTier.followedQueryCount == 0)
        }
    }

    @Test func aDiffableSnapshotGetsSectionsIdsAndWhatToDrawAgain() async throws {
        try await withContacts { contacts in
            var updates = contacts.updates(
                ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]), sectionBy: \.phone
            ).makeAsyncIterator()
            _ = await updates.next()
            try await contacts.add(ContactData(uid: "uid-0", name: "new", phone: "0"))
            let update = try #require(await updates.next())
            var form = PlainSnapshot()
            update.fill(&form)
            let ids = update.snapshot.ids
            #expect(form.sections == update.snapshot.sections.map(\.id))
            #expect(form.items == [[ids[0]], [ids[1]], [ids[2]]])
            #expect(form.reconfigured == [ids[1]])
        }
    }

    /// Stands for UIKit's snapshot, of which it has the form.
    private struct PlainSnapshot: DiffableSnapshotTarget {
        var sections: [ListSection.ID] = []
        var items: [[ManagedObjectID]] = []
        var reconfigured: [ManagedObjectID] = []

        mutating func appendSections(_ identifiers: [ListSection.ID]) {
            sections += identifiers
            items += identifiers.map { _ in [] }
        }

        mutating func appendItems(_ identifiers: [ManagedObjectID], toSection section: ListSection.ID?) {
            guard let index = sections.firstIndex(where: { $0 == section }) else { return }
            items[index] += identifiers
        }

        mutating func reconfigureItems(_ identifiers: [ManagedObjectID]) { reconfigured += identifiers }
    }
}
