internal import Dispatch
internal import RowStore
internal import Synchronization

/// The connections for reading. The pool makes a connection when a read needs one. Each connection serves one caller at a time,
/// and is kept for later reads.
///
/// The main actor has its own reader, so it never waits for other reads. Reads on other threads wait briefly while the
/// write-ahead log is being emptied.
final class ReaderPool: Sendable {
    /// The maximum number of readers that are in use at the same time, not counting the reader of the main actor. Further
    /// callers wait.
    static let limit = 8
    /// The longest time, in milliseconds, that a new read waits until the log is emptied, and that the emptying waits for open
    /// reads.
    static let gateWait: Int32 = 100

    private struct State {
        var idle: [Reader] = []
        /// The reader of the main actor, while the main actor is not reading.
        var idleMain: Reader?
        var isClosed = false
        /// The open reads, in the order of their start.
        var open: [Read] = []
        var lastRead: UInt64 = 0
        /// The reads that wait at the gate; nil while the gate is open.
        var gate: [DispatchSemaphore]?
        /// The number of writes to the store.
        var writes: UInt64 = 0
        /// Whether a timer is set that will end the transactions that stay open between look-ups.
        var isExpiryScheduled = false
        /// The snapshots that stay open, by the numbers of their reads.
        var snapshots: [UInt64: OpenSnapshot] = [:]
        /// The number of calls of ``ReaderPool/pause(_:)``. The reader of a snapshot that was opened before the last pause is
        /// not kept.
        var pauses = 0

        mutating func takeMain() -> Reader? {
            defer { idleMain = nil }
            return idleMain
        }

        /// All idle readers, including the reader of the main actor.
        mutating func takeIdle() -> [Reader] {
            defer { idle = [] }
            return idle + [takeMain()].compactMap(\.self)
        }

        /// Ends the transactions that idle readers keep open between look-ups.
        func endKeptTransaction() {
            for reader in idle { reader.endKeptTransaction() }
            idleMain?.endKeptTransaction()
        }

        mutating func begin(_ name: String?, isSnapshot: Bool = false) -> UInt64 {
            lastRead += 1
            open.append(Read(number: lastRead, name: name, isSnapshot: isSnapshot, start: .now))
            return lastRead
        }
    }

    private let files: StoreFiles
    private let schema: StoreSchema
    private let counters: StoreCounters
    private let isUnchanging: Bool
    /// Whether the store is shared. If so, each read records the position of the newest save that it sees.
    private let isShared: Bool
    private let tracing: StatementTracing?
    private let state = Guarded(State())
    private let isGateClosed = Atomic(false)
    private let permits = ReadPermits(limit: ReaderPool.limit)

    /// - Parameter isUnchanging: Whether no process can write to the file.
    init(
        _ files: StoreFiles, _ schema: StoreSchema, counters: StoreCounters, isUnchanging: Bool = false,
        isShared: Bool = false, tracing: StatementTracing? = nil
    ) {
        self.isShared = isShared
        self.tracing = tracing
        self.files = files
        self.schema = schema
        self.counters = counters
        self.isUnchanging = isUnchanging
    }

    /// Whether look-ups may share a transaction. False for a shared store. Also false if there is a listener for statements:
    /// the end of a transaction would call the listener, possibly while this pool is locked.
    private var keepsTransactions: Bool { !isShared && tracing == nil }

    /// Takes a reader out of the pool. The caller must give the reader back.
    ///
    /// - Parameters:
    ///   - isLookup: Whether the reader may use a transaction that is still open after an earlier look-up.
    ///   - prepare: Called when the caller has a permit to read, before it gets a reader. No reset runs during the call.
    func take(
        isLookup: Bool = false, _ prepare: () throws(DataSourceError) -> Void
    ) throws(DataSourceError) -> Reader {
        let permitKind = permits.permitKind
        if permitKind == .other { waitAtGate() }
        permits.wait(permitKind)
        let name = permitKind == .other ? ReaderName.current : "the main actor"
        let (idle, isClosed, number, writes) = state.withLock { state in
            (
                permitKind == .main ? state.takeMain() : state.idle.popLast(), state.isClosed, state.begin(name),
                state.writes
            )
        }
        do throws(DataSourceError) {
            guard !isClosed else { throw DataSourceError.storeClosed }
            try prepare()
            let reader =
                if let idle { idle } else { try makeReader() }
            reader.permitKind = permitKind
            reader.readNumber = number
            try reader.prepare(forLookupAfter: isLookup && keepsTransactions ? writes : nil)
            return reader
        } catch {
            end(number, permitKind, nil)
            throw error
        }
    }

