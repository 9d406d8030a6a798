#if PostgreSQL
internal import CPostgreSQL
internal import RowStore

extension Connection {
    /// How many bytes of rows are sent at a time.
    private static let copiedBytes = 64 << 10

    /// Sends rows with `COPY ... FROM STDIN (FORMAT binary)`. The server inserts rows while later ones are made.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - rows: The rows, in their order.
    ///   - append: Appends one of them.
    /// - Throws: What `append` throws, or the error of the server; no row was inserted then.
    func copy<Row>(
        _ sql: String, _ rows: [Row], _ append: (Row, inout WireBuffer) throws(DataSourceError) -> Void
    ) throws(DataSourceError) {
        let start = ContinuousClock.now
        guard let handle, PQsendQuery(handle, sql) == 1, let begun = try next(handle) else { throw lost() }
        counters?.count(roundTrips: 2)
        guard begun.status == PGRES_COPY_IN else {
            while try next(handle) != nil {}
            return try end(handle, DataSourceError(answer: begun))
        }
        var failure: DataSourceError?
        do throws(DataSourceError) {
            var buffer = WireBuffer(capacity: Connection.copiedBytes * 2)
            for row in rows {
                try append(row, &buffer)
                if buffer.bytes.count >= Connection.copiedBytes { try send(&buffer, handle) }
            }
            buffer.endRows()
            try send(&buffer, handle)
        } catch {
            failure = error
        }
        guard isUsable, PQputCopyEnd(handle, failure == nil ? nil : "The rows could not be made.") == 1 else {
            throw failure ?? lost()
        }
        while let answer = try next(handle) {
            if failure == nil, answer.status != PGRES_COMMAND_OK { failure = DataSourceError(answer: answer) }
        }
        tracing?.report(
            StatementTrace(sql: sql, duration: ContinuousClock.now - start, rowCount: rows.count, isWriting: true))
        try end(handle, failure)
    }

    private func send(_ buffer: inout WireBuffer, _ handle: OpaquePointer) throws(DataSourceError) {
        let isTaken = buffer.bytes.withUnsafeBytes { bytes in
            PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        guard isTaken == 1 else { throw lost() }
        buffer.removeAll()
        // What is not sent yet must not grow.
        try wait(handle) { false }
    }
}
#endif
