#if PostgreSQL
internal import Foundation
package import RowStore

/// A store in a PostgreSQL database, for any number of processes on any number of machines.
///
/// The store's connections: one for writing, one for early writes, one for leases, one for the saves of other members, one for
/// the saves of all members if the app follows these saves, one for notifications, up to eight for reading, one for reading on
/// the main thread, and one for each open snapshot. A pinned main context has one snapshot, and two for a moment when it moves
/// on.
package final class PostgreSQLStore: PersistentStore {
    package typealias Options = PostgreSQLOptions

    /// The parts that belong to one generation of the store.
    private struct State {
        var writer: Writer?
        var schema: PostgreSQLSchema
        var firstPosition: Int64
    }

    package let startup: StoreStartup
    package var member: StoreMember { membership.member }
    private let membership: Membership
    package let counters = PostgreSQLCounters()
    let follower: StoreFollower
    package let keepsHistory: Bool
    private let opening: StoreOpening
    private let state: Guarded<State>
    let leaseWriter: Guarded<LeaseWriter?>

    /// Opens the store, or makes it if there is none. A store for another model or database key is migrated or reset if
    /// the policy allows this.
    ///
    /// - Throws: `storeUnavailable` if the server cannot be reached; `permissionDenied`, `notADatabase`, `invalidRequest`,
    ///   `storeUnreadable` (a server that is too old, a database with another encoding, a connection pool in between),
    ///   `storeReadOnly` (a standby), `modelChanged`, `storeInUse`, `storeBusy`, `newerFormat`, `storeCorrupt`,
    ///   `unreadableModel`. If the call throws, an existing store is unchanged.
    package static func open(_ options: Options) throws(DataSourceError) -> PostgreSQLStore {
        let opening = StoreOpening(options: options)
        return PostgreSQLStore(opening, try opening.run())
    }

    private init(_ opening: StoreOpening, _ opened: sending StoreOpening.Result) {
        self.opening = opening
        startup = opened.startup
        keepsHistory = opened.history != nil
        membership = opened.membership
        let (schema, position) = (opened.schema, opened.position)
        follower = StoreFollower(opening.options, schema, membership: opened.membership, counters: counters)
        leaseWriter = Guarded(
            LeaseWriter(
                opening, schema, membership: opened.membership, counters: counters, heartbeats: follower.heartbeats))
        state = Guarded(
            State(
                writer: Writer(opening, opened, counters: counters, trust: follower.trustKeeper), schema: schema,
                firstPosition: position))
    }

    var options: Options { opening.options }

    // MARK: Rows

    /// Unused: the store reserves keys with ``reserveKeys(_:)``.
    package var firstFreeKey: Int64 { 1 }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        do throws(DataSourceError) {
            let outcome = try writing { (writer) throws(DataSourceError) in try writer.commit(group) }
            if !outcome.refused.isEmpty || outcome.foundOutsideWrites { follower.trustKeeper.end() }
            return outcome
        } catch {
            follower.trustKeeper.end()
            throw error
        }
    }

    private func writing<R: Sendable>(
        _ body: (Writer) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try follower.withTimeLimit { () throws(DataSourceError) in
            try state.withLockBeforeLimit { (state) throws(DataSourceError) in
                guard let writer = state.writer else { throw DataSourceError.storeClosed }
                // Notify the other members even after an error: a call that failed might have committed.
                defer { notifyOthers(writer) }
                return try body(writer)
            }
        }
    }

    package func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        guard keepsHistory else { throw DataSourceError.historyNotKept }
        return try writing { (writer) throws(DataSourceError) in
            try writer.withReconnect { connection throws(DataSourceError) in
                try connection.transaction { () throws(DataSourceError) in
                    try HistoryReader(writer.schema, connection).change(name, change)
                }
            }
        }
    }

    private func notifyOthers(_ writer: Writer?) {
        if writer?.takeEventsForOthers() == true { follower.notifyOthers() }
    }

    /// Replaces this store with an empty one, as a new generation.
    ///
    /// - Throws: `storeInUse`, which names the members, if other members have the store open.
    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        let present = { self.state.withLock { $0.writer == nil ? nil : $0.schema } }
        return try follower.pause(thenFollow: present) { () throws(DataSourceError) in
            let startup = try replace()
            didEmpty()
            return startup
        }
    }

    private func replace() throws(DataSourceError) -> StoreStartup {
        // Lock the lease writer during the reset, so that this member then takes leases of the new generation.
        let (startup, schema) = try leaseWriter.withLock { (leaseWriter) throws(DataSourceError) in
            let (startup, schema) = try state.withLock { (state) throws(DataSourceError) in
                guard let writer = state.writer else { throw DataSourceError.storeClosed }
                let (startup, opened) = try writer.reset()
                state.writer = Writer(opening, opened, counters: counters, trust: follower.trustKeeper)
                state.schema = opened.schema
                state.firstPosition = 0
                return (startup, opened.schema)
            }
            leaseWriter?.close()
            leaseWriter = LeaseWriter(
                opening, schema, membership: membership, counters: counters, heartbeats: follower.heartbeats)
            return (startup, schema)
        }
        follower.set(schema)
        return startup
    }

    /// Waits for running reads and writes, and tells the other members that this member has left.
    package func close() {
        follower.close()
        leaseWriter.withLock { leaseWriter in
            leaseWriter?.close()
            leaseWriter = nil
        }
        state.withLock { state in
            state.writer?.close()
            state.writer = nil
        }
    }
}

