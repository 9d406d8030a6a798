#if PostgreSQL
internal import Dispatch
internal import RowStore

/// The connections that read: made when needed, given to one caller at a time, and kept for the next.
///
/// Main never waits for the others: it has a connection of its own.
final class ReaderPool: Sendable {
    /// The most readers at once, apart from main's. Further callers wait.
    static let limit = 8

    private struct State {
        /// The one that was used last comes last.
        var idle: [(reader: Reader, since: ContinuousClock.Instant)] = []
        var isShrinking = false
        var schema: PostgreSQLSchema
        /// Changes with each schema, so that no reader of an old one is kept.
        var generation = 0
        var isClosed = false
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

    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        let use = permits.use
        guard permits.wait(use) else { throw MainWait.exceeded }
        defer { permits.signal(use) }
        let (reader, generation) = try begun()
        defer {
            reader.end()
            giveBack(reader, generation)
        }
        return try body(reader)
    }

    /// A reader whose state has begun. If its connection was lost while it was not used, it is replaced.
    private func begun() throws(DataSourceError) -> (Reader, Int) {
        while true {
            let (idle, schema, generation, isClosed) = state.withLock { state in
                (state.idle.popLast()?.reader, state.schema, state.generation, state.isClosed)
            }
            if isClosed { throw DataSourceError.storeClosed }
            let reader = if let idle { idle } else { try Reader(options, schema, counters) }
            do throws(DataSourceError) {
                try reader.begin()
                return (reader, generation)
            } catch {
                reader.close()
                guard idle != nil, error.isLoss else { throw error }
                // The others lead to the same server, and are as old.
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

    /// Closes connections that nobody has read with for a while.
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

    /// Runs the body while there are no reads.
    func pause<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try permits.pause(body)
    }

    /// Reads another generation from now on.
    func set(_ schema: PostgreSQLSchema) {
        let old = state.withLock { state in
            state.schema = schema
            state.generation += 1
            defer { state.idle = [] }
            return state.idle.map(\.reader)
        }
        for reader in old { reader.close() }
    }

    /// Waits until all readers were returned, and closes them. The pool gives out no more readers.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle.map(\.reader)
        }
        for reader in idle { reader.close() }
        try? pause { () throws(DataSourceError) in }
    }
}
#endif
