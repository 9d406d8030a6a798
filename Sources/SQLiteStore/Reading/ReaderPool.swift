internal import Dispatch
internal import RowStore

/// The connections that read: made when needed, given to one caller at a time, kept for the next.
final class ReaderPool: Sendable {
    /// The most readers at once. More callers than that wait for each other.
    static let limit = 8

    private struct State {
        var idle: [Reader] = []
        var isClosed = false
    }

    private let files: StoreFiles
    private let schema: StoreSchema
    private let counters: StoreCounters
    private let state = Guarded(State())
    private let permits = DispatchSemaphore(value: ReaderPool.limit)
    /// Two that waited for all permits could each hold some of them for ever.
    private let exclusive = DispatchSemaphore(value: 1)

    init(_ files: StoreFiles, _ schema: StoreSchema, _ counters: StoreCounters) {
        self.files = files
        self.schema = schema
        self.counters = counters
    }

    /// A reader for the caller alone, until it gives it back.
    func take() throws(DataSourceError) -> Reader {
        permits.wait()
        let (idle, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        do throws(DataSourceError) {
            guard !isClosed else { throw SQLiteStore.closed }
            if let idle { return idle }
            return try Reader(files, schema, counters)
        } catch {
            permits.signal()
            throw error
        }
    }

    func give(back reader: Reader) {
        state.withLock { $0.idle.append(reader) }
        permits.signal()
    }

    /// Waits until all readers were given back, closes them, and lets nobody read while the body runs.
    func pause<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        exclusive.wait()
        for _ in 0..<ReaderPool.limit { permits.wait() }
        defer {
            for _ in 0..<ReaderPool.limit { permits.signal() }
            exclusive.signal()
        }
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { reader.close() }
        return try body()
    }

    /// Closes all readers if none is in use. Nobody gets one any more then.
    func closeIfIdle() -> Bool {
        guard exclusive.wait(timeout: .now()) == .success else { return false }
        var taken = 0
        while taken < ReaderPool.limit, permits.wait(timeout: .now()) == .success { taken += 1 }
        defer {
            for _ in 0..<taken { permits.signal() }
            exclusive.signal()
        }
        guard taken == ReaderPool.limit else { return false }
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
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
