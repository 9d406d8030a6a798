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
                INSERT INTO \(table) SELECT 'other ' || i, entity, predicate, 1e10 + i, tag, cursor, complete, failures, failed,
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
}
