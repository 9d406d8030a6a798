import CoreDataSource
import Dispatch
import Foundation
import RowStore
import Testing

/// A store whose commits can be made to fail, or to wait until the test lets them go on.
final class FaultyStore: PersistentStore {
    private let base: any PersistentStore
    private let failure = Guarded<DataSourceError?>(nil)
    private let nextFailure = Guarded<DataSourceError?>(nil)
    private let readFailure = Guarded<(error: DataSourceError, reads: Int)?>(nil)
    private let rowFailure = Guarded<DataSourceError?>(nil)
    private let gate = Guarded<DispatchSemaphore?>(nil)
    private let readGate = Guarded<(arrived: AsyncStream<Void>.Continuation, semaphore: DispatchSemaphore)?>(nil)
    private let arrival = Guarded<AsyncStream<Void>.Continuation?>(nil)
    private let queries = Guarded<[RowQuery]>([])
    private let resetting = Guarded<(@Sendable () -> Void)?>(nil)
    private let inRead = Guarded<(@Sendable () -> Void)?>(nil)
    private let afterRead = Guarded<(@Sendable () -> Void)?>(nil)
    private let wasReset = Guarded<(@Sendable () -> Void)?>(nil)
    private let onMain = Guarded(false)
    private let commits = Guarded((underWay: 0, wasClosed: false))
    private let groups = Guarded<[[ChangeSet]]>([])
    private let lockedEntities = Guarded<Set<Int>>([])
    private let feedFailure = Guarded<DataSourceError?>(nil)
    private let leaseFailure = Guarded<DataSourceError?>(nil)
    private let reserving = Guarded<(@Sendable () -> DataSourceError?)?>(nil)
    private let hidesOutsideWrites = Guarded(false)
    /// The faults of snapshots.
    let snapshots = SnapshotFaults()

    let longestValue: Int

    init(_ layout: ModelLayout, longestValue: Int = RowSnapshot.longestValue) {
        base = InMemoryStore(layout)
        self.longestValue = longestValue
    }

    init(over base: any PersistentStore) {
        self.base = base
        longestValue = base.longestValue
    }

    /// Whether a commit ever ran on the main thread.
    var wasCommittedOnMainThread: Bool { onMain.withLock { $0 } }

    /// Whether the store was ever closed during a commit.
    var wasClosedDuringACommit: Bool { commits.withLock { $0.wasClosed } }

    /// The numbers of the saves of each group that was committed.
    var committedGroups: [[SaveNumber]] { committedChanges.map { $0.map(\.saveNumber) } }

    /// The saves of each group that was committed.
    var committedChanges: [[ChangeSet]] { groups.withLock { $0 } }

    /// Makes every commit fail until that is switched off.
    func fail(with error: DataSourceError?) { failure.withLock { $0 = error } }

    /// Makes the next commit fail.
    func failOnce(with error: DataSourceError) { nextFailure.withLock { $0 = error } }

    /// Lets saves of an entity's rows wait for another program until that is switched off.
    func lock(_ entity: Int, _ isLocked: Bool = true) {
        lockedEntities.withLock { if isLocked { $0.insert(entity) } else { $0.remove(entity) } }
    }

    /// Makes every look at what others have saved fail until that is switched off.
    func failFeed(with error: DataSourceError?) { feedFailure.withLock { $0 = error } }

    /// Makes every check of the leases fail until that is switched off, as if the store were away. Leases are still taken.
    func failLeaseChecks(with error: DataSourceError?) { leaseFailure.withLock { $0 = error } }

    /// Calls this before keys are reserved, and fails with what it returns.
    func whenReserving(_ body: @escaping @Sendable () -> DataSourceError?) { reserving.withLock { $0 = body } }

    /// What there is for a store that others have open too. It calls nobody when others have written.
    var sharing: (any StoreSharing)? {
        base.sharing.map { sharing in
            FaultySharing(
                base: sharing, feedFailure: { self.feedFailure.withLock { $0 } },
                leaseFailure: { self.leaseFailure.withLock { $0 } },
                reservationFailure: { self.reserving.withLock { $0 }?() })
        }
    }

    var canBeWrittenOutside: Bool { base.canBeWrittenOutside }

    func noticeOutsideWrites() -> Bool { hidesOutsideWrites.withLock { $0 } ? false : base.noticeOutsideWrites() }

    /// Lets nobody notice writes of other programs until that is switched off.
    func hideOutsideWrites(_ hides: Bool) { hidesOutsideWrites.withLock { $0 = hides } }

