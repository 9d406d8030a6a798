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

    @Test func itShowsEverySave() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ContactEntity.self, sortBy: [SortDescriptor(\.name)])
            #expect(list.snapshot.map(\.name) == ["name 0", "name 1", "name 2"])
            try await contacts.add(ContactData(uid: "a", name: "a"), waitFor: .main)
            #expect(list.count == 4)
            #expect(list.object(0)?.name == "a")
            #expect(list.object(4) == nil)
            #expect(list.difference.changes.map(\.type) == [.insert])
            #expect(list.why.saves == 2...2)
        }
    }

    @Test func whoeverObservesItHears() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ContactEntity.self)
            let heard = Shared(0)
            withObservationTracking {
                _ = list.snapshot
            } onChange: {
                heard.update { $0 += 1 }
            }
            try await contacts.sync(contactList(0..<3), entity: ContactEntity.self, waitFor: .main)
            #expect(heard.value == 1)
        }
    }

    @Test func aPausedListCatchesUpAtOnce() async throws {
        try await withContacts { contacts in
            let list = try contacts.list(ContactEntity.self)
            list.pause()
            try await contacts.add(contactList(3..<5), waitFor: .main)
            try await contacts.add(contactList(5..<6), waitFor: .main)
            #expect(list.count == 3)
            list.resume()
            #expect(list.count == 6)
            #expect(list.difference.changes.count == 3)
        }
    }

    @Test func itGoesWhenNobodyHoldsIt() async throws {
        try await withContacts { contacts in
            var list: LiveList<ContactEntity>? = try contacts.list(ContactEntity.self)
            weak let probe = list
            #expect(contacts.main.followedQueryCount == 1)
            list = nil
            #expect(probe == nil)
            #expect(contacts.main.followedQueryCount == 0)
        }
    }

    @Test func aDiffableSnapshotGetsSectionsIdsAndWhatToDrawAgain() async throws {
        try await withContacts { contacts in
            var updates = contacts.updates(
                ContactEntity.self, sortBy: [SortDescriptor(\.name)], sectionBy: \.phone
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
    private struct PlainSnapshot: DiffableForm {
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
