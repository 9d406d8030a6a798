import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import JSONFolderStore
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// How a pin ends, and what it holds up until then.
@MainActor
struct PinEndTests {
    /// A container in memory whose timers run when the test says so.
    private func timed() throws -> (container: PersistentContainer, timers: ManualTimers) {
        let layout = ModelLayout(.contacts)
        let timers = ManualTimers()
        let container = PersistentContainer(
            layout, InMemoryStore(layout), startup: StoreStartup(reason: .firstLaunch),
            scheduling: timers.scheduling)
        return (container, timers)
    }

    @Test func aPinEndsAtItsLimitAndIsReported() async throws {
        let (container, timers) = try timed()
        let contacts = try container.dataSource(ContactDataSource.self)
        var failures = container.failures.makeAsyncIterator()
        try await contacts.add(contactList(0..<2))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        try container.main.pin()
        try await contacts.add(ContactData(uid: "uid-1", name: "new"), waitFor: .main)
        #expect(held.name == "name 1")
        timers.pass(.seconds(60))
        timers.fire()
        let failure = try #require(await failures.next())
        #expect(failure.kind == .store && failure.error.code == .pinExpired)
        #expect(held.name == "new" && container.main.pinned == nil)
        try await container.close()
    }

    /// On a server, no session keeps its transaction open afterwards.
    @Test(arguments: PinPlace.all)
    func aPinEndsAtItsLimitInEachKindOfStore(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let (timers, limit) = (ManualTimers(), Duration.milliseconds(10))
        let server = try place == .server ? SharedPlace(.postgreSQL) : nil
        let container = try place.open(directory.store, on: server, timers.scheduling(only: limit))
        let contacts = try container.dataSource(ContactDataSource.self)
        var failures = container.failures.makeAsyncIterator()
        try await contacts.add(contactList(0..<2))
        try container.main.pin(for: limit)
        try await contacts.add(ContactData(uid: "uid-1", name: "new"))
        #expect(try container.main.names["uid-1"] == "name 1")
        let session = try server?.session()
        #expect(try session.map { try openTransactionCount($0) } != 0)
        timers.pass(limit)
        timers.fire()
        let failure = try #require(await failures.next())
        #expect(failure.kind == .store && failure.error.code == .pinExpired)
        #expect(container.main.pinned == nil)
        #expect(try container.main.names["uid-1"] == "new")
        // The connection that kept the state is closed on another thread.
        while let session, try openTransactionCount(session) > 0 { await Task.yield() }
        try await container.close()
        if place.isFile { try expectIntact(directory.store) }
    }

    /// The number of sessions of the database that have a transaction open and run no statement.
    private func openTransactionCount(_ session: PostgreSQLSession) throws -> Int {
        let rows = try session.run(
            """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'
            """)
        return try #require(rows.first?.first.flatMap { $0.flatMap { Int($0) } })
    }

