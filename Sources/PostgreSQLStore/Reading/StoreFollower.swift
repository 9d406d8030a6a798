#if PostgreSQL
internal import RowStore

/// Reads a store and follows the saves of members, for a member or a read-only store.
final class StoreFollower: Sendable {
    let options: PostgreSQLOptions
    let heartbeats = Heartbeats()
    let trustKeeper = TrustKeeper()
    /// Nil for a read-only store, which is not a member.
    private let membership: Membership?
    private let readers: ReaderPool
    private let feed: Guarded<FeedReader?>
    /// Reads the saves of all members. Connects at the first read.
    private let allSaves: Guarded<FeedReader?>
    private let listener: Guarded<Listener?>
    private let handlers = Guarded(Handlers())

    private struct Handlers {
        var notifications: (@Sendable () -> Void)?
        var failures: (@Sendable (DataSourceError) -> Void)?
    }

    init(
        _ options: PostgreSQLOptions, _ schema: PostgreSQLSchema, membership: Membership?,
        counters: PostgreSQLCounters
    ) {
        self.options = options
        self.membership = membership
        readers = ReaderPool(options, schema, counters)
        feed = Guarded(FeedReader(options, schema, own: membership?.member.number, heartbeats))
        allSaves = Guarded(FeedReader(options, schema, own: nil, heartbeats))
        listener = Guarded(Listener(options, schema, membership: membership, trust: trustKeeper))
    }

    deinit { listener.withLock { $0 }?.end() }

    /// Runs a call that can wait for the server. On the main thread, the wait has a limit.
    func withTimeLimit<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try MainWait.limited(to: options.mainPatience, body)
    }

    /// Reads one state of the store. The position of the state determines which pending rows replace rows of the state.
    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try withTimeLimit { () throws(DataSourceError) in try readers.read(body) }
    }

    /// Opens a snapshot of the newest state.
    func openSnapshot() throws(DataSourceError) -> any StoreSnapshot {
        try withTimeLimit { () throws(DataSourceError) in
            let (name, keeper) = try readers.keepSnapshot()
            return PostgreSQLSnapshot(name: name, keeper: keeper, readers: readers, mainPatience: options.mainPatience)
        }
    }

    func withFeed<R: Sendable>(_ body: (FeedReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try withTimeLimit { () throws(DataSourceError) in
            try feed.withLockBeforeLimit { (feed) throws(DataSourceError) in
                guard let feed else { throw DataSourceError.storeClosed }
                return try body(feed)
            }
        }
    }

    /// Reads the saves of all members after a position.
    func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage {
        try allSaves.withLock { (feed) throws(DataSourceError) in
            guard let feed else { throw DataSourceError.storeClosed }
            return try feed.readFeed(after: position)
        }
    }

    // MARK: Listening

    func listen(_ handler: @escaping @Sendable () -> Void) {
        handlers.withLock { $0.notifications = handler }
        listener.withLock { $0 }?.listen(handler)
    }

    func report(to handler: @escaping @Sendable (DataSourceError) -> Void) {
        handlers.withLock { $0.failures = handler }
        listener.withLock { $0 }?.report(to: handler)
    }

    func notifyOthers() { listener.withLock { $0 }?.notifyOthers() }

    // MARK: Generations

    /// Runs the body while nothing reads or follows the store, because a follower knows only one generation.
    ///
    /// - Parameter schema: The generation to follow afterwards; nil to follow none.
    func pause<R>(
        thenFollow schema: () -> PostgreSQLSchema?, _ body: () throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try readers.pause { () throws(DataSourceError) in
            listener.withLock { $0 }?.end()
            let result = Result { () throws(DataSourceError) in try body() }
            if let schema = schema() { startListening(schema) }
            return try result.get()
        }
    }

    private func startListening(_ schema: PostgreSQLSchema) {
        let new = Listener(options, schema, membership: membership, trust: trustKeeper)
        let (notifications, failures) = handlers.withLock { ($0.notifications, $0.failures) }
        if let notifications { new.listen(notifications) }
        if let failures { new.report(to: failures) }
        listener.withLock { $0 = new }
    }

    /// Makes later reads use another schema.
    func set(_ schema: PostgreSQLSchema) {
        feed.withLock { feed in
            feed?.close()
            feed = FeedReader(options, schema, own: membership?.member.number, heartbeats)
        }
        allSaves.withLock { feed in
            feed?.close()
            feed = FeedReader(options, schema, own: nil, heartbeats)
        }
        readers.set(schema)
    }

    /// Waits for running reads. Nothing is read or reported afterwards.
    func close() {
        readers.close()
        let listener = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        listener?.end()
        for feed in [feed, allSaves] {
            feed.withLock { feed in
                feed?.close()
                feed = nil
            }
        }
    }
}
#endif
