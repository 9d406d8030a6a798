internal import Dispatch
internal import RowStore

/// The connections that read: made when needed, given to one caller at a time, kept for the next.
///
/// Main has a reader of its own, so that it never waits for the others.
final class ReaderPool: Sendable {
    /// The most readers at once, apart from main's. More callers than that wait for each other.
    static let limit = 8

    private struct State {
        var idle: [Reader] = []
        /// Main's reader while main doesn't read.
        var idleMain: Reader?
        /// Whether main has its own reader. Only main sets it, so main finds it set only if it reads during a read.
        var isMainReading = false
        var isClosed = false

        mutating func takeMain() -> Reader? {
            defer { idleMain = nil }
            return idleMain
        }
    }

    private let files: StoreFiles
    private let schema: StoreSchema
    private let counters: StoreCounters
    private let state = Guarded(State())
    private let permits = DispatchSemaphore(value: ReaderPool.limit)
    private let mainPermit = DispatchSemaphore(value: 1)
    /// Two that waited for all permits could each hold some of them for ever.
    private let exclusive = DispatchSemaphore(value: 1)

    init(_ files: StoreFiles, _ schema: StoreSchema, _ counters: StoreCounters) {
        self.files = files
        self.schema = schema
        self.counters = counters
    }

    /// A reader for the caller alone, until it gives it back.
    ///
    /// - Parameter prepare: Called when the caller may read, before it gets a reader. No reset is under way then.
    func take(_ prepare: () throws(DataSourceError) -> Void) throws(DataSourceError) -> Reader {
        // A read that main makes during another one takes a reader from the pool: main's is busy.
        let isMains = MainQueue.isCurrent && !state.withLock { $0.isMainReading }
        let permit = isMains ? mainPermit : permits
        permit.wait()
        let (idle, isClosed) = state.withLock { state in
            state.isMainReading = state.isMainReading || isMains
            return (isMains ? state.takeMain() : state.idle.popLast(), state.isClosed)
        }
        do throws(DataSourceError) {
            guard !isClosed else { throw SQLiteStore.closed }
            try prepare()
            if let idle { return idle }
            let reader = try Reader(files, schema, counters)
            reader.isMains = isMains
            return reader
        } catch {
            if isMains { state.withLock { $0.isMainReading = false } }
            permit.signal()
            throw error
        }
    }

    func give(back reader: Reader) {
        let isMains = reader.isMains
        state.withLock { state in
            if isMains {
                state.idleMain = reader
                state.isMainReading = false
            } else {
                state.idle.append(reader)
            }
        }
        (isMains ? mainPermit : permits).signal()
    }

    /// Waits until all readers were given back, closes them, and lets nobody read while the body runs.
    func pause<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        exclusive.wait()
        // Main's first: a read that main makes during another one still finds a reader in the pool.
        mainPermit.wait()
        for _ in 0..<ReaderPool.limit { permits.wait() }
        defer {
            for _ in 0..<ReaderPool.limit { permits.signal() }
            mainPermit.signal()
            exclusive.signal()
        }
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle + [state.takeMain()].compactMap(\.self)
        }
        for reader in idle { reader.close() }
        return try body()
    }

    /// Closes all readers if none is in use. Nobody gets one any more then.
    func closeIfIdle() -> Bool {
        guard exclusive.wait(timeout: .now()) == .success else { return false }
        defer { exclusive.signal() }
        guard mainPermit.wait(timeout: .now()) == .success else { return false }
        defer { mainPermit.signal() }
        var taken = 0
        while taken < ReaderPool.limit, permits.wait(timeout: .now()) == .success { taken += 1 }
        defer { for _ in 0..<taken { permits.signal() } }
        guard taken == ReaderPool.limit else { return false }
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle + [state.takeMain()].compactMap(\.self)
        }
        for reader in idle { reader.close() }
        return true
    }

    /// Waits until all readers were given back, and closes them. Nobody gets one any more.
    func close() {
        state.withLock { $0.isClosed = true }
        try? pause { () throws(DataSourceError) in }
    }
}
