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

    /// How many rows the statement has inserted, changed or deleted.
    var changedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(handle, Int32(row), Int32(column)),
            count: Int(PQgetlength(handle, Int32(row), Int32(column))))
    }

    /// A `bigint` or an `integer`; 0 for NULL.
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

    func isTrue(_ row: Int, _ column: Int) -> Bool { integer(row, column) != 0 }

    /// Puts a value into a row of the store.
    func copy(_ row: Int, _ column: Int, to snapshot: inout RowSnapshot, _ target: Int, _ storage: ColumnStorage) {
        if isNull(row, column) { return snapshot.setNull(target) }
        switch storage {
        case .integer: snapshot.setInteger(integer(row, column), target)
        case .real: snapshot.setReal(real(row, column), target)
        case .text, .blob: snapshot.setBytes(bytes(row, column), target)
        }
    }

    /// A field of an error: what the server reports besides its message.
    func field(_ code: Character) -> String? {
        guard let scalar = code.unicodeScalars.first,
            let text = PQresultErrorField(handle, Int32(scalar.value))
        else { return nil }
        return String(cString: text)
    }
}
#endif
