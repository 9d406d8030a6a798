import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Lists that show the freshness of a scope with their rows.
@MainActor
struct ScopeListTests {
    private var request: ObjectRequest<ContactEntity> {
        ObjectRequest(order: [.ascending(\.uid)], freshnessOf: .contacts)
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListShowsEachChangeOfItsScope(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let list = try contacts.list(request)
            #expect(list.freshness?.isComplete == false && list.freshness?.requestedAt == nil)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            #expect(list.freshness?.entityTag == "1" && list.count == 3)
            place.pass(9)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
            #expect(list.freshness?.requestedAt == place.clock.value)
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            #expect(list.freshness?.failureCount == 1 && list.freshness?.lastFailure == "Poison")
            #expect(list.freshness?.requestedAt == place.clock.value && list.count == 3)
            try await contacts.delete(contactList(0..<1))
            #expect(list.freshness?.entityTag == nil && list.count == 2)
            let stored = try contacts.freshness(of: .contacts)
            #expect(list.freshness == stored)
            try await contacts.main.container?.reset()
            await contacts.mainTier.waitForLists()
            #expect(list.freshness?.requestedAt == nil && list.count == 0)
        }
    }

    @Test(arguments: ScopeStoreKind.shared)
    func aListShowsTheLoadsOfAnotherProcess(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let containers = [try place.open(), try place.open()]
        let contacts = try containers[0].dataSource(ContactDataSource.self)
        let others = try containers[1].dataSource(ContactDataSource.self)
        let list = try contacts.list(request)
        try await others.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
        while list.freshness?.entityTag != "1" { await Task.yield() }
        #expect(list.count == 3)
        // These change no rows, so they have no place in the feed.
        place.pass(9)
        try await others.load(.contacts, maxAge: .zero) { _ in .notModified }
        while list.freshness?.requestedAt != place.clock.value { await Task.yield() }
        await expectThrows(Poison.self) { try await others.load(.contacts, maxAge: .zero) { _ in throw Poison() } }
        while list.freshness?.failureCount != 1 { await Task.yield() }
        try await others.delete(contactList(0..<1))
        while list.freshness?.entityTag != nil { await Task.yield() }
        #expect(list.count == 2)
        for container in containers { try await container.close() }
    }

