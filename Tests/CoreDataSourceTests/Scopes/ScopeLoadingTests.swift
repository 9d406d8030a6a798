import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// Scopes and lists say whether a load of the scope is running.
@MainActor
struct ScopeLoadingTests {
    private let request = ObjectRequest(
        ContactEntity.self, order: [.ascending(\.uid)], freshnessOf: SyncScope("contacts"))

    private static func wait(until isTrue: @MainActor () -> Bool) async {
        while !isTrue() { await Task.yield() }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListShowsThatALoadIsRunning(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let list = try contacts.list(request)
            let other = SyncScope("contacts", ContactEntity.self, where: \.uid > "uid-5")
            #expect(list.freshness?.isLoading == false)
            try await contacts.load(.contacts, maxAge: .zero) { request in
                await Self.wait { list.freshness?.isLoading == true }
                let found = try contacts.freshness(of: .contacts)
                #expect(found.isLoading && found.requestedAt == nil)
                // A list that begins during the load.
                let late = try await MainActor.run { try contacts.list(self.request).freshness }
                #expect(late?.isLoading == true)
                let otherFound = try contacts.freshness(of: other)
                #expect(!otherFound.isLoading)
                return .list(contactList(0..<3), entityTag: "1")
            }
            #expect(list.freshness?.isLoading == false && list.freshness?.entityTag == "1" && list.count == 3)
            #expect(try contacts.freshness(of: .contacts) == list.freshness)
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    await Self.wait { list.freshness?.isLoading == true }
                    let fresh = try await contacts.load(.contacts, maxAge: .seconds(3600)) { _ in .list([]) }
                    #expect(fresh.isLoading && fresh.entityTag == "1")
                    throw Poison()
                }
            }
            #expect(list.freshness?.isLoading == false && list.freshness?.failureCount == 1)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListShowsThatALoadWasCanceled(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let list = try contacts.list(request)
            let load = Task {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    try await Task.sleep(for: .seconds(3600))
                    return .list([])
                }
            }
            await Self.wait { list.freshness?.isLoading == true }
            load.cancel()
            await expectThrows(CancellationError.self) { try await load.value }
            #expect(list.freshness?.isLoading == false && list.freshness?.failureCount == 0)
            #expect(try !contacts.freshness(of: .contacts).isLoading)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func theResultOfServeStaleSaysWhetherALoadHasBegun(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let (list, isOpen) = (try contacts.list(request), Shared(false))
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
            place.pass(60)
            for _ in 0..<2 {
                let stale = try await contacts.load(.contacts, maxAge: .seconds(10), whenStale: .serveStale) { _ in
                    await Self.wait { isOpen.value }
                    throw Poison()
                }
                #expect(stale.isLoading && stale.entityTag == "1" && stale.failureCount == 0)
            }
            await Self.wait { list.freshness?.isLoading == true }
            isOpen.value = true
            await Self.wait { list.freshness?.isLoading == false }
            #expect(list.freshness?.failureCount == 1)
            let paused = try await contacts.load(.contacts, maxAge: .seconds(10), whenStale: .serveStale) { _ in
                .list([])
            }
            #expect(!paused.isLoading && paused.retryAt == place.clock.value + 2 && contacts.tier.loadCount == 0)
        }
    }

    /// The load of one object is a load of its scope, if it has an age.
    @Test func aScopeOfAnObjectSaysThatItsObjectIsLoaded() async throws {
        try await withScopes { contacts, _ in
            let seventh = SyncScope(where: \ContactEntity.uid, equals: "7")
            for maxAge in [Duration.zero, nil] {
                try await contacts.delete(ContactEntity.self, where: \.uid == "7")
                let found = try await contacts.value(
                    where: \.uid, equals: "7", as: ContactValue.self, maxAge: maxAge
                ) { uid in
                    let isLoading = try contacts.freshness(of: seventh).isLoading
                    return ContactData(uid: uid, name: "\(isLoading)")
                }
                #expect(found?.name == (maxAge == nil ? "false" : "true"))
            }
        }
    }

    /// The load goes on, but its answer will not be stored.
    @Test(arguments: ScopeStoreKind.allCases)
    func aLoadFromBeforeAResetDoesNotCount(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let (list, container) = (try contacts.list(request), try #require(contacts.main.container))
            await expectError(.storeReset) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    await Self.wait { list.freshness?.isLoading == true }
                    try await container.reset()
                    let found = try contacts.freshness(of: .contacts)
                    #expect(!found.isLoading)
                    await Self.wait { list.freshness?.isLoading == false }
                    return .list(contactList(0..<1))
                }
            }
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aListIsNotLoadedAfterItsContainerWasClosed(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let container = try place.open()
        let contacts = try container.dataSource(ContactDataSource.self)
        let list = try contacts.list(request)
        await expectError(.storeClosed) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                await Self.wait { list.freshness?.isLoading == true }
                try await container.close()
                return .list(contactList(0..<1))
            }
        }
        await Self.wait { list.freshness?.isLoading == false }
        withExtendedLifetime(place) {}
    }

    /// A load counts in the process that runs it, or that waits for another process.
    @Test(arguments: ScopeStoreKind.shared)
    func theLoadOfAnotherProcessDoesNotCount(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let containers = [try place.open(), try place.open()]
        let contacts = try containers[0].dataSource(ContactDataSource.self)
        let others = try containers[1].dataSource(ContactDataSource.self)
        let (list, hasBegun, isOpen) = (try contacts.list(request), Shared(false), Shared(false))
        let load = Task {
            try await others.load(.contacts, maxAge: .zero) { _ in
                hasBegun.value = true
                await Self.wait { isOpen.value }
                return .list(contactList(0..<3), entityTag: "1")
            }
        }
        await Self.wait { hasBegun.value }
        #expect(try !contacts.freshness(of: .contacts).isLoading && others.freshness(of: .contacts).isLoading)
        let waiting = Task {
            try await contacts.load(.contacts, maxAge: .seconds(3600)) { _ in throw Poison() }
        }
        await Self.wait { list.freshness?.isLoading == true }
        isOpen.value = true
        _ = try await (load.value, waiting.value)
        #expect(list.freshness?.isLoading == false && list.freshness?.entityTag == "1" && list.count == 3)
        for container in containers { try await container.close() }
    }

    // MARK: Observers

    private final class Delegate: DataSourceDelegate {
        var seen: [Bool] = []

        func didChangeContent(dataKey: String) {}
        func didChangeFreshness(_ freshness: ScopeFreshness, dataKey: String) { seen.append(freshness.isLoading) }
    }

    @Test func aDelegateAndALoopAreToldThatALoadBegins() async throws {
        try await withScopes { contacts, _ in
            let delegate = Delegate()
            try contacts.register(delegate, dataKey: "list", request)
            var updates = contacts.updates(request, buffering: .every()).makeAsyncIterator()
            _ = await updates.next()
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                await Self.wait { delegate.seen == [true] }
                return .list(contactList(0..<3))
            }
            #expect(delegate.seen.last == false && contacts.freshness(dataKey: "list")?.isLoading == false)
            let update = try #require(await updates.next())
            #expect(update.reason.kind == .freshness && update.freshness?.isLoading == true)
            #expect(update.difference.isEmpty)
        }
    }

    /// A pinned context keeps its rows, but a view can still show that they are loaded.
    @Test func aPinnedListShowsThatALoadIsRunning() async throws {
        try await withScopes { contacts, _ in
            let list = try contacts.list(request)
            try contacts.main.pin(for: .ample)
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                await Self.wait { list.freshness?.isLoading == true }
                return .list(contactList(0..<3), entityTag: "1")
            }
            #expect(list.freshness?.isLoading == false && list.freshness?.entityTag == nil && list.count == 0)
            contacts.main.unpin()
        }
    }

    // MARK: Costs

    /// No scope changes meanwhile, so the scopes are never read again.
    @Test func theScopesOfReleasedListsAreForgotten() async throws {
        try await withScopes { contacts, _ in
            let list = try contacts.list(request)
            await contacts.mainTier.waitForLists()
            for number in 0..<100 {
                _ = try contacts.list(ObjectRequest(ContactEntity.self, freshnessOf: SyncScope("\(number)")))
            }
            #expect(contacts.mainTier.stack.root.scopes.shownCount <= 2)
            withExtendedLifetime(list) {}
        }
    }

    /// The store keeps no scopes, so each list ends before it shows its scope.
    @Test func theScopesOfListsThatCannotBeginAreForgotten() async throws {
        let layout = ModelLayout(.contacts)
        let container = PersistentContainer(
            layout, FaultyStore(layout), startup: StoreStartup(reason: .firstLaunch), configuration: .init())
        let contacts = try container.dataSource(ContactDataSource.self)
        let scopes = contacts.mainTier.stack.root.scopes
        for number in 0..<100 {
            let request = ObjectRequest(ContactEntity.self, freshnessOf: SyncScope("\(number)"))
            expectError(.scopesNotKept) { try contacts.list(request) }
        }
        #expect(scopes.shownCount == 0)
        try await container.close()
    }

    /// - Returns: The number of statements that read scopes during a load that stores nothing.
    private func reads(isShown: Bool) async throws -> Int {
        let directory = try TemporaryDirectory()
        let reads = Shared(0)
        var configuration = PersistentContainer.Configuration(synchronous: .normal)
        configuration.trace = { statement in
            if !statement.isWriting, statement.sql.contains("\"_scopes\"") { reads.update { $0 += 1 } }
        }
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3)) }
        let list = isShown ? try contacts.list(request) : nil
        await contacts.mainTier.waitForLists()
        reads.value = 0
        await expectThrows(CancellationError.self) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                if let list { await Self.wait { list.freshness?.isLoading == true } }
                throw CancellationError()
            }
        }
        #expect(list?.freshness?.isLoading != true)
        let count = reads.value
        try await container.close()
        return count
    }

    @Test func aListReadsItsScopeOnlyWhenTheScopeHasChanged() async throws {
        let (hidden, shown) = (try await reads(isShown: false), try await reads(isShown: true))
        #expect(hidden == shown)
    }
}