    /// Timers stand still while the system sleeps.
    @Test func aLimitThatPassesUnnoticedEndsThePinAtTheNextRead() async throws {
        let (container, timers) = try timed()
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<2))
        var failures = container.failures.makeAsyncIterator()
        try container.main.pin()
        try await contacts.add(ContactData(uid: "uid-1", name: "new"), waitFor: .main)
        timers.pass(.seconds(59))
        #expect(try container.main.names["uid-1"] == "name 1")
        timers.pass(.seconds(1))
        #expect(container.main.pinned == nil)
        #expect(try container.main.names["uid-1"] == "new")
        #expect(try #require(await failures.next()).error.code == .pinExpired)
        try container.main.pin()
        timers.pass(.seconds(60))
        try container.main.pin()
        #expect(container.main.pinned != nil)
        try await container.close()
    }

    @Test func anotherCallBeginsANewLimit() async throws {
        let (container, timers) = try timed()
        try container.main.pin(for: .seconds(10))
        try container.main.pin(for: .seconds(60_000))
        #expect(timers.delays == [.seconds(10)])
        timers.pass(.seconds(10))
        timers.fire()
        // The check finds that the pin has not expired, and is set again.
        while timers.delays.isEmpty { await Task.yield() }
        let delay = try #require(timers.delays.first)
        #expect(container.main.pinned != nil && delay > .seconds(30_000))
        for _ in 0..<10 {
            try container.main.advance()
            container.main.unpin()
            try container.main.pin(for: .seconds(70_000))
        }
        #expect(timers.delays.count == 1)
        try await container.close()
    }

    @Test func thePinTellsWhatItHoldsUp() async throws {
        let before = Date()
        try await PinPlace.sqlite.withContacts { container, contacts in
            try container.main.pin(for: .seconds(7000))
            let pinned = try #require(container.main.pinned)
            #expect(pinned.since >= before && pinned.limit == .seconds(7000) && pinned.waitingByteCount == 0)
            try await contacts.add(contactList(0..<900) { "new \($0)" })
            let later = try #require(container.main.pinned)
            #expect(later.waitingByteCount > 900 && later.logByteCount ?? 0 > pinned.logByteCount ?? 0)
            #expect("\(later)".contains("waiting saves: \(later.waitingByteCount) bytes, log: "))
        }
    }

    /// The log cannot be emptied while the main context is pinned. It is emptied afterwards.
    @Test func aLongLogIsReportedWithThePin() async throws {
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
        try container.main.pin(for: .ample)
        try await write(200)
        let length = store.counters.walBytes
        #expect(length > 200 * 40_000)
        let failure = try #require(await failures.next())
        #expect(failure.error.code == .readerBlocksCheckpoint)
        #expect(failure.error.message.contains("A read of the pinned main context"))
        #expect(failure.error.message.contains("Call unpin()"))
        #expect(try container.main.count(ContactEntity.self) == 0)
        container.main.unpin()
        try await write(200)
        #expect(store.counters.walBytes < length / 2)
        try await container.close()
        try expectIntact(directory.store)
    }

    /// Each state is copied into the main file, so that the next commit writes at the beginning of the log.
    @Test(arguments: [false, true])
    func theLogStartsAnewUnderAContextThatOnlyAdvances(isShared: Bool) async throws {
        let directory = try TemporaryDirectory()
        var options = SQLiteStore.Options.contacts(directory.store, isShared: isShared)
        options.logLimit = 50
        let store = try SQLiteStore.open(options)
        let container = PersistentContainer(options.layout, store, startup: store.startup)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<4))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        try container.main.pin(for: .ample)
        var written = 0
        for round in 0..<60 {
            for number in 0..<4 {
                let name = String(repeating: "x", count: 40_000)
                try await contacts.add(ContactData(uid: "uid-\(number)", name: name + "\(round)"))
                written += 40_000
            }
            #expect(round == 0 || held.name.hasSuffix("x\(round - 1)"))
            try container.main.advance()
            container.stack.root.waitForQueue()
            #expect(held.name.hasSuffix("x\(round)"))
            #expect(
                try container.main.values(ObjectRequest<ContactEntity>(), \.name).allSatisfy {
                    $0.hasSuffix("x\(round)")
                })
        }
        let logByteCount = try #require(container.main.pinned?.logByteCount)
        #expect(logByteCount < written / 5, "\(logByteCount) bytes after \(written)")
        try await container.close()
        try expectIntact(directory.store)
    }

    @Test func waitingForMainDoesNotWaitForThePin() async throws {
        try await PinPlace.sqlite.withContacts { container, contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            try container.main.pin(for: .ample)
            for number in 5..<50 { try await contacts.add(contactList(number..<number + 1), waitFor: .main) }
            _ = await container.discardPending()
            #expect(list.snapshot.count == 5)
        }
    }

    // MARK: Close and reset

    @Test(arguments: PinPlace.all)
    func aPinEndsWithTheContainer(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let container = try await place.open(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        try container.main.pin(for: .ample)
        try await contacts.add(ContactData(uid: "uid-1", name: "new"))
        try await container.close()
        expectError(.storeClosed) { try container.main.count(ContactEntity.self) }
        expectError(.storeClosed) { try container.main.pin(for: .ample) }
        while held.name != "new" { await Task.yield() }
        #expect(container.main.pinned == nil)
        if place.isFile { try expectIntact(directory.store) }
    }

    @Test(arguments: PinPlace.all)
    func aPinEndsWithAReset(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            try container.main.pin(for: .ample)
            try await contacts.add(contactList(5..<7))
            try await container.reset()
            #expect(container.main.pinned == nil && held.isDeleted)
            #expect(try container.main.count(ContactEntity.self) == 0)
            await container.mainTier.waitForLists()
            #expect(list.snapshot.isEmpty)
            try await contacts.add(contactList(0..<3), waitFor: .main)
            #expect(try container.main.count(ContactEntity.self) == 3 && list.snapshot.count == 3)
            try container.main.pin(for: .ample)
            #expect(container.main.pinned != nil)
        }
    }

    /// The reset is refused because another process has the store open.
    @Test(arguments: SharedPlace.Kind.all)
    func aRefusedResetKeepsThePin(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo { one, other in
            let contacts = try one.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            try one.main.pin(for: .ample)
            try await contacts.add(contactList(5..<7))
            await expectError(.storeInUse) { try await one.reset() }
            #expect(one.main.pinned != nil)
            #expect(try one.main.names.count == 5)
        }
    }

    /// A context that the app retains after its container neither keeps the file open nor can be pinned.
    @Test func aPinEndsWhenTheContainerIsReleased() async throws {
        let directory = try TemporaryDirectory()
        var container: PersistentContainer? = try await PinPlace.sqlite.open(directory.store)
        var main = container?.main
        try main?.pin(for: .ample)
        container = nil
        expectError(.storeClosed) { try main?.pin(for: .ample) }
        #expect(main?.pinned == nil)
        main = nil
        let again = try await PinPlace.sqlite.open(directory.store)
        try await again.close()
        try expectIntact(directory.store)
    }

    /// Each state leaves its connection for the next.
    @Test func statesDoNotPileUpConnections() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PinPlace.sqlite.open(directory.store)
        let contacts = try container.dataSource(ContactDataSource.self)
        try container.main.pin(for: .ample)
        let before = connections(to: directory.store)
        for number in 0..<50 {
            try await contacts.add(contactList(number..<number + 1))
            try container.main.advance()
            // A second pin keeps the same state.
            for _ in 0..<3 { try container.main.pin(for: .ample) }
            #expect(try container.main.count(ContactEntity.self) == number + 1)
        }
        #expect(connections(to: directory.store) < before + 8)
        try await container.close()
    }

    /// The number of times that this process has the file open; 0 if the system does not tell.
    private func connections(to url: URL) -> Int {
        let folder = "/proc/self/fd"
        let path = url.resolvingSymlinksInPath().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
    }

    // MARK: Other stores

    @Test func aStoreWithoutSnapshotsRefusesThePin() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url.appending(component: "contacts")
        let location = StoreLocation.custom(folder.path) { options in
            let store = try JSONFolderStore(folder, options)
            return (store, store.startup)
        }
        let container = try await PersistentContainer(model: .contacts, store: location)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<2))
        expectError(.snapshotsNotKept) { try container.main.pin(for: .ample) }
        #expect(container.main.pinned == nil)
        try container.main.advance()
        container.main.unpin()
        #expect(try container.main.count(ContactEntity.self) == 2)
        try await container.close()
    }

    @Test func aStoreThatIsOpenForReadingOnlyCanBePinned() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PinPlace.sqlite.open(directory.store)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try await container.close()
        let reading = try await PinPlace.sqlite.open(directory.store, .init(isReadOnly: true))
        try reading.main.pin(for: .ample)
        #expect(try reading.main.count(ContactEntity.self) == 2)
        try await reading.close()
    }
}