    private func makeReader() throws(DataSourceError) -> Reader {
        let reader = try Reader(files, schema, counters: counters, isUnchanging: isUnchanging, tracing: tracing)
        reader.isShared = isShared
        return reader
    }

    func give(back reader: Reader) {
        end(reader.readNumber, reader.permitKind, reader)
    }

    private func end(_ number: UInt64, _ permitKind: ReadPermits.Kind, _ reader: Reader?) {
        state.withLock { state in
            state.open.removeAll { $0.number == number }
            if let reader, reader.keptTransaction != nil { keep(reader, &state) }
            if permitKind == .main {
                state.idleMain = reader
            } else if let reader {
                state.idle.append(reader)
            }
        }
        permits.signal(permitKind)
    }

    /// Keeps the transaction of a returned reader open for a short time. But ends the transaction at once if the store was
    /// written since it began, or if the gate or the pool is closed.
    private func keep(_ reader: Reader, _ state: inout State) {
        if reader.keptTransaction?.writes != state.writes || state.gate != nil || state.isClosed {
            return reader.endKeptTransaction()
        }
        if state.isExpiryScheduled { return }
        state.isExpiryScheduled = true
        let wait = DispatchTimeInterval.nanoseconds(Int(KeptTransaction.maxAge))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + wait) { [weak self] in
            self?.endOldReads()
        }
    }

    private func endOldReads() {
        state.withLock { state in
            state.endKeptTransaction()
            state.isExpiryScheduled = false
        }
    }

    /// Records that the store was written, or may have been written. Look-ups that begin after the call see the write.
    func recordWrite() {
        state.withLock { state in
            state.writes += 1
            state.endKeptTransaction()
        }
    }

    /// Waits until all readers were returned, closes them, and runs the body while no read is open.
    ///
    /// The main actor can still read while the call waits for other reads.
    func pause<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try permits.pause { () throws(DataSourceError) in
            let idle = state.withLock { state in
                state.pauses += 1
                return state.takeIdle()
            }
            for reader in idle { reader.close() }
            return try body()
        }
    }

    /// Closes the pool and all readers, if no reader is in use.
    ///
    /// - Returns: Whether the pool was closed.
    func closeIfIdle() -> Bool {
        if state.withLock({ !$0.snapshots.isEmpty }) { return false }
        return permits.pauseIfIdle {
            let idle = state.withLock { state in
                state.isClosed = true
                return state.takeIdle()
            }
            for reader in idle { reader.close() }
        }
    }

    /// Closes the pool, waits until all readers were returned, and closes the readers.
    func close() {
        state.withLock { $0.isClosed = true }
        try? pause { () throws(DataSourceError) in closeSnapshots() }
    }
}

// MARK: - Snapshots

extension ReaderPool {
    /// Takes a reader out of the pool, and begins a transaction that stays open.
    ///
    /// - Parameters:
    ///   - name: The name of the snapshot in reports.
    ///   - check: Called before each read of the snapshot.
    ///   - prepare: See ``take(isLookup:_:)``.
    func openSnapshot(
        named name: String, check: @escaping @Sendable () throws(DataSourceError) -> Void,
        _ prepare: () throws(DataSourceError) -> Void
    ) throws(DataSourceError) -> SQLiteSnapshot {
        let permitKind = permits.permitKind
        permits.wait(permitKind)
        defer { permits.signal(permitKind) }
        // Prefer an idle reader, which a released snapshot may have left, to the reader of the main actor.
        let (idle, isClosed, number, pauses) = state.withLock { state in
            (
                state.idle.popLast() ?? state.takeMain(), state.isClosed, state.begin(name, isSnapshot: true),
                state.pauses
            )
        }
        do throws(DataSourceError) {
            guard !isClosed else { throw DataSourceError.storeClosed }
            try prepare()
            let reader =
                if let idle { idle } else { try makeReader() }
            let open = OpenSnapshot(reader, number: number, pauses: pauses)
            do throws(DataSourceError) { try reader.beginSnapshot() } catch {
                reader.close()
                throw error
            }
            state.withLock { $0.snapshots[number] = open }
            return SQLiteSnapshot(open, self, check: check)
        } catch {
            state.withLock { state in state.open.removeAll { $0.number == number } }
            throw error
        }
    }

    /// Ends a snapshot that nobody uses any more, and keeps its reader.
    func release(_ snapshot: OpenSnapshot) {
        let isOpen = state.withLock { state in
            state.open.removeAll { $0.number == snapshot.number }
            return state.snapshots.removeValue(forKey: snapshot.number) != nil
        }
        guard isOpen else { return }
        snapshot.end(isFinal: false)
        let isKept = state.withLock { state in
            let isKept = !state.isClosed && state.pauses == snapshot.pauses
            if isKept { state.idle.append(snapshot.reader) }
            return isKept
        }
        if !isKept { snapshot.reader.close() }
    }

