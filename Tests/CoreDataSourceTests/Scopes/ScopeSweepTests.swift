import CoreDataSource
import Foundation
import Testing

/// A list deletes only objects that were in scope before its request: it cannot know the others.
@MainActor
struct ScopeSweepTests {
    private nonisolated func named(_ uids: Range<Int>) -> [ContactData] { contactList(uids) { _ in "mine" } }

    @Test(arguments: ScopeStoreKind.allCases)
    func whatTheUserAddsDuringARequestStays(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            let found = try await contacts.load(.contacts, maxAge: .zero) { _ in
                try await contacts.add(ContactData(uid: "uid-9", name: "new"))
                return .list(contactList(0..<2), entityTag: "2")
            }
            // The objects are not those of the list, so the next answer must not be that the list is the same.
            #expect(found.isComplete && found.entityTag == nil)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-9"])
            let next = try await contacts.load(.contacts, maxAge: .zero) {
                #expect($0.entityTag == nil)
                return .list(contactList(0..<2), entityTag: "2")
            }
            #expect(next.entityTag == "2")
            #expect(try contacts.uids() == ["uid-0", "uid-1"])
        }
    }

    /// The save is accepted before the answer, but no commit has written it yet.
    @Test func whatIsNotStoredYetCountsToo() async throws {
        try await withScopes(.file) { contacts, _ in
            try await contacts.add(contactList(0..<2))
            try await contacts.add([ContactData(uid: "uid-2", name: "before")], waitFor: .main)
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                try await contacts.add([ContactData(uid: "uid-9", name: "during")], waitFor: .main)
                return .list(contactList(0..<2))
            }
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-9"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func whatTheUserEditsIntoTheScopeDuringARequestStays(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let mine = SyncScope("mine", ContactEntity.self, where: \.name == "mine")
            try await contacts.add(named(0..<2) + contactList(2..<4))
            try await contacts.load(mine, maxAge: .zero, deleting: .all) { _ in
                try await contacts.perform { context in
                    try context.first(ContactEntity.self, where: \.uid, equals: "uid-2")?.name = "mine"
                    try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")?.phone = "edited"
                }
                return .list(self.named(0..<1))
            }
            // The list did not have uid-1, which was in scope all the time.
            #expect(try contacts.uids() == ["uid-0", "uid-2", "uid-3"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func whatIsAddedDuringTheRequestForTheFirstPageStays(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.add(contactList(0..<4))
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { request in
                try await contacts.add(ContactData(uid: "uid-\(8 + request.page)", name: "new"))
                return request.page == 0
                    ? .page(contactList(0..<1), next: "a") : .page(contactList(1..<2), next: nil)
            }
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-8", "uid-9"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsGoneLeavesWhatWasAddedDuringTheRequest(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.add(contactList(0..<3))
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                try await contacts.add(ContactData(uid: "uid-9", name: "new"))
                return .gone
            }
            #expect(try contacts.uids() == ["uid-9"])
        }
    }

    /// The other process has not told this one of its save when the request begins.
    @Test(arguments: ScopeStoreKind.shared)
    func whatAnotherProcessAddsDuringARequestStays(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let mine = try one.dataSource(ContactDataSource.self)
        let theirs = try other.dataSource(ContactDataSource.self)
        try await theirs.add(contactList(0..<3))
        try await mine.load(.contacts, maxAge: .zero, deleting: .all) { _ in
            try await theirs.add(ContactData(uid: "uid-9", name: "new"))
            return .list(contactList(0..<1))
        }
        #expect(try mine.uids() == ["uid-0", "uid-9"])
        try await one.close()
        try await other.close()
    }
}