    /// Makes every read fail until that is switched off, after so many that do not.
    func failReads(with error: DataSourceError?, after reads: Int = 0) {
        readFailure.withLock { $0 = error.map { ($0, reads) } }
    }

    /// Makes reads that have begun fail, too, when they read rows.
    func failRows(with error: DataSourceError?) { rowFailure.withLock { $0 = error } }

    /// Makes the next read wait until the closure that is returned is called; the stream ends when the read is there.
    func holdNextRead() -> (arrived: AsyncStream<Void>, release: @Sendable () -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        let arrived = AsyncStream<Void>.makeStream()
        readGate.withLock { $0 = (arrived.continuation, semaphore) }
        return (arrived.stream, { semaphore.signal() })
    }

    /// The queries that rows were read by, since they were last taken.
    func takeQueries() -> [RowQuery] {
        queries.withLock { queries in
            defer { queries = [] }
            return queries
        }
    }

    /// A stream that ends when the next commit begins.
    func commitArrives() -> AsyncStream<Void> {
        let stream = AsyncStream<Void>.makeStream()
        arrival.withLock { $0 = stream.continuation }
        return stream.stream
    }

    /// Makes every commit wait until the closure that is returned is called.
    func holdCommits() -> @Sendable () -> Void {
        let semaphore = DispatchSemaphore(value: 0)
        gate.withLock { $0 = semaphore }
        return {
            self.gate.withLock { if $0 === semaphore { $0 = nil } }
            for _ in 0..<1000 { semaphore.signal() }
        }
    }

    var firstFreeKey: Int64 { base.firstFreeKey }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        commits.withLock { $0.underWay += 1 }
        defer { commits.withLock { $0.underWay -= 1 } }
        if Thread.isMainThread { onMain.withLock { $0 = true } }
        arrival.withLock { $0 }?.finish()
        gate.withLock { $0 }?.wait()
        let next = nextFailure.withLock { next in
            defer { next = nil }
            return next
        }
        if let error = next ?? failure.withLock({ $0 }) { throw error }
        let free = places(of: group)
        var outcome = try base.commit(free.map { group[$0] })
        outcome.refused = Dictionary(uniqueKeysWithValues: outcome.refused.map { (free[$0.key], $0.value) })
        for place in Set(group.indices).subtracting(free) {
            outcome.postponed[place] = DataSourceError(.storeBusy, "Rows are locked.")
        }
        groups.withLock { $0.append(free.map { group[$0] }) }
        return outcome
    }

    /// Those of the saves that do not wait.
    private func places(of group: [ChangeSet]) -> [Int] {
        let locked = lockedEntities.withLock { $0 }
        var waitingOrigins: Set<Int> = []
        for save in group where save.entities.contains(where: { locked.contains($0.entity) }) {
            waitingOrigins.insert(save.origin)
        }
        return group.indices.filter { !waitingOrigins.contains(group[$0].origin) }
    }

    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        let held = readGate.withLock { gate in
            defer { gate = nil }
            return gate
        }
        held?.arrived.finish()
        held?.semaphore.wait()
        let failure = readFailure.withLock { failure in
            failure?.reads -= 1
            return failure.flatMap { $0.reads < 0 ? $0.error : nil }
        }
        if let failure { throw failure }
        let result = try base.read(isolation) { reader throws(DataSourceError) -> R in
            FaultyStore.take(inRead)?()
            return try body(
                RecordingReader(base: reader, failure: { self.rowFailure.withLock { $0 } }) { query in
                    self.queries.withLock { $0.append(query) }
                })
        }
        FaultyStore.take(afterRead)?()
        return result
    }

    private static func take(_ hook: Guarded<(@Sendable () -> Void)?>) -> (@Sendable () -> Void)? {
        hook.withLock { hook in
            defer { hook = nil }
            return hook
        }
    }

    /// Notes by which queries rows are read.
    private struct RecordingReader: StoreReader {
        let base: any StoreReader
        let failure: () -> DataSourceError?
        let note: (RowQuery) -> Void

        var position: Int64 { base.position }

        func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
            note(query)
            if let error = failure() { throw error }
            try base.forEachRow(query, body)
        }

        func count(_ query: RowQuery) throws(DataSourceError) -> Int { try base.count(query) }

        func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation { try base.explain(query) }

        func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
            try base.row(entity: entity, key: key)
        }

        func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
            try base.row(entity: entity, constraint: constraint, values: values)
        }
    }

    /// Calls the body in the middle of every reset, on the root's queue.
    func duringReset(_ body: @escaping @Sendable () -> Void) { resetting.withLock { $0 = body } }

    /// Calls the body once, when the next read has begun. What a snapshot shows is settled then.
    func duringNextRead(_ body: @escaping @Sendable () -> Void) { inRead.withLock { $0 = body } }

    /// Calls the body once, after the next read has ended and before its result is used.
    func afterNextRead(_ body: @escaping @Sendable () -> Void) { afterRead.withLock { $0 = body } }

    /// Calls the body after every reset, before the root gets its result.
    func afterReset(_ body: @escaping @Sendable () -> Void) { wasReset.withLock { $0 = body } }

    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        resetting.withLock { $0 }?()
        if let error = failure.withLock({ $0 }) { throw error }
        let startup = try base.reset(didEmpty: didEmpty)
        wasReset.withLock { $0 }?()
        return startup
    }

    func willClose() { base.willClose() }

    func close() {
        commits.withLock { if $0.underWay > 0 { $0.wasClosed = true } }
        base.close()
    }

    func closeIfIdle() -> Bool {
        close()
        return true
    }
}

