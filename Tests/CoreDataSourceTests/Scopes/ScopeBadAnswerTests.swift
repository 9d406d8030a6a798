import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Answers of a server that cannot be stored, and pages between which something fails. What was stored before stays.
@MainActor
struct ScopeBadAnswerTests {
    /// Reads what the store knows, without what this process remembers.
    private func stored(_ contacts: ContactDataSource) throws -> ScopeFreshness {
        contacts.tier.forgetScopes()
        return try contacts.freshness(of: .contacts)
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anEmptyListIsAFailure(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            place.pass(1)
            for count in 1...2 {
                await expectError(.emptySync) {
                    try await contacts.load(.contacts, maxAge: .zero) { request in
                        #expect(request.entityTag == "1")
                        return .list([], entityTag: "2")
                    }
                }
                let found = try stored(contacts)
                #expect(found.entityTag == "1" && found.isComplete)
                #expect(found.failureCount == count && found.lastFailure == "emptySync")
                #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            }
            try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
            #expect(try stored(contacts).failureCount == 0)
        }
    }

    /// The member that waits learns of the failure, and makes no request of its own.
    @Test(arguments: ScopeStoreKind.shared)
    func whoWaitsForAnEmptyListIsPostponed(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let mine = try one.dataSource(ContactDataSource.self)
        let theirs = try other.dataSource(ContactDataSource.self)
        try await mine.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
        place.pass(20)
        let (arrived, answered, requests) = (Signal(), Signal(), Shared(0))
        let first = Task {
            try await mine.load(.contacts, maxAge: .seconds(10)) { _ in
                arrived.send()
                await answered.wait()
                return .list([], entityTag: "2")
            }
        }
        await arrived.wait()
        let second = Task {
            try await theirs.load(.contacts, maxAge: .seconds(10)) { _ in
                requests.update { $0 += 1 }
                return .list(contactList(0..<1))
            }
        }
        while theirs.mainTier.stack.root.scopes.waiterCount == 0 { await Task.yield() }
        answered.send()
        await expectError(.emptySync) { try await first.value }
        await expectError(.loadPostponed) { try await second.value }
        #expect(requests.value == 0)
        for contacts in [mine, theirs] {
            let found = try stored(contacts)
            #expect(found.entityTag == "1" && found.lastFailure == "emptySync")
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
        }
        try await one.close()
        try await other.close()
    }

    @Test func aListOfTooManyPagesIsNotTakenForARepeatedCursor() async throws {
        try await withScopes { contacts, _ in
            let count = Shared(0)
            let error = await expectError(.cursorRepeated) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    count.update { $0 += 1 }
                    return .page([], next: "\(request.page)")
                }
            }
            #expect(error?.message.contains("has more than 10000 pages. ") == true, "\(error as Any)")
            #expect(count.value == 10_000)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aRepeatedCursorLeavesAPartOfTheList(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.add(contactList(5..<6))
            let error = await expectError(.cursorRepeated) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    .page(contactList(request.page..<request.page + 1), next: "a")
                }
            }
            #expect(error?.message.contains("has the cursor of an earlier page. ") == true, "\(error as Any)")
            let found = try stored(contacts)
            #expect(!found.isComplete && found.lastFailure == "cursorRepeated" && found.failureCount == 1)
            // Nothing is deleted, and the second page is not stored.
            #expect(try contacts.uids() == ["uid-0", "uid-5"])
            if ScopeStoreKind.shared.contains(kind) {
                let other = try place.open()
                let theirs = try other.dataSource(ContactDataSource.self)
                let known = try theirs.freshness(of: .contacts)
                #expect(!known.isComplete && known.lastFailure == "cursorRepeated")
                #expect(try theirs.uids() == ["uid-0", "uid-5"])
                try await other.close()
            }
            try await contacts.load(.contacts, maxAge: .zero) { request in
                #expect(request.cursor == (request.page == 0 ? nil : "a"))
                return .page(contactList(request.page..<request.page + 1), next: request.page == 0 ? "a" : nil)
            }
            #expect(try stored(contacts).isComplete)
            #expect(try contacts.uids() == ["uid-0", "uid-1"])
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aTagOrCursorThatIsTooLongIsAFailure(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            let long = String(repeating: "x", count: 1 << 20)
            let answers: [ServerAnswer<any Sendable>] = [
                .list(contactList(0..<9), entityTag: long), .list(contactList(0..<9), cursor: long),
                .page(contactList(0..<9), next: long),
            ]
            for (count, answer) in answers.enumerated() {
                await expectError(.valueTooLarge) { try await contacts.load(.contacts, maxAge: .zero) { _ in answer } }
                let found = try stored(contacts)
                #expect(found.entityTag == "1" && found.isComplete)
                #expect(found.failureCount == count + 1 && found.lastFailure == "valueTooLarge")
                #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            }
            // The page before stays, and the page with the cursor is left out.
            await expectError(.valueTooLarge) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    request.page == 0 ? .page(contactList(3..<4), next: "a") : .page(contactList(4..<9), next: long)
                }
            }
            let found = try stored(contacts)
            #expect(!found.isComplete && found.failureCount == 4 && found.lastFailure == "valueTooLarge")
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2", "uid-3"])
        }
    }

    // MARK: Between two pages

    @Test(arguments: ScopeStoreKind.allCases)
    func aResetBetweenTwoPagesDropsTheList(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let container = try #require(contacts.main.container)
            await expectError(.storeReset) {
                try await contacts.load(.contacts, maxAge: .zero) { request in
                    if request.page == 0 { return .page(contactList(0..<2), next: "a") }
                    try await container.reset()
                    return .page(contactList(2..<4), next: nil)
                }
            }
            #expect(try contacts.uids().isEmpty)
            let found = try stored(contacts)
            #expect(found.requestedAt == nil && found.failureCount == 0)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<1)) }
            #expect(try contacts.uids() == ["uid-0"])
        }
    }

    @Test func aFullDiskBetweenTwoPagesLeavesTheFirstPage() async throws {
        try await withScopesOnADisk { contacts, _, isFull in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            let load = { @Sendable in
                try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { request in
                    #expect(request.cursor == (request.page == 0 ? nil : "a"))
                    if request.page == 0 { return .page(contactList(5..<7), next: "a") }
                    return .page(contactList(7..<9), next: nil)
                }
            }
            await expectError(.diskFull) {
                try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { request in
                    if request.page == 0 { return .page(contactList(5..<7), next: "a") }
                    isFull.value = true
                    return .page(contactList(7..<9), next: nil)
                }
            }
            // The failure cannot be stored, but is remembered.
            let found = try contacts.freshness(of: .contacts)
            #expect(!found.isComplete && found.failureCount == 1 && found.lastFailure == "diskFull")
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2", "uid-5", "uid-6"])
            isFull.value = false
            let last = try await load()
            #expect(last.isComplete && last.failureCount == 0)
            #expect(try contacts.uids() == ["uid-5", "uid-6", "uid-7", "uid-8"])
        }
    }

    // MARK: A closed container

    @Test(arguments: ScopeStoreKind.allCases, [StalePolicy.wait, .serveStale])
    func aClosedContainerLoadsNoObject(_ kind: ScopeStoreKind, _ whenStale: StalePolicy) async throws {
        try await withScopes(kind) { contacts, _ in
            let requests = Shared(0)
            let load = { @Sendable (uid: String, maxAge: Duration?) in
                try await contacts.value(
                    where: \.uid, equals: uid, as: ContactValue.self, maxAge: maxAge, whenStale: whenStale
                ) { uid in
                    requests.update { $0 += 1 }
                    return ContactData(uid: uid, name: "loaded")
                }?.name
            }
            let first = try await load("uid-0", .seconds(1000))
            #expect(first == "loaded" && requests.value == 1)
            try await contacts.main.container?.close()
            for uid in ["uid-0", "uid-1"] {
                for maxAge in [nil, Duration.zero, .seconds(1000)] {
                    await expectError(.storeClosed) { _ = try await load(uid, maxAge) }
                }
            }
            #expect(requests.value == 1)
        }
    }
}
