#if PostgreSQL
internal import Dispatch
internal import RowStore

/// The reading connections. A connection is made when needed, given to one caller at a time, and kept for later callers.
///
/// The main thread never waits for readers on other threads, because it has a permit of its own.
final class ReaderPool: Sendable {
    /// The largest number of readers at a time, not counting the reader of the main thread. Further callers wait.
    static let limit = 8

    private struct State {
        /// The most recently used reader is the last.
        var idle: [(reader: Reader, since: ContinuousClock.Instant)] = []
        var isShrinking = false
        var schema: PostgreSQLSchema
        /// Changes with each schema, so that no reader of an old schema is kept.
        var generation = 0
        var isClosed = false
        /// The connections whose open transactions keep the states of snapshots readable, by their numbers.
        var keepers: [Int: Reader] = [:]
        var lastKeeper = 0

        mutating func takeKeepers() -> [Reader] {
            defer { keepers = [:] }
            return Array(keepers.values)
        }
    }

    private let options: PostgreSQLOptions
    private let counters: PostgreSQLCounters
    private let state: Guarded<State>
    private let permits = ReadPermits(limit: ReaderPool.limit)

    init(_ options: PostgreSQLOptions, _ schema: PostgreSQLSchema, _ counters: PostgreSQLCounters) {
        self.options = options
        self.counters = counters
        state = Guarded(State(schema: schema))
    }

    /// Passes a reader to the body.
    ///
    /// - Parameter snapshot: The name of the state to read; nil for the newest state.
    func read<R>(
        of snapshot: String? = nil, _ body: (any StoreReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let permitKind = permits.permitKind
        guard permits.wait(permitKind) else { throw MainWait.limitError }
        defer { permits.signal(permitKind) }
        let (reader, generation) = try readerInTransaction(snapshot)
        defer {
            reader.end()
            giveBack(reader, generation)
        }
        return try body(reader)
    }

    /// Returns a reader whose transaction has begun. If the connection of an idle reader was lost, makes another reader.
    private func readerInTransaction(_ snapshot: String?) throws(DataSourceError) -> (Reader, Int) {
        while true {
            let (idle, schema, generation, isClosed) = state.withLock { state in
                (state.idle.popLast()?.reader, state.schema, state.generation, state.isClosed)
            }
            if isClosed { throw DataSourceError.storeClosed }
            let reader = if let idle { idle } else { try Reader(options, schema, counters) }
            do throws(DataSourceError) {
                try reader.begin(snapshot)
                return (reader, generation)
            } catch {
                reader.close()
                guard idle != nil, error.isConnectionLoss else { throw error }
                // The other idle connections lead to the same server, so they are probably lost, too.
                for other in takeIdle() { other.close() }
            }
        }
    }

    private func takeIdle() -> [Reader] {
        state.withLock { state in
            defer { state.idle = [] }
            return state.idle.map(\.reader)
        }
    }

    private func giveBack(_ reader: Reader, _ generation: Int) {
        let isKept = state.withLock { state in
            let isKept = reader.isUsable && !state.isClosed && state.generation == generation
            if isKept { state.idle.append((reader, .now)) }
            return isKept
        }
        if isKept { shrinkLater() } else { reader.close() }
    }

    /// Closes connections that have been idle for a while.
    private func shrinkLater() {
        let isFirst = state.withLock { state in
            if state.isShrinking || state.idle.isEmpty { return false }
            state.isShrinking = true
            return true
        }
        guard isFirst else { return }
        let milliseconds = Int(options.idleReaderTime / .milliseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            let end = ContinuousClock.now - self.options.idleReaderTime
            let old = self.state.withLock { state in
                state.isShrinking = false
                let old = state.idle.prefix { $0.since <= end }.map(\.reader)
                state.idle.removeFirst(old.count)
                return old
            }
            for reader in old { reader.close() }
            self.shrinkLater()
        }
    }

    /// Runs the body while no read runs.
    func pause<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try permits.pause(body)
    }

    /// Makes later reads use another schema. Closes the idle connections, and the connections that keep snapshots.
    func set(_ schema: PostgreSQLSchema) {
        let old = state.withLock { state in
            state.schema = schema
            state.generation += 1
            defer { state.idle = [] }
            return state.idle.map(\.reader) + state.takeKeepers()
        }
        for reader in old { reader.close() }
    }

    /// Closes all readers once they are returned. Later reads throw `storeClosed`.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle.map(\.reader)
        }
        for reader in idle { reader.close() }
        try? pause { () throws(DataSourceError) in }
        for keeper in state.withLock({ $0.takeKeepers() }) { keeper.close() }
    }
}

// MARK: - Snapshots

extension ReaderPool {
    /// Keeps the newest state on a connection of its own.
    ///
    /// - Returns: The name of the state, and the number of the connection.
    func keepSnapshot() throws(DataSourceError) -> (name: String, keeper: Int) {
        let permitKind = permits.permitKind
        guard permits.wait(permitKind) else { throw MainWait.limitError }
        defer { permits.signal(permitKind) }
        let (schema, isClosed) = state.withLock { ($0.schema, $0.isClosed) }
        if isClosed { throw DataSourceError.storeClosed }
        let keeper = try Reader(options, schema, counters)
        do throws(DataSourceError) {
            let name = try keeper.exportSnapshot()
            let number = state.withLock { state in
                state.lastKeeper += 1
                state.keepers[state.lastKeeper] = keeper
                return state.lastKeeper
            }
            return (name, number)
        } catch {
            keeper.close()
            throw error
        }
    }

    /// Closes the connection that keeps the state of a snapshot. Does not wait for the server.
    func endSnapshot(_ keeper: Int) {
        guard let reader = state.withLock({ $0.keepers.removeValue(forKey: keeper) }) else { return }
        DispatchQueue.global().async { reader.close() }
    }

    /// Whether the connection still keeps its state, as far as this process knows.
    func keeps(_ keeper: Int) -> Bool { state.withLock { $0.keepers[keeper] != nil } }
}
#endif
