#if PostgreSQL
internal import RowStore
internal import Synchronization

/// A statement with its parameters, ready to be sent.
struct Request {
    let sql: String
    let parameters: [WireValue]
    /// Whether the server should keep the prepared statement for later use.
    let isKept: Bool

    init(_ sql: String, _ parameters: [WireValue] = [], isKept: Bool = true) {
        self.sql = sql
        self.parameters = parameters
        self.isKept = isKept
    }

    init(_ statement: SQLStatement) { self.init(statement.sql, statement.values.map { WireValue($0) }) }

    /// Passes the parameters to the body in libpq's form, all in the binary format.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32) -> R
    ) -> R {
        if parameters.isEmpty { return body(nil, nil, nil, 0) }
        let total = parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = parameters.map { _ in Int32(1) }
        return withUnsafeTemporaryAllocation(byteCount: max(total, 1), alignment: 1) { buffer in
            var pointers: [UnsafePointer<CChar>?] = []
            var start = 0
            for parameter in parameters {
                guard let bytes = parameter.bytes else {
                    pointers.append(nil)
                    continue
                }
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + bytes.count])
                part.copyBytes(from: bytes)
                // An empty value is not null, so its pointer must not be nil.
                let pointer = buffer.baseAddress.map { $0 + start }
                pointers.append(pointer.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) })
                start += bytes.count
            }
            return body(pointers, lengths, formats, Int32(parameters.count))
        }
    }
}

/// A parameter in the server's binary format.
struct WireValue {
    /// Nil for NULL.
    let bytes: [UInt8]?

    static let null = WireValue(bytes: nil)

    init(bytes: [UInt8]?) { self.bytes = bytes }
    init(_ value: Int64) { self.init(bytes: value.wireBytes) }
    init(_ value: Double) { self.init(bytes: value.bitPattern.wireBytes) }
    init(_ value: String) { self.init(bytes: Array(value.utf8)) }

    init(_ value: RowValue) {
        switch value {
        case .null: self.init(bytes: nil)
        case .integer(let value): self.init(value)
        case .real(let value): self.init(value)
        case .text(let value): self.init(value)
        case .blob(let value): self.init(bytes: value)
        }
    }

    init(_ row: RowSnapshot, _ column: Int, _ storage: ColumnStorage) {
        if row.isNull(column) {
            self = .null
            return
        }
        switch storage {
        case .integer: self.init(row.integer(column))
        case .real: self.init(row.real(column))
        case .text, .blob: self.init(bytes: row.withBytes(column) { Array($0) })
        }
    }

    init(_ values: [Int64]) {
        var array = WireBuffer(.integer, count: values.count)
        for value in values { array.append(value) }
        self.init(array)
    }

    init(_ array: WireBuffer) { self.init(bytes: array.bytes) }
}

/// An array, or rows for COPY, in the server's binary format. The length of each value comes before the value.
struct WireBuffer {
    private(set) var bytes: [UInt8] = []

    /// Begins an array of `count` values.
    init(_ storage: ColumnStorage, count: Int) {
        bytes.reserveCapacity(20 + count * 12)
        append(raw: Int32(count == 0 ? 0 : 1))
        // The flag for an array that can have nulls.
        append(raw: Int32(1))
        append(raw: storage.elementType)
        guard count > 0 else { return }
        append(raw: Int32(truncatingIfNeeded: count))
        append(raw: Int32(1))
    }

    /// Begins rows for COPY in the binary format. The rows are added and sent in parts.
    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
        bytes.append(contentsOf: "PGCOPY\n".utf8)
        bytes.append(contentsOf: [0xFF, 0x0D, 0x0A, 0])
        // No flags, and no header extension.
        append(raw: Int64(0))
    }

    /// Begins a row for COPY.
    mutating func beginRow(valueCount: Int) { append(raw: Int16(truncatingIfNeeded: valueCount)) }

    /// Ends the rows for COPY.
    mutating func endRows() { append(raw: Int16(-1)) }

    /// Empties the buffer, but keeps its memory.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func appendNull() { append(raw: Int32(-1)) }

    mutating func append(_ value: Int64) {
        append(raw: Int32(8))
        append(raw: value)
    }

    mutating func append(_ value: Double) {
        append(raw: Int32(8))
        append(raw: value.bitPattern)
    }

    mutating func append(_ value: UnsafeRawBufferPointer) {
        append(raw: Int32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: value)
    }

    /// Appends bytes, or NULL for nil.
    mutating func append(_ value: [UInt8]?) {
        guard let value else { return appendNull() }
        value.withUnsafeBytes { append($0) }
    }

    mutating func append(_ value: RowValue) {
        switch value {
        case .null: appendNull()
        case .integer(let value): append(value)
        case .real(let value): append(value)
        case .text(var text): text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): bytes.withUnsafeBytes { append($0) }
        }
    }

    mutating func append(_ row: RowSnapshot, _ column: Int, _ storage: ColumnStorage) {
        if row.isNull(column) { return appendNull() }
        switch storage {
        case .integer: append(row.integer(column))
        case .real: append(row.real(column))
        case .text, .blob: row.withBytes(column) { append($0) }
        }
    }

    private mutating func append(raw value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension ColumnStorage {
    /// The server's type for columns with this storage.
    var typeName: String {
        switch self {
        case .integer: "bigint"
        case .real: "double precision"
        case .text: "text"
        case .blob: "bytea"
        }
    }

    /// The OID of the type in `pg_type.dat`: `int8`, `float8`, `text` or `bytea`.
    fileprivate var elementType: Int32 {
        switch self {
        case .integer: 20
        case .real: 701
        case .text: 25
        case .blob: 17
        }
    }
}

extension ColumnStorage {
    /// - Parameter type: The OID of a server type. Types other than numbers and bytes are read as strings.
    init(type: UInt32) {
        switch type {
        // 20 is `int8`, and 23 is `int4`.
        case 20, 23: self = .integer
        case 701: self = .real
        case 17: self = .blob
        default: self = .text
        }
    }
}

extension FixedWidthInteger {
    fileprivate var wireBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

/// Counts a store's work. Any thread can read the counts.
package final class PostgreSQLCounters: Sendable {
    private let statements = Atomic(0)
    private let rows = Atomic(0)
    private let answers = Atomic(0)

    /// The number of statements that read rows.
    package var statementsRun: Int { statements.load(ordering: .relaxed) }
    /// The number of rows that were inserted, updated or deleted in committed transactions.
    package var rowsWritten: Int { rows.load(ordering: .relaxed) }

    /// The number of times that a connection has waited for an answer of the server, not counting the listening connection.
    package var roundTrips: Int { answers.load(ordering: .relaxed) }

    func count(statements: Int = 0, rows: Int = 0, roundTrips: Int = 0) {
        self.statements.wrappingAdd(statements, ordering: .relaxed)
        self.rows.wrappingAdd(rows, ordering: .relaxed)
        answers.wrappingAdd(roundTrips, ordering: .relaxed)
    }
}
#endif
