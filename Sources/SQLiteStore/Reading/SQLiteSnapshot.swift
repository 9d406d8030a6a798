internal import Foundation
internal import RowStore
internal import Synchronization

/// A reader whose transaction stays open. The pool keeps this object until the snapshot is released or closed.
final class OpenSnapshot: Sendable {
    let reader: Reader
    /// The number of the read in the pool.
    let number: UInt64
    /// The number of pauses of the pool before the snapshot was opened.
    let pauses: Int
    /// Recursive, because a read can begin another read: the predicate of a query may read a relationship.
    private let lock = NSRecursiveLock()
    private let isOver = Atomic(false)

    init(_ reader: Reader, number: UInt64, pauses: Int) {
        self.reader = reader
        self.number = number
        self.pauses = pauses
    }

    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        lock.lock()
        defer { lock.unlock() }
        if hasEnded { return nil }
        let result = Result { () throws(DataSourceError) in try body(reader) }
        // After some errors, such as a failed read of the file, SQLite ends the transaction. A later read would begin another
        // transaction, and would see a newer state.
        guard reader.connection.isInTransaction else {
            isOver.store(true, ordering: .releasing)
            if case .failure(let error) = result { throw error }
            return nil
        }
        return try result.get()
    }

    /// Begins the transaction again, so that it no longer reads the write-ahead log. Does nothing while a read is running. Call
    /// this method only if nothing was written since the transaction began.
    func renew() {
        guard lock.try() else { return }
        defer { lock.unlock() }
        // After some errors, SQLite ends the transaction: see `read`.
        if hasEnded || !reader.connection.isInTransaction { return }
        reader.connection.rollBack()
        do throws(DataSourceError) {
            try reader.beginSnapshot()
            // The transaction sees the state at its first read, so read at once.
            _ = try reader.connection.values("SELECT 1 FROM \"_metadata\" LIMIT 1")
        } catch {
            isOver.store(true, ordering: .releasing)
        }
    }

    /// Ends the transaction after the running reads.
    ///
    /// - Parameter isFinal: Whether to close the reader as well as the transaction.
    func end(isFinal: Bool) {
        lock.lock()
        defer { lock.unlock() }
        isOver.store(true, ordering: .releasing)
        reader.connection.rollBack()
        if isFinal { reader.close() }
    }
}

/// An open snapshot of a file. The transaction ends when this object is released.
final class SQLiteSnapshot: StoreSnapshot {
    private let open: OpenSnapshot
    private let pool: ReaderPool
    private let check: @Sendable () throws(DataSourceError) -> Void

    /// - Parameter check: Called before each read.
    init(_ open: OpenSnapshot, _ pool: ReaderPool, check: @escaping @Sendable () throws(DataSourceError) -> Void) {
        self.open = open
        self.pool = pool
        self.check = check
    }

    deinit { pool.release(open) }

    var hasEnded: Bool { open.hasEnded }

    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        try check()
        return try open.read(body)
    }
}
