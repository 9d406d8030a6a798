internal import CSQLite
internal import RowStore

/// Many values, for a query to look into. SQLite gets a pointer to it in place of a list of parameters.
final class ValueSet: Sendable {
    let values: Set<RowValue>

    init(_ values: some Sequence<RowValue>) {
        self.values = Set(values)
    }

    /// The name by which SQLite tells pointers of this kind from others; compared as a text, kept for ever.
    static var pointerType: UnsafePointer<CChar> {
        UnsafeRawPointer(StaticString("ValueSet").utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

extension Statement {
    /// Binds the set, which lives until another value is bound.
    func bind(_ set: ValueSet, _ parameter: Int32) -> Int32 {
        sqlite3_bind_pointer(handle, parameter, Unmanaged.passRetained(set).toOpaque(), ValueSet.pointerType) {
            if let set = $0 { Unmanaged<ValueSet>.fromOpaque(set).release() }
        }
    }
}

extension Connection {
    /// Adds what SQLite lacks to answer as rows in memory do: the order of decimals, and long lists of values.
    func addFunctions() -> Int32 {
        let code = sqlite3_create_collation_v2(
            handle, "decimal", SQLITE_UTF8, nil,
            { _, oneCount, one, otherCount, other in
                Int32(
                    orderDecimals(
                        UnsafeRawBufferPointer(start: one, count: Int(oneCount)),
                        UnsafeRawBufferPointer(start: other, count: Int(otherCount))
                    ).signum())
            }, nil)
        guard code == SQLITE_OK else { return code }
        return sqlite3_create_function_v2(
            handle, "is_in_set", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil,
            { context, _, arguments in
                guard let arguments, let pointer = sqlite3_value_pointer(arguments[0], ValueSet.pointerType) else {
                    sqlite3_result_int(context, 0)
                    return
                }
                let set = Unmanaged<ValueSet>.fromOpaque(pointer).takeUnretainedValue()
                sqlite3_result_int(context, set.values.contains(value(arguments[1])) ? 1 : 0)
            }, nil, nil, nil)
    }
}

/// A copy of an argument of a function.
func value(_ value: OpaquePointer?) -> RowValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT: return .text(String(decoding: bytes(value), as: UTF8.self))
    case SQLITE_BLOB: return .blob(Array(bytes(value)))
    default: return .null
    }
}

private func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
}
