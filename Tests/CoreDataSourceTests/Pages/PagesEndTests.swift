import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import JSONFolderStore
import QueryLanguage
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// How loops over pages end, and what they hold up until then.
@MainActor
struct PagesEndTests {
    /// A container in memory with ten contacts, whose timers run when the test says so.
    private func timed() async throws -> (container: PersistentContainer, timers: ManualTimers) {
        let layout = ModelLayout(.contacts)
        let timers = ManualTimers()
        let container = PersistentContainer(
            layout, InMemoryStore(layout), startup: StoreStartup(reason: .firstLaunch), scheduling: timers.scheduling)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<10))
        return (container, timers)
    }

    // MARK: The time limit

    @Test func aLoopThatNobodyEndsEndsAtItsLimitAndIsReported() async throws {
        let (container, timers) = try await timed()
        var failures = container.failures.makeAsyncIterator()
        var iterator = container.pages(as: ContactValue.self, size: 2).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 2)
        timers.pass(.seconds(60))
        timers.fire()
        #expect(container.pageSnapshots.openCount == 0)
        let failure = try #require(await failures.next())
        #expect(failure.kind == .store && failure.error.code == .pagesExpired)
        let error = await expectError(.pagesExpired) { try await iterator.next() }
        #expect(error?.message.contains("60") == true)
        #expect(try await iterator.next() == nil)
        try await container.close()
    }

    /// Timers stand still while the system sleeps.
    @Test func aLimitThatPassesUnnoticedEndsTheLoopAtTheNextPage() async throws {
        let (container, timers) = try await timed()
        var iterator = container.pages(as: ContactValue.self, size: 2, for: .seconds(5)).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 2)
        timers.pass(.seconds(4))
        #expect(try await iterator.next()?.count == 2)
        timers.pass(.seconds(1))
        await expectError(.pagesExpired) { try await iterator.next() }
        #expect(container.pageSnapshots.openCount == 0)
        try await container.close()
    }

    /// A page whose snapshot ends while it is read could show two states.
    @Test func aPageThatIsReadAcrossTheLimitIsNotReturned() async throws {
        let (container, timers) = try await timed()
        SlowContact.whenMade.value = {
            timers.pass(.seconds(60))
            timers.fire()
        }
        await expectError(.pagesExpired) { try await allPages(container.pages(as: SlowContact.self, size: 2)) }
        try await container.close()
    }

    /// The predicate rejects all objects but the first, so that a page takes many groups of keys. After the limit, the store has no
    /// object with these keys any more.
    @Test func aPageThatFindsNoMoreObjectsAfterTheLimitEnds() async throws {
        let (container, timers) = try await timed()
        let contacts = try container.dataSource(ContactDataSource.self)
        let (asked, isArmed) = (Shared(0), Shared(false))
        let predicate = FetchPredicate<ContactEntity>(
            .custom(
                ObjectMatcher("accepts the first") { _ in
                    asked.value += 1
                    if isArmed.value {
                        timers.pass(.seconds(60))
                        timers.fire()
                    }
                    return asked.value == 1
                }))
        let request = ObjectRequest(ContactEntity.self, where: predicate)
        var iterator = container.pages(as: ContactValue.self, request, size: 1).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 1)
        try await contacts.delete(ContactEntity.self, where: .all)
        isArmed.value = true
        await expectError(.pagesExpired) { try await iterator.next() }
        try await container.close()
    }

    @Test func fewTimersWaitForManyLoops() async throws {
        let (container, timers) = try await timed()
        for _ in 0..<20 { #expect(try await allPages(container.pages(as: ContactValue.self, size: 3)).count == 4) }
        #expect(timers.delays.count == 1)
        var iterator = container.pages(as: ContactValue.self, size: 3, for: .seconds(90)).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 3)
        #expect(timers.delays.count == 1)
        timers.pass(.seconds(60))
        timers.fire()
        #expect(timers.delays == [.seconds(30)])
        #expect(try await iterator.next()?.count == 3)
        timers.pass(.seconds(30))
        timers.fire()
        #expect(timers.delays.isEmpty && container.pageSnapshots.openCount == 0)
        try await container.close()
    }

    // MARK: The end of the loop

    @Test(arguments: PinPlace.all)
    func theSnapshotEndsWithTheLoop(place: PinPlace) async throws {
        try await place.withContacts(10) { container, _ in
            let pages = container.pages(as: ContactValue.self, size: 3, for: .ample)
            #expect(try await allPages(pages).count == 4 && container.pageSnapshots.openCount == 0)
            for try await page in pages {
                #expect(page.count == 3 && container.pageSnapshots.openCount == 1)
                break
            }
            #expect(container.pageSnapshots.openCount == 0)
        }
    }

    /// The last page leaves nothing open while the app works with it.
    @Test func theLastPageKeepsNoSnapshot() async throws {
        try await PinPlace.memory.withContacts(6) { container, _ in
            var iterator = container.pages(as: ContactValue.self, size: 3, for: .ample).makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first?.count == 3 && container.pageSnapshots.openCount == 1)
            let last = try await iterator.next()
            #expect(last?.count == 3 && container.pageSnapshots.openCount == 0)
            #expect(try await iterator.next() == nil)
        }
    }

    @Test func aTaskThatIsCanceledEndsTheLoop() async throws {
        try await PinPlace.memory.withContacts(10) { container, _ in
            let task = Task {
                for try await _ in container.pages(as: ContactValue.self, size: 2, for: .ample) {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(container.pageSnapshots.openCount == 0)
        }
    }

    @Test func anErrorOfAValueEndsTheLoop() async throws {
        try await PinPlace.memory.withContacts(10) { container, contacts in
            try await contacts.perform { context in
                try context.first(ContactEntity.self, where: \.uid, equals: "uid-5")?.name = "poison"
            }
            var iterator = container.pages(as: ContactValue.self, size: 4, for: .ample).makeAsyncIterator()
            #expect(try await iterator.next()?.count == 4)
            await expectThrows(Poison.self) { try await iterator.next() }
            #expect(try await iterator.next() == nil && container.pageSnapshots.openCount == 0)
        }
    }

    @Test(arguments: PinPlace.all)
    func aResetEndsTheLoop(place: PinPlace) async throws {
        try await place.withContacts(10) { container, contacts in
            var iterator = container.pages(as: ContactValue.self, size: 4, for: .ample).makeAsyncIterator()
            #expect(try await iterator.next()?.count == 4)
            try await container.reset()
            try await contacts.add(contactList(0..<10))
            await expectError(.storeReset) { try await iterator.next() }
            #expect(try await iterator.next() == nil)
        }
    }

    @Test(arguments: PinPlace.all)
    func closingEndsTheLoop(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let container = try await place.open(directory.store)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<10))
        var iterator = container.pages(as: ContactValue.self, size: 4, for: .ample).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 4)
        try await container.close()
        await expectError(.storeClosed) { try await iterator.next() }
        await expectError(.storeClosed) { try await allPages(container.pages(as: ContactValue.self, for: .ample)) }
        if place.isFile { try expectIntact(directory.store) }
    }

    @Test func aLostSnapshotEndsTheLoop() async throws {
        let store = FaultyStore(over: InMemoryStore(ModelLayout(.contacts)))
        let container = PersistentContainer(
            ModelLayout(.contacts), store, startup: StoreStartup(reason: .firstLaunch))
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<10))
        for isDuringRead in [false, true] {
            var iterator = container.pages(as: ContactValue.self, size: 4, for: .ample).makeAsyncIterator()
            #expect(try await iterator.next()?.count == 4)
            if isDuringRead { store.snapshots.loseDuringNextRead() } else { store.snapshots.lose() }
            let error = await expectError(.pagesExpired) { try await iterator.next() }
            #expect(error?.message.contains("could not keep") == true)
        }
        store.snapshots.loseAll(true)
        await expectError(.storeBusy) { try await allPages(container.pages(as: ContactValue.self, for: .ample)) }
        try await container.close()
    }

    // MARK: Limits

    @Test func theNinthLoopIsRefused() async throws {
        try await PinPlace.sqlite.withContacts(10) { container, _ in
            let pages = container.pages(as: ContactValue.self, size: 4, for: .ample)
            var iterators = (0..<8).map { _ in pages.makeAsyncIterator() }
            for index in iterators.indices { _ = try await iterators[index].next() }
            #expect(container.pageSnapshots.openCount == 8)
            let error = await expectError(.storeBusy) { try await allPages(pages) }
            #expect(error?.message.contains("8 loops") == true)
            iterators.removeLast()
            #expect(try await allPages(pages).count == 3)
            #expect(container.pageSnapshots.openCount == 7)
        }
    }

    /// Timers stand still while the system sleeps.
    @Test func loopsWhoseLimitPassedUnnoticedDoNotCount() async throws {
        let (container, timers) = try await timed()
        let pages = container.pages(as: ContactValue.self, size: 4)
        var iterators = (0..<8).map { _ in pages.makeAsyncIterator() }
        for index in iterators.indices { _ = try await iterators[index].next() }
        await expectError(.storeBusy) { try await allPages(pages) }
        timers.pass(.seconds(60))
        #expect(try await allPages(pages).count == 3 && container.pageSnapshots.openCount == 0)
        for index in iterators.indices { await expectError(.pagesExpired) { try await iterators[index].next() } }
        try await container.close()
    }

    @Test func anInvalidRequestOpensNothing() async throws {
        try await PinPlace.memory.withContacts { container, _ in
            await expectError(.invalidRequest) {
                try await allPages(container.pages(as: ContactValue.self, size: 0, for: .ample))
            }
            await expectError(.invalidRequest) {
                try await allPages(container.pages(as: ContactValue.self, ObjectRequest(limit: -1)))
            }
            #expect(container.pageSnapshots.openCount == 0)
            let none = try await allPages(container.pages(as: ContactValue.self, ObjectRequest(limit: 0)))
            #expect(none.isEmpty)
        }
    }

    @Test func aStoreWithoutSnapshotsRefusesPages() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url.appending(component: "contacts")
        let location = StoreLocation.custom(folder.path) { options in
            let store = try JSONFolderStore(folder, options)
            return (store, store.startup)
        }
        let container = try await PersistentContainer(model: .contacts, store: location)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
        let error = await expectError(.snapshotsNotKept) {
            try await allPages(container.pages(as: ContactValue.self, for: .ample))
        }
        #expect(error?.message.contains("ObjectRequest.after") == true)
        #expect(container.pageSnapshots.openCount == 0)
        try await container.close()
    }

    /// The log cannot be emptied during the loop, and is emptied afterwards.
    @Test func aLongLogIsReportedWithTheLoop() async throws {
        let directory = try TemporaryDirectory()
        var options = SQLiteStore.Options.contacts(directory.store)
        options.logLimit = 50
        let store = try SQLiteStore.open(options)
        let container = PersistentContainer(options.layout, store, startup: store.startup)
        let contacts = try container.dataSource(ContactDataSource.self)
        var failures = container.failures.makeAsyncIterator()
        func write(_ count: Int) async throws {
            for number in 0..<count {
                let name = String(repeating: "x", count: 40_000)
                try await contacts.add(ContactData(uid: "uid-\(number % 4)", name: name + "\(number)"))
            }
        }
        try await contacts.add(contactList(0..<10))
        var iterator = Optional(container.pages(as: ContactValue.self, size: 2, for: .ample).makeAsyncIterator())
        #expect(try await iterator?.next()?.count == 2)
        try await write(200)
        let length = store.counters.walBytes
        let failure = try #require(await failures.next())
        #expect(failure.error.code == .readerBlocksCheckpoint)
        #expect(failure.error.message.contains("A read of a loop over pages"))
        iterator = nil
        try await write(200)
        #expect(store.counters.walBytes < length / 2)
        try await container.close()
        try expectIntact(directory.store)
    }
}

/// Calls a closure when the first value of a test is made.
private struct SlowContact: ManagedObjectConvertible {
    static let whenMade = Shared<(@Sendable () -> Void)?>(nil)

    init(_ contact: ContactEntity) {
        Self.whenMade.value?()
        Self.whenMade.value = nil
    }
}