extension PostgreSQLStore: ScopeStore {}

extension PostgreSQLStore: FollowingStore {
    package func checkForOutsideWrites() -> Bool? {
        let isInDoubt = state.withLockIfAvailable { $0.writer?.isInDoubt ?? false }
        return isInDoubt == false ? false : nil
    }
}

extension PostgreSQLStore: EarlyWriteStore {
    /// Large enough that 1,000 rows need at most one round trip.
    package var rowsWrittenEarly: ClosedRange<Int> { 2048...8192 }
    package var earlyRows: Int { state.withLock { $0.writer?.openEarlyWrite?.rows.count ?? 0 } }

    package func write(_ rows: NewRows, for earlyWrite: EarlyWrite) -> Bool {
        state.withLock { $0.writer?.write(rows, for: earlyWrite) ?? false }
    }

    package func abandon(_ earlyWrite: EarlyWrite) {
        state.withLock { state in
            guard let writer = state.writer, writer.openEarlyWrite?.rows.earlyWrite === earlyWrite else { return }
            writer.abandonEarlyWrite()
        }
    }
}

extension PostgreSQLStore: LeaseStore {
    package var firstPosition: Int64 { state.withLock { $0.firstPosition } }

    package var layout: ModelLayout { options.layout }

    package var trust: LeaseTrust? { follower.trustKeeper.trust }

    package func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try writing { (writer) throws(DataSourceError) in try writer.reserveKeys(count) }
    }

    package func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage {
        try follower.withFeed { (feed) throws(DataSourceError) in
            var page = try feed.readFeed(after: position)
            // Find out whether the store contains a save with an unknown outcome.
            let mustReload = state.withLockIfAvailable { $0.writer?.resolveOutcomeIfReachable() ?? false } ?? false
            if mustReload { page.foundOutsideWrites = true }
            // Release the leases before contexts reload their rows. Otherwise, saves after the reload would be refused.
            if page.isOtherHistory {
                state.withLockIfAvailable { state in
                    state.writer?.recordOtherHistory()
                    notifyOthers(state.writer)
                }
            }
            return page
        }
    }

    package func leaseSnapshot() throws(DataSourceError) -> LeaseSnapshot {
        try follower.withFeed { (feed) throws(DataSourceError) in try feed.leases() }
    }

    package func changeLeases(_ change: LeaseChange) throws(DataSourceError) -> LeaseTable {
        try follower.withTimeLimit { () throws(DataSourceError) in
            let (table, isChanged) = try leaseWriter.withLockBeforeLimit { (leaseWriter) throws(DataSourceError) in
                guard let leaseWriter else { throw DataSourceError.storeClosed }
                return try leaseWriter.change(change)
            }
            if isChanged { follower.notifyOthers() }
            return table
        }
    }
}
#endif
