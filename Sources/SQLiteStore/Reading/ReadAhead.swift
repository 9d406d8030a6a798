internal import CSQLite
internal import Dispatch
internal import RowStore
internal import Synchronization

/// Lets another thread read the remaining rows of a long statement while the caller processes earlier rows.
///
/// SQLite takes about as long to read a row as a context takes to make an object from it. The caller continues to read until
/// the other thread is running, and so never waits for a thread to start. From then on, the other thread reads, at most a few
/// batches ahead of the caller.
///
/// **Ordering**: rows arrive in the order of the statement. After ``readRemaining(_:_:)`` or ``endUnused()`` has returned, the
/// other thread no longer uses the statement.
final class ReadAhead: Sendable {
    /// The number of rows that the caller reads before it requests the other thread. The request takes some microseconds.
    static let firstRows = 256
    private static let batchRows = 256
    /// The size at which a batch is complete, in bytes. The limit keeps batches of large rows small.
    private static let batchBytes = 1 << 17
    /// The maximum number of batches that wait for the caller. Waking a thread takes about as long as reading a batch, so a
    /// waiting thread is woken only when half of this number is ready (for the caller) or free (for the other thread).
    private static let waitingBatches = 8

    private struct State {
        var batches: [RowBatch] = []
        /// The result code of the last step; nil while there are more rows.
        var end: Int32?
        /// Whether the other thread has taken over the reading.
        var isHandedOver = false
        var isStopped = false
        var isCallerWaiting = false
        var isReaderWaiting = false

        /// Adds a batch.
        ///
        /// - Returns: Whether the caller must be woken.
        mutating func add(_ batch: RowBatch?, end code: Int32?) -> Bool {
            if let batch { batches.append(batch) }
            end = code
            guard isCallerWaiting, code != nil || batches.count >= ReadAhead.waitingBatches / 2 else { return false }
            isCallerWaiting = false
            return true
        }

        /// Removes the next batch.
        ///
        /// - Returns: The batch, or nil if no batch is ready; and whether the other thread must be woken.
        mutating func take() -> (batch: RowBatch?, wakesReader: Bool) {
            let batch = batches.isEmpty ? nil : batches.removeFirst()
            if batch == nil { isCallerWaiting = end == nil }
            guard isReaderWaiting, isStopped || batches.count <= ReadAhead.waitingBatches / 2 else {
                return (batch, false)
            }
            isReaderWaiting = false
            return (batch, true)
        }
    }

    private let rows: StatementRows
    private let state = Guarded(State())
    /// Whether the other thread is running, and waits to take over.
    private let isPresent = Atomic(false)
    private let handover = DispatchSemaphore(value: 0)
    /// Wakes the caller when batches are ready.
    private let batchesReady = DispatchSemaphore(value: 0)
    /// Wakes the other thread when there is space for more batches.
    private let spaceAvailable = DispatchSemaphore(value: 0)

    /// Requests the other thread from a queue. The thread waits until the caller hands the reading over.
    ///
    /// - Parameter queue: A serial queue of the reader. Its thread does not belong to Swift's task pool: a pool thread that
    ///   waits for space could not run tasks.
    init(_ rows: StatementRows, on queue: DispatchQueue) {
        self.rows = rows
        queue.async { [self] in
            isPresent.store(true, ordering: .relaxed)
            handover.wait()
            if state.withLock({ $0.isHandedOver }) { read() }
        }
    }

    /// Whether the other thread is running and can take over.
    var isReady: Bool { isPresent.load(ordering: .relaxed) }

    /// Lets the other thread end. Call this method after the last use of this object.
    func endUnused() { handover.signal() }

    // MARK: The other thread

    private func read() {
        var code = SQLITE_ROW
        while code == SQLITE_ROW, waitForSpace() {
            let batch = RowBatch(capacity: ReadAhead.batchRows)
            var bytes = 0
            while code == SQLITE_ROW, batch.count < ReadAhead.batchRows, bytes < ReadAhead.batchBytes {
                let stored = rows.row()
                bytes += stored.row.byteCount
                batch.append(stored)
                code = rows.step()
            }
            if code == SQLITE_ROW { add(batch, end: nil) } else { return add(batch, end: code) }
        }
        add(nil, end: code)
    }

