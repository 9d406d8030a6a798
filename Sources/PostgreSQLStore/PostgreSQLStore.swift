#if PostgreSQL
internal import Foundation
package import RowStore

/// Rows in a PostgreSQL database, for any number of processes on any number of machines.
///
/// Its connections: one writes, one more writes rows of large saves while their hooks run, one changes leases, one reads what
/// others have written, one listens, up to eight read rows, and one more reads for main.
package final class PostgreSQLStore: PersistentStore {
    package typealias Options = PostgreSQLOptions

    /// The state that belongs to one generation of the store.
    private struct State {
        var writer: Writer?
        var schema: PostgreSQLSchema
        var firstPosition: Int64
    }

    /// The result of opening the store.
    package let startup: StoreStartup
    package var member: StoreMember { membership.member }
    private let membership: Membership
    package let counters = PostgreSQLCounters()
    package let longestValue = min(RowSnapshot.longestValue, 256 << 20)
    let options: Options
    private let opening: StoreOpening
    private let state: Guarded<State>
    private let feed: Guarded<FeedReader?>
    let clerk: Guarded<LeaseClerk?>
    let listener: Guarded<Listener?>
    private let handlers = Guarded(Handlers())
    private let readers: ReaderPool
    private let trustKeeper: TrustKeeper
    private let heartbeats = Heartbeats()

    private struct Handlers {
        var news: (@Sendable () -> Void)?
        var failures: (@Sendable (DataSourceError) -> Void)?
    }

    /// Opens the store, makes it if there is none, and resets it if it was made for another model or database key and the
    /// policy allows that.
    ///
    /// - Throws: `storeUnavailable` if the server cannot be reached; `permissionDenied`, `notADatabase`, `invalidRequest`,
    ///   `storeUnreadable` (a server that is too old, a database of another encoding, a connection pool in between),
    ///   `storeReadOnly` (a standby), `modelChanged`, `storeInUse`, `storeBusy`, `newerFormat`, `storeCorrupt`,
    ///   `unreadableModel`. In every case an existing store is unchanged.
    package static func open(_ options: Options) throws(DataSourceError) -> PostgreSQLStore {
        let opening = StoreOpening(options: options)
        return PostgreSQLStore(opening, try opening.run())
    }

    private init(_ opening: StoreOpening, _ opened: sending StoreOpening.Result) {
        options = opening.options
        self.opening = opening
        startup = opened.startup
        membership = opened.membership
        let (schema, position) = (opened.schema, opened.position)
        feed = Guarded(FeedReader(opening.options, schema, own: opened.membership.member.number, heartbeats))
        clerk = Guarded(LeaseClerk(opening, schema, opened.membership, counters, heartbeats))
        let trust = TrustKeeper()
        trustKeeper = trust
        listener = Guarded(Listener(opening.options, schema, opened.membership, trust))
        readers = ReaderPool(opening.options, schema, counters)
        state = Guarded(
            State(writer: Writer(opening, opened, counters, trust), schema: schema, firstPosition: position))
    }

    // MARK: Rows

    /// Keys are reserved in the store: ``reserveKeys(_:)``.
    package var firstFreeKey: Int64 { 1 }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        do throws(DataSourceError) {
            let outcome = try writing { (writer) throws(DataSourceError) in try writer.commit(group) }
            if !outcome.refused.isEmpty || outcome.foundOutsideWrites { trustKeeper.end() }
            return outcome
        } catch {
            trustKeeper.end()
            throw error
        }
    }

    private func writing<R: Sendable>(
        _ body: (Writer) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try inTime { () throws(DataSourceError) in
            try state.withLockInTime { (state) throws(DataSourceError) in
                guard let writer = state.writer else { throw DataSourceError.storeClosed }
                // What failed may have been committed, too.
                defer { notifyOthers(writer) }
                return try body(writer)
            }
        }
    }

    private func notifyOthers(_ writer: Writer?) {
        if writer?.takeNewsForOthers() == true { listener.withLock { $0 }?.notifyOthers() }
    }

    package func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        // One state for each read: its position determines which rows must be laid over it.
        try inTime { () throws(DataSourceError) in try readers.read(body) }
    }

    /// Runs a call that may wait for the server. Main waits only for a while.
    func inTime<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try MainWait.limited(to: options.mainPatience, body)
    }

    package func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
        handlers.withLock { $0.failures = handler }
        listener.withLock { $0 }?.report(to: handler)
    }

    /// Replaces this store by an empty one, as another generation.
    ///
    /// - Throws: `storeInUse`, with their names, if others have the store open.
    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        try readers.pause { () throws(DataSourceError) in
            // Nothing follows the store meanwhile, because a follower only knows the old generation.
            let old = listener.withLock { $0 }
            old?.end()
            let result = Result { () throws(DataSourceError) in try replace() }
            let (schema, isOpen) = state.withLock { ($0.schema, $0.writer != nil) }
            if isOpen { startListening(schema) }
            let startup = try result.get()
            didEmpty()
            return startup
        }
    }

    private func startListening(_ schema: PostgreSQLSchema) {
        let new = Listener(options, schema, membership, trustKeeper)
        let (news, failures) = handlers.withLock { ($0.news, $0.failures) }
        if let news { new.listen(news) }
        if let failures { new.report(to: failures) }
        listener.withLock { $0 = new }
    }

    private func replace() throws(DataSourceError) -> StoreStartup {
        // Whoever wants leases meanwhile gets those of the new generation.
        let (startup, schema) = try clerk.withLock { (clerk) throws(DataSourceError) in
            let (startup, schema) = try state.withLock { (state) throws(DataSourceError) in
                guard let writer = state.writer else { throw DataSourceError.storeClosed }
                let (startup, opened) = try writer.reset()
                state.writer = Writer(opening, opened, counters, trustKeeper)
                state.schema = opened.schema
                state.firstPosition = 0
                return (startup, opened.schema)
            }
            clerk?.close()
            clerk = LeaseClerk(opening, schema, membership, counters, heartbeats)
            return (startup, schema)
        }
        feed.withLock { feed in
            feed?.close()
            feed = FeedReader(options, schema, own: member.number, heartbeats)
        }
        readers.set(schema)
        return startup
    }

    /// Waits for reads and writes under way, and reports to the others that this member has left.
    package func close() {
        readers.close()
        let listener = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        listener?.end()
        feed.withLock { feed in
            feed?.close()
            feed = nil
        }
        clerk.withLock { clerk in
            clerk?.close()
            clerk = nil
        }
        state.withLock { state in
            state.writer?.close()
            state.writer = nil
        }
    }

    deinit { listener.withLock { $0 }?.end() }
}

