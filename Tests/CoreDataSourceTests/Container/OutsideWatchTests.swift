import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import Testing

/// While nothing happens, the container watches the store and makes no checks.
@MainActor
struct OutsideWatchTests {
    /// A container whose store and timers do what the test says.
    private struct Idle {
        let store = WatchedStore(ModelLayout(.contacts))
        let timers = ManualTimers()
        let container: PersistentContainer

        @MainActor init() throws {
            container = PersistentContainer(
                ModelLayout(.contacts), store, startup: StoreStartup(reason: .firstLaunch), configuration: .init(),
                scheduling: timers.scheduling)
            _ = try container.dataSource(ContactDataSource.self).fetch(ContactEntity.self)
        }

        var isChecking: Bool { timers.isChecking }

        /// Runs timers until the store is watched.
        func rest() {
            for _ in 0..<10 where isChecking { timers.fire() }
            #expect(!isChecking)
            #expect(store.isWatched)
        }
    }

    @Test func anIdleContainerMakesNoChecks() async throws {
        let idle = try Idle()
        let before = idle.store.checkCount
        idle.rest()
        let count = idle.store.checkCount
        #expect(count - before == 5)
        for _ in 0..<20 { idle.timers.fire() }
        #expect(idle.store.checkCount == count)
        // Each event starts a few checks, also events of the container's own saves.
        for _ in 0..<3 {
            let before = idle.store.checkCount
            idle.store.notifyWatch()
            idle.store.notifyWatch()
            #expect(idle.isChecking)
            #expect(!idle.store.isWatched)
            idle.rest()
            #expect(idle.store.checkCount - before == 4)
        }
        try await idle.container.close()
    }

    /// Only the beginning of a watch takes SQLite's write lock.
    @Test func anAppThatSavesEverySecondTakesNoLockForChecks() async throws {
        let idle = try Idle()
        idle.rest()
        let contacts = try idle.container.dataSource(ContactDataSource.self)
        let before = idle.store.watchAttemptCount
        for number in 0..<20 {
            try await contacts.add(ContactData(uid: "uid-\(number)", name: "new"))
            idle.store.notifyWatch()
            for _ in 0..<2 { idle.timers.fire() }
        }
        #expect(idle.store.watchAttemptCount == before)
        idle.rest()
        #expect(idle.store.watchAttemptCount == before + 1)
        try await idle.container.close()
    }

    /// The write of another program may be visible only some time after its event.
    @Test func aWriteThatIsFoundStartsTheCountAgain() async throws {
        let idle = try Idle()
        idle.rest()
        idle.store.notifyWatch()
        for _ in 0..<3 { idle.timers.fire() }
        idle.store.hasOutsideWrite.value = true
        idle.timers.fire()
        #expect(idle.isChecking)
        #expect(!idle.store.hasOutsideWrite.value)
        for _ in 0..<3 { idle.timers.fire() }
        #expect(idle.isChecking)
        idle.rest()
        try await idle.container.close()
    }

    @Test func theChecksGoOnIfTheStoreCannotBeWatched() async throws {
        let idle = try Idle()
        idle.store.canBeWatched.value = false
        let before = idle.store.checkCount
        for number in 1...50 {
            idle.timers.fire()
            #expect(idle.store.checkCount - before == number)
            #expect(idle.isChecking)
        }
        idle.store.canBeWatched.value = true
        idle.rest()
        try await idle.container.close()
    }

    @Test func theChecksGoOnIfAWriteIsNoticedBeforeTheWatchIsKept() async throws {
        let idle = try Idle()
        idle.store.notifiesAtOnce.value = true
        for _ in 0..<50 {
            idle.timers.fire()
            #expect(idle.isChecking)
            #expect(!idle.store.isWatched)
        }
        idle.store.notifiesAtOnce.value = false
        idle.rest()
        try await idle.container.close()
    }