    private func add(_ batch: RowBatch?, end code: Int32?) {
        if state.withLock({ $0.add(batch, end: code) }) { batchesReady.signal() }
    }

    /// Waits until there is space for another batch.
    ///
    /// - Returns: Whether the caller needs more rows.
    private func waitForSpace() -> Bool {
        let mustWait = state.withLock { state in
            state.isReaderWaiting = !state.isStopped && state.batches.count >= ReadAhead.waitingBatches
            return state.isReaderWaiting
        }
        if mustWait { spaceAvailable.wait() }
        return state.withLock { !$0.isStopped }
    }

    // MARK: The caller

    /// Hands the reading over to the other thread, and passes the remaining rows to the body, beginning with the current row.
    ///
    /// - Parameters:
    ///   - connection: The connection of the statement.
    ///   - body: Returns whether it needs more rows.
    /// - Returns: The result code of the last step.
    func readRemaining(
        _ connection: Connection, _ body: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError) -> Int32 {
        state.withLock { $0.isHandedOver = true }
        handover.signal()
        defer { stop(connection) }
        while let batch = next(connection) {
            while batch.count > 0 { if try !body(batch.removeFirst()) { return SQLITE_DONE } }
        }
        return state.withLock { $0.end } ?? SQLITE_DONE
    }

    /// Returns the next batch; nil after the last batch.
    private func next(_ connection: Connection) -> RowBatch? {
        endIfCancelled(connection)
        while true {
            let (batch, mustWait) = take()
            guard mustWait else { return batch }
            wait(connection)
        }
    }

    /// - Returns: The next batch, and whether the caller must wait for a batch.
    private func take() -> (batch: RowBatch?, mustWait: Bool) {
        let (batch, wakesReader, mustWait) = state.withLock { state in
            let (batch, wakesReader) = state.take()
            return (batch, wakesReader, state.isCallerWaiting)
        }
        if wakesReader { spaceAvailable.signal() }
        return (batch, mustWait)
    }

    private func wait(_ connection: Connection) {
        // The other thread does not belong to the task, so the caller checks for cancellation.
        while batchesReady.wait(timeout: connection.isCancellable ? .now() + .milliseconds(10) : .distantFuture)
            == .timedOut
        {
            endIfCancelled(connection)
        }
    }

    private func endIfCancelled(_ connection: Connection) {
        if connection.isCancellable, Task.isCancelled { sqlite3_interrupt(connection.handle) }
    }

    /// Stops the other thread, and waits until the thread no longer uses the statement.
    private func stop(_ connection: Connection) {
        let isOver = state.withLock { state in
            state.isStopped = true
            return state.end != nil
        }
        if isOver { return }
        // Interrupt the current step, which may take long.
        sqlite3_interrupt(connection.handle)
        // Drop the batches that are ready.
        while next(connection) != nil {}
    }
}

/// A batch of rows that one thread passes to another. A row is moved out of the batch, so that the batch keeps no second
/// reference to the row's buffer.
///
/// Guarded by: its owner. The thread that fills the batch passes the ownership to the thread that empties the batch.
private final class RowBatch: @unchecked Sendable {
    private let memory: UnsafeMutablePointer<StoredRow>
    @exclusivity(unchecked) private var occupied = 0..<0

    init(capacity: Int) { memory = .allocate(capacity: capacity) }

    deinit {
        (memory + occupied.lowerBound).deinitialize(count: occupied.count)
        memory.deallocate()
    }

    var count: Int { occupied.count }

    /// Adds a row. The batch must have space for the row.
    @inline(__always)
    func append(_ stored: consuming StoredRow) {
        (memory + occupied.upperBound).initialize(to: stored)
        occupied = occupied.lowerBound..<occupied.upperBound + 1
    }

    /// Removes the first row. The batch must not be empty.
    @inline(__always)
    func removeFirst() -> StoredRow {
        let first = memory + occupied.lowerBound
        occupied = occupied.lowerBound + 1..<occupied.upperBound
        return first.move()
    }
}