/// What there is for a shared store, of which looks at what others have saved, checks of leases, and reservations of keys, can fail.
private struct FaultySharing: StoreSharing {
    let base: any StoreSharing
    let feedFailure: @Sendable () -> DataSourceError?
    let leaseFailure: @Sendable () -> DataSourceError?
    let reservationFailure: @Sendable () -> DataSourceError?

    var member: StoreMember { base.member }
    var firstPosition: Int64 { base.firstPosition }
    var leaseTimes: LeaseTimes { base.leaseTimes }
    func listen(_ handler: @escaping @Sendable () -> Void) {}

    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        if let error = reservationFailure() { throw error }
        return try base.reserveKeys(count)
    }

    func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage {
        if let error = feedFailure() { throw error }
        return try base.readFeed(after: position)
    }

    func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage {
        if let error = feedFailure() { throw error }
        return try base.readSaves(after: position)
    }

    func leases() throws(DataSourceError) -> LeaseTable { try base.leases() }

    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) {
        try base.takeLeases(entities, for: source)
    }

    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable { try base.releaseLeases(entities) }

    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable {
        if let error = leaseFailure() { throw error }
        return try base.settleLeases(answered: answered, withdrawn: withdrawn)
    }
}

extension FaultyStore: SnapshotStore {
    func openSnapshot(named name: String) throws(DataSourceError) -> any StoreSnapshot {
        guard let base = base as? any SnapshotStore else { throw DataSourceError.storeClosed }
        return snapshots.wrap(try base.openSnapshot(named: name))
    }

    var logByteCount: Int? { (base as? any SnapshotStore)?.logByteCount }

    func checkForOutsideWrites() -> Bool? {
        hidesOutsideWrites.withLock { $0 } ? nil : (base as? any SnapshotStore)?.checkForOutsideWrites()
    }

    var hasUnreportedOutsideWrite: Bool? { (base as? any SnapshotStore)?.hasUnreportedOutsideWrite }

    func emptyLogBesideSnapshots() {
        (base as? any SnapshotStore)?.emptyLogBesideSnapshots()
        snapshots.didEmptyLog()
    }
}

extension PersistentContainer {
    /// A container whose store can be made to fail.
    static func faulty(
        _ model: ManagedObjectModel = .chat, longestValue: Int = RowSnapshot.longestValue,
        configuration: Configuration = Configuration()
    ) -> (container: PersistentContainer, store: FaultyStore) {
        let layout = ModelLayout(model)
        let store = FaultyStore(layout, longestValue: longestValue)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: configuration)
        return (container, store)
    }

    /// Accepts a save of senders without values, in the model of the chat.
    @discardableResult
    func acceptSenders(_ keys: Range<Int64>, origin: Int, isAwaited: Bool = false) throws -> SaveNumber {
        let source = SaveSource("\(origin)", origin: origin)
        let sender = try #require(stack.layout.entity(named: "Sender"))
        return try stack.root.accept(.inserting(keys, sender), from: source, isAwaited: isAwaited)
    }
}

let noRoom = DataSourceError(.diskFull, "There is no room left. Free some space and save again.")

extension ChangeSet {
    /// A save of one row that has no value.
    static func inserting(_ key: Int64, _ entity: EntityLayout) -> ChangeSet { inserting(key..<key + 1, entity) }

    /// A save of rows that have no values.
    static func inserting(_ keys: Range<Int64>, _ entity: EntityLayout) -> ChangeSet {
        var changes = EntityChanges(entity: entity.index)
        changes.inserted = keys.map { StoredRow(key: $0, row: RowSnapshot(columnCount: entity.columns.count)) }
        return ChangeSet(entities: [changes])
    }
}
