import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Objects of a scope that are deleted because they are too old or too many.
@MainActor
struct ScopeEvictionTests {
    /// The age of a contact stands for its rank: the oldest stay.
    private func scope(
        keeping count: Int, except kept: FetchPredicate<ContactEntity>? = nil
    ) -> SyncScope<ContactEntity> {
        SyncScope(
            "contacts", evicting: ScopeEviction(maxCount: count, order: [.descending(\.uid)], keeping: kept))
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func tooManyObjectsAreEvictedInTheSaveOfTheAnswer(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let scope = scope(keeping: 3)
            let list = try contacts.list(ObjectRequest(ContactEntity.self, freshnessOf: scope))
            let report = try await contacts.apply(
                .list(contactList(0..<5), entityTag: "1", cursor: "c"), to: scope, requestedAt: place.clock.value)
            #expect(report.inserted == 5 && report.evicted == 2 && report.deleted == 0)
            #expect(try contacts.uids() == ["uid-2", "uid-3", "uid-4"] && list.count == 3)
            let found = try contacts.freshness(of: scope)
            #expect(found.isComplete && found.entityTag == nil && found.cursor == nil && list.freshness == found)
            // A list of few objects keeps its tag.
            try await contacts.load(scope, maxAge: .zero) { request in
                #expect(request.entityTag == nil && request.cursor == nil)
                return .list(contactList(2..<5), entityTag: "2")
            }
            #expect(try contacts.freshness(of: scope).entityTag == "2")
            // In pages, the last one evicts.
            try await contacts.load(scope, maxAge: .zero) { request in
                .page(
                    contactList(request.page * 2..<request.page * 2 + 2),
                    next: request.page < 2 ? "\(request.page)" : nil)
            }
            #expect(try contacts.uids() == ["uid-3", "uid-4", "uid-5"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func whatIsKeptIsNeitherDeletedNorCounted(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(contactList(0..<4))
            try await contacts.update(ContactEntity.self, where: \.uid == "uid-0", set: [.set(\.isFavorite, true)])
            let scope = scope(keeping: 1, except: \.isFavorite == true)
            try await contacts.apply(.list(contactList(0..<4)), to: scope, requestedAt: place.clock.value)
            #expect(try contacts.uids() == ["uid-0", "uid-3"])
        }
    }

    /// More rows than are written before the save is made.
    @Test(arguments: ScopeStoreKind.allCases)
    func aLongListLeavesFewRows(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let report = try await contacts.apply(
                .list(contactList(0..<4000)), to: scope(keeping: 10), requestedAt: place.clock.value)
            #expect(report.evicted == 3990)
            #expect(try contacts.count(ContactEntity.self) == 10)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func oldObjectsAreEvictedAlsoByAListThatIsNotModified(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let start = place.clock.value
            try await contacts.add(contactList(0..<4))
            for (index, age) in [nil, 0.0, 50, 100].enumerated() {
                let met = age.map { start - $0 }
                try await contacts.update(
                    ContactEntity.self, where: \.uid == "uid-\(index)", set: [.set(\.birthday, met)])
            }
            let scope = SyncScope<ContactEntity>("old", evicting: ScopeEviction(maxAge: .seconds(100), by: \.birthday))
            let report = try await contacts.apply(
                .list(contactList(0..<4), entityTag: "1"), to: scope, requestedAt: start)
            #expect(report.evicted == 1 && report.totalDeleted == 1)
            // Without a date, there is no age.
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            try await contacts.apply(.list(contactList(0..<3), entityTag: "1"), to: scope, requestedAt: start)
            place.pass(49)
            try await contacts.load(scope, maxAge: .zero) { _ in .notModified }
            #expect(try contacts.count(ContactEntity.self) == 3 && contacts.freshness(of: scope).entityTag == "1")
            place.pass(1)
            let loaded = try await contacts.load(scope, maxAge: .zero) { _ in .notModified }
            #expect(try contacts.uids() == ["uid-0", "uid-1"])
            #expect(loaded.entityTag == nil && loaded.isComplete && loaded.requestedAt == place.clock.value)
        }
    }

    @Test func evictionsDropTheTagsOfOtherScopes() async throws {
        try await withScopes { contacts, place in
            let other = SyncScope<ContactEntity>("other", where: \.age >= 0)
            try await contacts.apply(.list(contactList(0..<3), entityTag: "1"), to: other, requestedAt: Date())
            try await contacts.apply(
                .list(contactList(0..<3), entityTag: "2"), to: scope(keeping: 2), requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: other).entityTag == nil && contacts.freshness(of: other).isComplete)
        }
    }

    /// The rule of a group's members is Nullify.
    @Test(arguments: ScopeStoreKind.allCases)
    func evictionsFollowTheDeleteRules(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let container = try #require(contacts.main.container)
            let groups = try container.dataSource(GroupDataSource.self)
            let data = (0..<3).map { GroupData(gid: "\($0)", name: "group") }
            try await groups.add(data)
            try await contacts.add(contactList(0..<3))
            try await container.perform(in: contacts, groups) { contacts, groups in
                for contact in try contacts.fetch(ContactEntity.self) {
                    contact.group = try groups.first(
                        GroupEntity.self, where: \.gid, equals: String(contact.uid.suffix(1)))
                }
            }
            let scope = SyncScope<GroupEntity>(
                "groups", evicting: ScopeEviction(maxCount: 1, order: [.ascending(\.gid)]))
            let report = try await groups.apply(.list(data), to: scope, requestedAt: place.clock.value)
            #expect(report.evicted == 2)
            let found = try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map { $0.group?.gid }
            #expect(found == ["0", nil, nil])
        }
    }

    @Test(arguments: HistoryPlace.all)
    func anUndoPassesOverEvictions(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            let start = Date()
            let scope = SyncScope<ContactEntity>(
                "contacts", evicting: ScopeEviction(maxAge: .seconds(100), by: \.birthday))
            try await contacts.apply(.list(contactList(0..<3), entityTag: "1"), to: scope, requestedAt: start)
            try await container.withAuthor("editor") {
                try await contacts.update(
                    ContactEntity.self, where: \.uid == "uid-0", set: [.set(\.note, "edited")])
                try await contacts.perform { context in
                    try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")?.birthday = start
                }
                try await contacts.apply(.notModified, to: scope, requestedAt: start + 101)
            }
            #expect(try contacts.uids() == ["uid-0", "uid-2"])
            let records = try await container.records()
            #expect(records.last?.kind == .eviction && records.last?.author == "editor")
            try await container.undo(author: "editor", resolving: .takeTheirs)
            try await container.undo(author: "editor", resolving: .takeTheirs)
            #expect(try contacts.uids() == ["uid-0", "uid-2"])
            #expect(try contacts.fetch(ContactEntity.self).allSatisfy { $0.note == nil })
        }
    }

    @Test func strangeLimitsAreNamedOrBounded() async throws {
        try await withScopes { contacts, place in
            let none = scope(keeping: -5)
            try await contacts.apply(.list(contactList(0..<3)), to: none, requestedAt: place.clock.value)
            #expect(try contacts.count(ContactEntity.self) == 0)
            let unknown = SyncScope<ContactEntity>(
                "unknown", evicting: ScopeEviction(maxCount: 1, order: [FetchOrder("nothing")]))
            await expectError(.unknownAttribute) {
                try await contacts.apply(.list(contactList(0..<3)), to: unknown, requestedAt: place.clock.value)
            }
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }
}
