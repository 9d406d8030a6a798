import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Which scopes are the same, and how many there can be.
@MainActor
struct ScopeNameTests {
    /// Swift counts both as equal strings, and a store compares bytes.
    @Test(arguments: ScopeStoreKind.allCases)
    func namesAreComparedByteByByte(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let composed = SyncScope("\u{e9}", ContactEntity.self, where: \.age == 1)
            let decomposed = SyncScope("e\u{301}", ContactEntity.self, where: \.age == 1)
            #expect(composed != decomposed)
            try await contacts.apply(
                .list(contactList(0..<1), entityTag: "1"), to: composed, requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: composed).entityTag == "1")
            #expect(try contacts.freshness(of: decomposed).requestedAt == nil)
            try await contacts.load(decomposed, maxAge: .seconds(10)) { _ in .list(contactList(0..<1), entityTag: "2") }
            #expect(try contacts.freshness(of: decomposed).entityTag == "2")
            #expect(try contacts.freshness(of: composed).entityTag == "1")
            contacts.tier.forgetScopes()
            #expect(try contacts.freshness(of: composed).entityTag == "1")
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func predicatesAreComparedByteByByte(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let composed = SyncScope("a", ContactEntity.self, where: \.name == "\u{e9}")
            let decomposed = SyncScope("a", ContactEntity.self, where: \.name == "e\u{301}")
            try await contacts.apply(
                .list([], entityTag: "1"), to: composed, requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: decomposed).requestedAt == nil)
            try await contacts.apply(.page([], next: "2"), to: decomposed, requestedAt: place.clock.value)
            #expect(try contacts.freshness(of: composed).requestedAt == nil)
            #expect(try contacts.freshness(of: decomposed).cursor == "2")
        }
    }

    /// The clock was years ahead when the other scopes were loaded.
    @Test(arguments: [ScopeStoreKind.file, .server].filter { ScopeStoreKind.allCases.contains($0) })
    func aFullStoreKeepsTheScopeThatIsBeingWritten(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.apply(.list(contactList(0..<1)), to: .contacts, requestedAt: place.clock.value)
            let table = kind == .server ? "\"_scopes\"" : "_scopes"
            try place.run(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                INSERT INTO \(table) (name, entity, predicate, requested, tag, cursor, complete, failures, failed, failure, retry,
                answer, version) SELECT 'other ' || i, entity, predicate, 1e10 + i, tag, cursor, complete, failures, failed,
                failure, retry, answer, version FROM n, \(table)
                """)
            contacts.tier.forgetScopes()
            for number in 0..<40 {
                let scope = SyncScope<ContactEntity>("new \(number)")
                try await contacts.apply(.list(contactList(0..<1)), to: scope, requestedAt: place.clock.value)
                contacts.tier.forgetScopes()
                #expect(try contacts.freshness(of: scope).requestedAt == place.clock.value)
            }
        }
    }

    // MARK: One name for two entities

    /// Loads contacts, and then groups with the same name of the scope, in two processes or launches.
    private func loadBoth(_ contacts: ContactDataSource, _ groups: GroupDataSource) async throws {
        let tags = Shared<[String?]>([])
        try await contacts.load(.contacts, maxAge: .seconds(100)) { request in
            tags.update { $0.append(request.entityTag) }
            return .list(contactList(0..<3), entityTag: "1")
        }
        let others = SyncScope("contacts", GroupEntity.self)
        try await groups.load(others, maxAge: .seconds(100)) { request in
            tags.update { $0.append(request.entityTag) }
            return .list([GroupData(gid: "1", name: "a")], entityTag: "2")
        }
        #expect(tags.value == [nil, nil])
        #expect(try groups.freshness(of: others).entityTag == "2")
    }

    /// The answer to the one makes the other unknown. Neither gets the other's entity tag, and no object is lost.
    @Test(arguments: ScopeStoreKind.shared)
    func aNameForTwoEntitiesInTwoProcessesLoadsEachAgain(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let contacts = try one.dataSource(ContactDataSource.self)
        let groups = try other.dataSource(GroupDataSource.self)
        for _ in 0..<2 {
            try await loadBoth(contacts, groups)
            contacts.tier.forgetScopes()
            groups.tier.forgetScopes()
            let found = try contacts.freshness(of: .contacts)
            #expect(found.requestedAt == nil && found.entityTag == nil)
        }
        #expect(try contacts.count(ContactEntity.self) == 3)
        #expect(try groups.fetch(GroupEntity.self).map(\.gid) == ["1"])
        try await one.close()
        try await other.close()
    }

    /// A new version of the app may use a name for another entity. It could not forget the scope of the old version.
    @Test(arguments: ScopeStoreKind.kept)
    func aNewVersionMayUseANameForAnotherEntity(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let old = try place.open()
        let contacts = try old.dataSource(ContactDataSource.self)
        try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
        try await old.close()
        let new = try place.open()
        let groups = try new.dataSource(GroupDataSource.self)
        let scope = SyncScope("contacts", GroupEntity.self)
        #expect(try groups.freshness(of: scope).requestedAt == nil)
        try await groups.load(scope, maxAge: .seconds(100)) { request in
            #expect(request.entityTag == nil)
            return .list([GroupData(gid: "1", name: "a")], entityTag: "2")
        }
        groups.tier.forgetScopes()
        #expect(try groups.freshness(of: scope).entityTag == "2")
        #expect(try new.dataSource(ContactDataSource.self).uids() == ["uid-0", "uid-1", "uid-2"])
        try await new.close()
    }
}