extension PostgreSQLStore: HeadStartStore {
    /// So many that there is at most one round trip for 1,000 rows.
    package var rowsWrittenAhead: ClosedRange<Int> { 2048...8192 }
    package var rowsAhead: Int { state.withLock { $0.writer?.ahead?.rows.count ?? 0 } }

    package func write(_ rows: NewRows, ahead headStart: HeadStart) -> Bool {
        state.withLock { $0.writer?.write(rows, ahead: headStart) ?? false }
    }

    package func abandon(_ headStart: HeadStart) {
        state.withLock { state in
            guard let writer = state.writer, writer.ahead?.rows.headStart === headStart else { return }
            writer.abandonHeadStart()
        }
    }
}

extension PostgreSQLStore: StoreSharing {
    package var isRemote: Bool { true }
    package var sharing: (any StoreSharing)? { self }

    package var firstPosition: Int64 { state.withLock { $0.firstPosition } }

    package var leaseTimes: LeaseTimes { options.leaseTimes }

    package var trust: LeaseTrust? { trustKeeper.trust }

    package func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
        try writing { (writer) throws(DataSourceError) in try writer.reserveKeys(count) }
    }

    package func news(after position: Int64) throws(DataSourceError) -> SharedNews {
        try feeding { (feed) throws(DataSourceError) in
            var news = try feed.news(after: position)
            // A save with an unknown outcome may or may not be there.
            let isSettled = state.withLockIfAvailable { $0.writer?.settleSoon() ?? false } ?? false
            if isSettled { news.foundOutsideWrites = true }
            // Before anybody builds on what is reloaded, so that it is not refused.
            if news.isOtherHistory {
                state.withLockIfAvailable { state in
                    state.writer?.noteOtherHistory()
                    notifyOthers(state.writer)
                }
            }
            return news
        }
    }

    func feeding<R: Sendable>(_ body: (FeedReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try inTime { () throws(DataSourceError) in
            try feed.withLockInTime { (feed) throws(DataSourceError) in
                guard let feed else { throw DataSourceError.storeClosed }
                return try body(feed)
            }
        }
    }

    package func listen(_ handler: @escaping @Sendable () -> Void) {
        handlers.withLock { $0.news = handler }
        listener.withLock { $0 }?.listen(handler)
    }
}
#endif
