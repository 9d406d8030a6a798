import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Loads during which the store changes, and lists of several pages.
@MainActor
struct ScopeOverlapTests {
    @Test(arguments: ScopeStoreKind.allCases)
    func aDeletionDuringTheRequestMakesItAskWithoutATag(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            place.pass(1)
            let tags = Shared<[String?]>([])
            let found = try await contacts.load(.contacts, maxAge: .zero) { request in
                tags.update { $0.append(request.entityTag) }
                guard request.entityTag == "1" else { return .list(contactList(0..<3), entityTag: "1") }
                try await contacts.delete(ContactData(uid: "uid-1", name: ""))
                return .notModified
            }
            #expect(tags.value == ["1", nil] && found.entityTag == "1" && found.failureCount == 0)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    /// The deletion is accepted, but no commit has written it yet.
    @Test func aDeletionThatIsNotStoredYetDropsTheTagToo() async throws {
        try await withScopes(.file) { contacts, _ in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            let tags = Shared<[String?]>([])
            try await contacts.load(.contacts, maxAge: .zero) { request in
                tags.update { $0.append(request.entityTag) }
                guard request.entityTag == "1" else { return .list(contactList(0..<3), entityTag: "1") }
                try await contacts.delete([ContactData(uid: "uid-1", name: "")], waitFor: .main)
                return .notModified
            }
            #expect(tags.value == ["1", nil])
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    /// The answer has only the changes since the cursor.
    @Test func aDeletionThatIsNotStoredYetDropsTheCursorOfChangesToo() async throws {
        try await withScopes(.file) { contacts, _ in
            let cursors = Shared<[String?]>([])
            for _ in 0..<3 {
                try await contacts.load(.contacts, maxAge: .zero, deleting: .none) { request in
                    cursors.update { $0.append(request.cursor) }
                    guard request.cursor == "1" else { return .list(contactList(0..<3), cursor: "1") }
                    try await contacts.delete([ContactData(uid: "uid-1", name: "")], waitFor: .main)
                    return .list([], cursor: "2")
                }
            }
            #expect(cursors.value == [nil, "1", nil])
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anOlderAnswerNeverReplacesANewerOne(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let version = Shared(1)
            let found = try await contacts.load(.contacts, maxAge: .zero) { _ in
                let asked = version.value
                if asked == 1 {
                    version.value = 2
                    place.pass(1)
                    try await contacts.apply(
                        .list(contactList(0..<2), entityTag: "2"), to: .contacts, requestedAt: place.clock.value)
                    place.pass(1)
                }
                return .list(contactList(0..<asked), entityTag: "\(asked)")
            }
            #expect(found.entityTag == "2")
            #expect(try contacts.uids() == ["uid-0", "uid-1"])
        }
    }

    /// The answer of the other process is fresh enough, so the server is not asked again.
    @Test(arguments: ScopeStoreKind.shared)
    func theAnswerOfAnotherProcessIsEnough(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let mine = try one.dataSource(ContactDataSource.self)
        let theirs = try other.dataSource(ContactDataSource.self)
        let count = Shared(0)
        let found = try await mine.load(.contacts, maxAge: .seconds(10)) { _ in
            count.update { $0 += 1 }
            try await theirs.apply(
                .list(contactList(0..<2), entityTag: "2"), to: .contacts, requestedAt: place.clock.value)
            return .list(contactList(0..<1), entityTag: "1")
        }
        #expect(count.value == 1 && found.entityTag == "2")
        #expect(try mine.uids() == ["uid-0", "uid-1"])
        try await one.close()
        try await other.close()
    }

    @Test func aServerThatNeverFitsIsAskedThreeTimes() async throws {
        try await withScopes { contacts, place in
            let count = Shared(0)
            await expectError(.scopeChanged) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    count.update { $0 += 1 }
                    // The app stores another answer during each request.
                    try await contacts.apply(
                        .list(contactList(0..<1)), to: .contacts, requestedAt: place.clock.value)
                    return .list(contactList(0..<2))
                }
            }
            #expect(try contacts.uids() == ["uid-0"])
            let found = try contacts.freshness(of: .contacts)
            #expect(count.value == 3 && found.lastFailure == "scopeChanged")
        }
    }

    /// The load knows only its own answers to be outdated. Here, the app has stored an answer without a request.
    @Test func aClosureThatThrowsScopeChangedIsCalledOnce() async throws {
        try await withScopes { contacts, place in
            let (count, other) = (Shared(0), SyncScope<ContactEntity>("other"))
            // No list of this scope is stored, so the store does not have the tag of any request.
            let confirm = { @Sendable () async throws in
                count.update { $0 += 1 }
                try await contacts.apply(.notModified, to: other, requestedAt: place.clock.value)
            }
            await expectError(.scopeChanged) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    try await confirm()
                    return .list(contactList(0..<2))
                }
            }
            #expect(count.value == 1)
            await expectError(.scopeChanged) {
                try await contacts.value(where: \.uid, equals: "uid-0", as: ContactValue.self) { _ in
                    try await confirm()
                    return nil
                }
            }
            #expect(count.value == 2)
            let uids = try contacts.uids()
            #expect(uids.isEmpty)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aResetDuringARequestDropsItsAnswer(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let container = try #require(contacts.main.container)
            await expectError(.storeReset) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    try await container.reset()
                    return .list(contactList(0..<3), entityTag: "1")
                }
            }
            let found = try contacts.freshness(of: .contacts)
            #expect(found.requestedAt == nil && found.failureCount == 0)
            #expect(try contacts.uids().isEmpty)
        }
    }

    // MARK: Pages

    /// A server with pages of two contacts.
    private nonisolated func page(_ request: ScopeRequest, _ uids: Range<Int>) -> ServerAnswer<any Sendable> {
        let start = request.cursor.flatMap(Int.init) ?? uids.lowerBound
        let end = min(start + 2, uids.upperBound)
        return .page(contactList(start..<end), next: end < uids.upperBound ? "\(end)" : nil)
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func theLastPageDeletesWhatNoPageHad(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(contactList(3..<12))
            let pages = Shared<[Int]>([])
            let found = try await contacts.load(.contacts, maxAge: .seconds(10)) { request in
                pages.update { $0.append(request.page) }
                if request.page == 1 {
                    // It was added by a push, and the first page may have come before it.
                    try await contacts.add(ContactData(uid: "uid-99", name: ""))
                    #expect(try !contacts.freshness(of: .contacts).isComplete)
                }
                return page(request, 0..<7)
            }
            #expect(pages.value == [0, 1, 2, 3] && found.isComplete && found.cursor == nil)
            #expect(try contacts.uids() == (0..<7).map { "uid-\($0)" } + ["uid-99"])
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw Poison() }
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func pagesMayOverlap(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.add(contactList(5..<6))
            try await contacts.load(.contacts, maxAge: .zero) { request in
                request.page == 0
                    ? .page(contactList(0..<3), next: "a") : .page(contactList(1..<4), next: nil)
            }
            #expect(try contacts.uids() == (0..<4).map { "uid-\($0)" })
        }
    }

    @Test(arguments: [["a", "a"], ["a", "b", "a"]])
    func aCursorThatRepeatsEndsTheLoad(_ cursors: [String]) async throws {
        try await withScopes { contacts, _ in
            try await contacts.add(contactList(50..<51))
            let count = Shared(0)
            await expectError(.cursorRepeated) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    count.update { $0 += 1 }
                    return .page(contactList(request.page..<request.page + 1), next: cursors[request.page])
                }
            }
            #expect(count.value == cursors.count)
            let found = try contacts.freshness(of: .contacts)
            #expect(!found.isComplete && found.lastFailure == "cursorRepeated")
            // Nothing was deleted.
            #expect(try contacts.count(ContactEntity.self) == cursors.count)
        }
    }

    @Test func pagesAreGuardedLikeAList() async throws {
        try await withScopes { contacts, _ in
            try await contacts.add(contactList(0..<100))
            await expectError(.emptySync) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    .page([], next: request.page == 0 ? "a" : nil)
                }
            }
            await expectError(.tooManyDeletions) {
                try await contacts.load(.contacts, maxAge: .zero) { request in page(request, 0..<7) }
            }
            await expectError(.invalidRequest) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    request.page == 0 ? .page(contactList(0..<1), next: "a") : .list(contactList(0..<1))
                }
            }
            #expect(try contacts.count(ContactEntity.self) == 100)
            // An ignored value may be any object.
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { request in
                request.page == 0 ? .page(["no contact"], next: "a") : .page(contactList(0..<1), next: nil)
            }
            #expect(try contacts.count(ContactEntity.self) == 100)
            try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { request in page(request, 0..<7) }
            #expect(try contacts.count(ContactEntity.self) == 7)
        }
    }

    @Test func anAnswerBetweenTwoPagesBeginsTheListAnew() async throws {
        try await withScopes { contacts, place in
            let pages = Shared<[Int]>([])
            let found = try await contacts.load(.contacts, maxAge: .zero) { request in
                pages.update { $0.append(request.page) }
                if pages.value.count == 2 {
                    try await contacts.apply(
                        .list(contactList(0..<9), entityTag: "9"), to: .contacts, requestedAt: place.clock.value)
                }
                return page(request, 0..<3)
            }
            #expect(pages.value == [0, 1, 0, 1] && found.isComplete && found.entityTag == nil)
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
    }

    /// The list was removed between two of its pages.
    @Test(arguments: ScopeStoreKind.allCases)
    func aListThatIsGoneAtALaterPageHasNoObjects(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.add(contactList(8..<10))
            let scope = SyncScope<ContactEntity>("some", where: \.uid != "uid-9")
            let found = try await contacts.load(scope, maxAge: .seconds(10)) { request in
                request.page == 0 ? .page(contactList(0..<2), next: "2") : .gone
            }
            #expect(found.isComplete && found.cursor == nil && found.failureCount == 0)
            // This one is not in scope.
            #expect(try contacts.uids() == ["uid-9"])
            try await contacts.load(scope, maxAge: .seconds(10)) { _ in throw Poison() }
        }
    }
}