    /// Closes all open snapshots, after their running reads.
    func closeSnapshots() {
        let open = state.withLock { state in
            let open = Array(state.snapshots.values)
            state.snapshots = [:]
            state.open.removeAll { read in open.contains { $0.number == read.number } }
            return open
        }
        for snapshot in open { snapshot.end(isFinal: true) }
    }

    /// Begins the transaction of each open snapshot again. Call this function only while nobody can write, and while each snapshot
    /// sees the newest state.
    func renewSnapshots() {
        for snapshot in state.withLock({ Array($0.snapshots.values) }) { snapshot.renew() }
    }

    /// The oldest open snapshot; nil if there is none.
    var oldestSnapshot: Read? { state.withLock { state in state.open.first(where: \.isSnapshot) } }
}

// MARK: - The gate

extension ReaderPool {
    /// A read that is or was open.
    struct Read: Sendable {
        let number: UInt64
        /// Whether the read is a snapshot that stays open.
        let isSnapshot: Bool
        fileprivate let label: String?
        private let start: Uptime

        fileprivate init(number: UInt64, name: String?, isSnapshot: Bool, start: Uptime) {
            self.number = number
            self.isSnapshot = isSnapshot
            label = name
            self.start = start
        }

        var name: String { label ?? "a background queue" }
        /// The time since the read began, as a string.
        var age: String { "\(start.age / Uptime.millisecond) ms" }
    }

    private func waitAtGate() {
        guard isGateClosed.load(ordering: .acquiring) else { return }
        let opened = state.withLock { state in
            let opened = state.gate.map { _ in DispatchSemaphore(value: 0) }
            if let opened { state.gate?.append(opened) }
            return opened
        }
        _ = opened?.wait(timeout: .now() + .milliseconds(Int(ReaderPool.gateWait)))
    }

    /// Closes the gate. New reads then wait, except reads on the main actor.
    ///
    /// - Returns: The number of the last read that began, and whether any read is open.
    func closeGate() -> (last: UInt64, wasAnyOpen: Bool) {
        isGateClosed.store(true, ordering: .releasing)
        return state.withLock { state in
            state.gate = []
            state.endKeptTransaction()
            return (state.lastRead, !state.open.isEmpty)
        }
    }

    /// Opens the gate.
    ///
    /// - Parameter last: The number that ``closeGate()`` returned.
    /// - Returns: The reads up to that number that are still open, oldest first; and whether a later read has begun.
    ///   Reads on the main actor can begin while the gate is closed.
    func openGate(_ last: UInt64) -> (open: [Read], hasAnyBegun: Bool) {
        isGateClosed.store(false, ordering: .releasing)
        let (waiting, open, hasAnyBegun) = state.withLock { state in
            defer { state.gate = nil }
            return (state.gate ?? [], state.open.filter { $0.number <= last }, state.lastRead > last)
        }
        for opened in waiting { opened.signal() }
        return (open, hasAnyBegun)
    }

    /// The number of reads that wait at the gate; nil while the gate is open.
    var waitingCount: Int? { state.withLock { $0.gate?.count } }

    func isAnyOpen(_ reads: [Read]) -> Bool {
        state.withLock { state in reads.contains { read in state.open.contains { $0.number == read.number } } }
    }
}

/// A read transaction that stays open between look-ups. Beginning and ending a transaction takes as long as a look-up.
///
/// The transaction sees the store as it was at the start of the transaction. The transaction therefore ends as soon as this
/// container writes. It also ends after ``maxAge``, because other programs can write unnoticed, and because SQLite cannot
/// empty the write-ahead log during the transaction.
struct KeptTransaction {
    /// The maximum age at which the transaction is used. At this age, an unused transaction is ended.
    static let maxAge = 10 * Uptime.millisecond

    /// The number of writes to the store when the transaction began.
    let writes: UInt64
    private let start = Uptime.now

    var isOld: Bool { start.age > KeptTransaction.maxAge }
}

/// A time on the clock of the system's uptime, in nanoseconds. Each look-up reads the clock twice, and reading
/// `ContinuousClock` would cost several times as much.
struct Uptime {
    static let millisecond: UInt64 = 1_000_000

    private let nanoseconds: UInt64

    static var now: Uptime { Uptime(nanoseconds: DispatchTime.now().uptimeNanoseconds) }

    /// The nanoseconds since this time.
    var age: UInt64 { Uptime.now.nanoseconds - nanoseconds }
}