    @Test func theWatchEndsWithTheContainer() async throws {
        let idle = try Idle()
        idle.rest()
        try await idle.container.close()
        #expect(!idle.store.isWatched)
        idle.store.notifyWatch()
        #expect(!idle.isChecking)
        // Nobody closes the second container.
        let (store, timers) = try { () throws in
            let released = try Idle()
            released.rest()
            return (released.store, released.timers)
        }()
        while store.isWatched { await Task.yield() }
        store.notifyWatch()
        #expect(!timers.isChecking)
    }

    enum OtherProgram: String, CaseIterable {
        case commits = "SELECT 1"
        case truncatesTheLog = "PRAGMA wal_checkpoint(TRUNCATE)"
        case restartsTheLog = "PRAGMA wal_checkpoint(RESTART)"
        case vacuums = "VACUUM"
    }

    /// Nothing but the system's event starts the check.
    @Test(arguments: OtherProgram.allCases)
    func aWriteAfterAnIdlePhaseIsShown(by program: OtherProgram) async throws {
        let directory = try TemporaryDirectory()
        let layout = ModelLayout(.contacts)
        let identity = StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1")
        let store = try SQLiteStore.open(SQLiteStore.Options(url: directory.store, layout: layout, identity: identity))
        let timers = ManualTimers()
        let container = PersistentContainer(
            layout, store, startup: store.startup, configuration: .init(), scheduling: timers.scheduling)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<3))
        let shown = try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)])
        let raw = try RawConnection(directory.store)
        for name in ["one", "two", "three"] {
            while timers.isChecking {
                timers.fire()
                await Task.yield()
            }
            _ = try raw.column(program.rawValue)
            try raw.execute("UPDATE ContactEntity SET name = '\(name)' WHERE uid = 'uid-1'")
            while shown[1].name != name {
                timers.fire()
                await Task.yield()
            }
        }
        try await container.close()
        try expectIntact(directory.store)
    }
}

extension ManualTimers {
    /// Whether the next check for writes of other programs is scheduled.
    fileprivate var isChecking: Bool { delays.contains(.milliseconds(500)) }
}

/// A store in memory that other programs seem to write, and that counts the checks.
private final class WatchedStore: SnapshotStore {
    private let rows: InMemoryStore
    private let checks = Shared(0)
    private let handler = Shared<(@Sendable () -> Void)?>(nil)
    private let watchCount = Shared(0)
    private let watchAttempts = Shared(0)
    let hasOutsideWrite = Shared(false)
    let canBeWatched = Shared(true)
    /// Whether the handler is called before the watch is returned.
    let notifiesAtOnce = Shared(false)

    init(_ layout: ModelLayout) { rows = InMemoryStore(layout) }

    var checkCount: Int { checks.value }
    var watchAttemptCount: Int { watchAttempts.value }
    var isWatched: Bool { watchCount.value > 0 }

    /// Calls the handler of the last watch, even if the watch has ended.
    func notifyWatch() { handler.value?() }

    var canBeWrittenOutside: Bool { true }

    func noticeOutsideWrites() -> Bool {
        checks.update { $0 += 1 }
        defer { hasOutsideWrite.value = false }
        return hasOutsideWrite.value
    }

    func watchForOutsideWrites(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        watchAttempts.update { $0 += 1 }
        guard canBeWatched.value else { return nil }
        self.handler.value = handler
        watchCount.update { $0 += 1 }
        if notifiesAtOnce.value { handler() }
        return StoreWatch { [watchCount] in watchCount.update { $0 -= 1 } }
    }

    var firstFreeKey: Int64 { rows.firstFreeKey }
    var logByteCount: Int? { nil }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome { try rows.commit(group) }

    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try rows.read(isolation, body)
    }

    func openSnapshot(named name: String) throws(DataSourceError) -> any StoreSnapshot {
        try rows.openSnapshot(named: name)
    }

    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup { try rows.reset(didEmpty: didEmpty) }

    func close() { rows.close() }
}