    /// The list does not wait for a notification of the other process.
    @Test(arguments: ScopeStoreKind.shared)
    func aPostponedLoadShowsTheFailureOfAnotherProcess(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let containers = [try place.open(), try place.open()]
        let contacts = try containers[0].dataSource(ContactDataSource.self)
        let others = try containers[1].dataSource(ContactDataSource.self)
        let list = try contacts.list(request)
        for count in 1...5 {
            await expectThrows(Poison.self) {
                try await others.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            await expectError(.loadPostponed) {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<1)) }
            }
            #expect(list.freshness?.failureCount == count)
        }
        for container in containers { try await container.close() }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListShowsAFailureWhenTheLoadThrows(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let seventh = SyncScope(where: \ContactEntity.uid, equals: "7")
            let list = try contacts.list(request)
            let object = try contacts.list(ObjectRequest(ContactEntity.self, freshnessOf: seventh))
            for count in 1...20 {
                // Both callers wait for one load.
                let other = Task { @MainActor in
                    await expectThrows(Poison.self) {
                        try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
                    }
                    #expect((list.freshness?.failureCount ?? 0) >= count)
                }
                await expectThrows(Poison.self) {
                    try await contacts.load(.contacts, maxAge: .zero) { _ in
                        while contacts.tier.loadWaiterCount < 2 { await Task.yield() }
                        throw Poison()
                    }
                }
                #expect(list.freshness?.failureCount == count)
                await other.value
                await expectThrows(Poison.self) {
                    _ = try await contacts.value(where: \.uid, equals: "7", as: ContactValue.self, maxAge: .zero) { _ in
                        throw Poison()
                    }
                }
                #expect(object.freshness?.failureCount == count)
            }
        }
    }

    /// A failure that could not be stored also ends when the scope is forgotten.
    @Test func aListShowsThatAFailureIsForgotten() async throws {
        try await withScopesOnADisk { contacts, _, isFull in
            let list = try contacts.list(request)
            isFull.value = true
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            #expect(list.freshness?.failureCount == 1)
            isFull.value = false
            try await contacts.forget(.contacts)
            #expect(list.freshness?.failureCount == 0)
        }
    }

    // MARK: Changes of another program that sends no notification

    @Test func aReadOfAChangedScopeMakesListsReadIt() async throws {
        try await withScopes(.file) { contacts, place in
            let list = try contacts.list(request)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            for count in 1...3 {
                try await contacts.delete(contactList(count - 1..<count))
                await contacts.mainTier.waitForLists()
                try place.run("UPDATE _scopes SET failures = \(count)")
                #expect(try contacts.freshness(of: .contacts).failureCount == count)
                await contacts.mainTier.waitForLists()
                #expect(list.freshness?.failureCount == count)
            }
        }
    }

    /// More scopes are read than are known at the same time.
    @Test func aReadOfAChangedScopeMakesListsReadItBesideManyScopes() async throws {
        try await withScopes(.file) { contacts, place in
            let list = try contacts.list(request)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            await contacts.mainTier.waitForLists()
            for number in 0..<1_000 { _ = try contacts.freshness(of: SyncScope("\(number)", ContactEntity.self)) }
            try place.run("UPDATE _scopes SET failures = 1")
            #expect(try contacts.freshness(of: .contacts).failureCount == 1)
            await contacts.mainTier.waitForLists()
            #expect(list.freshness?.failureCount == 1)
        }
    }

    @Test func otherScopesStayKnownAfterAReadOfAChangedScope() async throws {
        try await withScopes(.file) { contacts, place in
            let other = SyncScope("other", ContactEntity.self, where: \.uid > "uid-5")
            try await contacts.load(other, maxAge: .zero) { _ in .list([]) }
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3)) }
            #expect(try contacts.freshness(of: other).failureCount == 0)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw Poison() }
            try place.run("UPDATE _scopes SET failures = 1, requested = NULL")
            #expect(try contacts.freshness(of: other).failureCount == 1)
            // This load would find that there is no time of a request.
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw Poison() }
        }
    }

    /// Returns the next update, except those that only say that a load is running.
    private func next(
        _ updates: inout ListUpdates<ContactEntity>.Iterator
    ) async throws -> ListUpdate<ContactEntity> {
        while true {
            let update = try #require(await updates.next())
            if update.reason.kind != .freshness || update.freshness?.isLoading != true { return update }
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anUpdateHasTheFreshness(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            var updates = contacts.updates(request, buffering: .every()).makeAsyncIterator()
            let first = try #require(await updates.next())
            #expect(first.freshness?.entityTag == "1" && first.snapshot.count == 3)
            place.pass(9)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
            let second = try await next(&updates)
            #expect(second.reason.kind == .freshness && second.difference.isEmpty && second.snapshot.count == 3)
            #expect(second.freshness?.requestedAt == place.clock.value)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<5), entityTag: "2") }
            let third = try await next(&updates)
            #expect(third.reason.kind == .save && third.snapshot.count == 5)
            let fourth = try await next(&updates)
            #expect(fourth.freshness?.entityTag == "2" && fourth.freshness?.isLoading == false)
            var plain = contacts.updates(ObjectRequest(ContactEntity.self)).makeAsyncIterator()
            #expect(try #require(await plain.next()).freshness == nil)
        }
    }

    /// A slow loop gets the newest state, with all changes since the last update.
    @Test func joinedUpdatesKeepTheirRows() async throws {
        try await withScopes { contacts, place in
            var updates = contacts.updates(request).makeAsyncIterator()
            _ = await updates.next()
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            let update = try #require(await updates.next())
            #expect(update.difference.changes.count == 3 && update.freshness?.entityTag == "1")
            #expect(update.reason.kind == .save)
            place.pass(1)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
            try await contacts.add(contactList(3..<4))
            let next = try #require(await updates.next())
            #expect(next.difference.changes.count == 1 && next.freshness?.requestedAt == place.clock.value)
        }
    }

    private final class Delegate: DataSourceDelegate {
        var seen: [String] = []

        func didChangeContent(dataKey: String) { seen.append("content") }

        func didChangeFreshness(_ freshness: ScopeFreshness, dataKey: String) {
            if freshness.isLoading { return }
            seen.append("\(freshness.entityTag ?? "-") \(freshness.failureCount)")
        }
    }

    @Test func aDelegateIsToldAfterTheRows() async throws {
        try await withScopes { contacts, place in
            let delegate = Delegate()
            try contacts.register(delegate, dataKey: "list", request)
            try await contacts.registerOffMain(delegate, dataKey: "other", ObjectRequest(ContactEntity.self))
            contacts.unregister(dataKey: "other")
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            #expect(delegate.seen == ["content", "1 0"])
            #expect(contacts.freshness(dataKey: "list")?.entityTag == "1")
            contacts.pausedDataKeys = ["list"]
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            #expect(delegate.seen.count == 2 && contacts.freshness(dataKey: "list")?.failureCount == 0)
            contacts.pausedDataKeys = []
            #expect(delegate.seen == ["content", "1 0", "1 1"])
            try contacts.moveWindow(dataKey: "list", after: nil)
            place.pass(1)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
            #expect(delegate.seen.last == "1 0" && delegate.seen.count == 4)
            #expect(contacts.freshness(dataKey: "none") == nil)
        }
    }

    @Test func aPausedListKeepsItsFreshness() async throws {
        try await withScopes { contacts, _ in
            let list = try contacts.list(request)
            list.isPaused = true
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            #expect(list.count == 0 && list.freshness?.entityTag == nil)
            list.isPaused = false
            #expect(list.count == 3 && list.freshness?.entityTag == "1")
        }
    }

    @Test func listsWithoutAScopeFollowNone() async throws {
        try await withScopes { contacts, _ in
            let scopes = contacts.mainTier.stack.root.scopes
            let plain = try contacts.list(ObjectRequest(ContactEntity.self))
            #expect(plain.freshness == nil && !scopes.isFollowed)
            var list: LiveList<ContactEntity>? = try contacts.list(request)
            #expect(list?.freshness != nil && scopes.isFollowed)
            list = nil
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            #expect(!scopes.isFollowed && plain.count == 3)
        }
    }

    @Test func aListOfAScopeThatCannotBeStoredIsRefused() async throws {
        try await withScopes { contacts, _ in
            let unstored = SyncScope<ContactEntity>(
                "unstored", where: FetchPredicate(#Predicate { $0.name.first != nil }))
            expectError(.unsupportedQuery) { try contacts.list(ObjectRequest(freshnessOf: unstored)) }
            let long = SyncScope<ContactEntity>(String(repeating: "a", count: 2000))
            expectError(.valueTooLarge) { try contacts.list(ObjectRequest(freshnessOf: long)) }
            var updates = contacts.updates(ObjectRequest(freshnessOf: long)).makeAsyncIterator()
            #expect(await updates.next()?.reason.failure?.code == .valueTooLarge)
            #expect(await updates.next() == nil)
            try await contacts.main.container?.close()
            expectError(.storeClosed) { try contacts.list(request) }
        }
    }
}
