#if PostgreSQL
internal import CPostgreSQL
internal import RowStore

/// The result of a statement. Its values are in the binary format.
final class QueryResult {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }
    deinit { PQclear(handle) }

    var status: ExecStatusType { PQresultStatus(handle) }
    var rowCount: Int { Int(PQntuples(handle)) }
    var columnCount: Int { Int(PQnfields(handle)) }

    /// The number of rows that the statement has inserted, changed or deleted.
    var changedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(handle, Int32(row), Int32(column)),
            count: Int(PQgetlength(handle, Int32(row), Int32(column))))
    }

    /// A `bigint`, an `integer` or a `boolean`; 0 for NULL.
    func integer(_ row: Int, _ column: Int) -> Int64 {
        let bytes = bytes(row, column)
        switch bytes.count {
        case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 1: return Int64(bytes[0])
        default: return 0
        }
    }

    func optionalInteger(_ row: Int, _ column: Int) -> Int64? { isNull(row, column) ? nil : integer(row, column) }

    func real(_ row: Int, _ column: Int) -> Double {
        let bytes = bytes(row, column)
        guard bytes.count == 8 else { return 0 }
        return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    /// Empty for NULL.
    func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    func copy(_ row: Int, _ column: Int) -> [UInt8] { Array(bytes(row, column)) }

    /// All rows, as values. Used for the store's own tables. Rows of entities are read directly into snapshots.
    var values: [[RowValue]] {
        (0..<rowCount).map { row in (0..<columnCount).map { value(row, $0) } }
    }

    private func value(_ row: Int, _ column: Int) -> RowValue {
        if isNull(row, column) { return .null }
        switch ColumnStorage(type: PQftype(handle, Int32(column))) {
        case .integer: return .integer(integer(row, column))
        case .real: return .real(real(row, column))
        case .text: return .text(text(row, column))
        case .blob: return .blob(copy(row, column))
        }
    }

    func isTrue(_ row: Int, _ column: Int) -> Bool { integer(row, column) != 0 }

    /// Copies a value into a column of a row.
    func copy(_ row: Int, _ column: Int, to snapshot: inout RowSnapshot, at target: Int, as storage: ColumnStorage) {
        if isNull(row, column) { return snapshot.setNull(target) }
        switch storage {
        case .integer: snapshot.setInteger(integer(row, column), target)
        case .real: snapshot.setReal(real(row, column), target)
        case .text, .blob: snapshot.setBytes(bytes(row, column), target)
        }
    }

    /// A field of a server error.
    func field(_ code: Character) -> String? {
        guard let scalar = code.unicodeScalars.first,
            let text = PQresultErrorField(handle, Int32(scalar.value))
        else { return nil }
        return String(cString: text)
    }
}

extension Connection {
    /// The number of bytes of rows to send at a time.
    private static let copiedBytes = 64 << 10

    /// Sends rows with `COPY ... FROM STDIN (FORMAT binary)`. The server inserts rows while later rows are encoded.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - rows: The rows, in their order.
    ///   - append: Encodes one row.
    /// - Throws: The errors of `append`, or the error of the server. If the call throws, no row was inserted.
    func copy<Row>(
        _ sql: String, _ rows: [Row], _ append: (Row, inout WireBuffer) throws(DataSourceError) -> Void
    ) throws(DataSourceError) {
        let start = ContinuousClock.now
        guard let handle, PQsendQuery(handle, sql) == 1, let begun = try next(handle) else { throw connectionLost() }
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
            throw failure ?? connectionLost()
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
        guard isTaken == 1 else { throw connectionLost() }
        buffer.removeAll()
        // Wait, so that unsent bytes do not pile up.
        try wait(handle) { false }
    }
}
#endif
