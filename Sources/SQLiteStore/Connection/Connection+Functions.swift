internal import CSQLite
internal import PredicateSQL
internal import RowStore

extension PredicateFunction {
    static var pointerType: UnsafePointer<CChar> {
        UnsafeRawPointer(StaticString("PredicateFunction").utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// Evaluates the predicate for a row. SQLite passes the row's values as arguments. Returns nil if the evaluation failed.
    fileprivate func evaluate(_ arguments: UnsafeMutablePointer<OpaquePointer?>) -> Bool? {
        var argument = arguments
        var key: Int64 = 0
        if usesKey {
            key = sqlite3_value_int64(argument.pointee)
            argument += 1
        }
        var row = emptyRow(key: key)
        for column in columns {
            let storage = layout.order(of: column).storage
            if JoinedColumn.isJoined(column) {
                row.joined?.set(argument.pointee, JoinedColumn.index(column), storage)
            } else {
                row.row.set(argument.pointee, column, storage)
            }
            argument += 1
        }
        return evaluate(row)
    }
}

extension RowSnapshot {
    /// Stores an argument in a column. The column then has the same value as if the argument had been read from a column of a
    /// statement.
    fileprivate mutating func set(_ value: OpaquePointer?, _ column: Int, _ storage: ColumnStorage) {
        guard sqlite3_value_type(value) != SQLITE_NULL else { return }
        switch storage {
        case .integer: setInteger(sqlite3_value_int64(value), column)
        case .real: setWord(sqlite3_value_double(value).bitPattern, column)
        case .text, .blob: setBytes(bytes(value), column)
        }
    }
}

extension Statement {
    /// Binds a list or a predicate. The statement retains the object until another value is bound to the parameter.
    private func bind<Object: AnyObject>(
        _ object: Object, _ type: UnsafePointer<CChar>, _ parameter: Int32
    ) -> Int32 {
        sqlite3_bind_pointer(handle, parameter, Unmanaged.passRetained(object).toOpaque(), type) {
            if let object = $0 { Unmanaged<AnyObject>.fromOpaque(object).release() }
        }
    }

    func bind(_ value: SQLParameter, _ parameter: Int32) -> Int32 {
        switch value {
        case .value(let value): bind(value, parameter)
        case .list(let list, _): bind(ListedValues(list), ListedValues.pointerType, parameter)
        case .predicate(let function): bind(function, PredicateFunction.pointerType, parameter)
        }
    }
}

extension StringCollation {
    var name: String { "collation_\(number)" }
}

extension Connection {
    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// Registers functions that SQLite lacks: the order of decimals, long lists of values, predicates that SQL cannot express,
    /// the order of folded strings, and aggregates of related rows. Queries in memory use the same functions, so that both
    /// kinds of queries give the same results.
    func addFunctions() -> Int32 {
        var code = sqlite3_create_collation_v2(
            handle, "decimal", SQLITE_UTF8, nil,
            { _, lhsCount, lhs, rhsCount, rhs in
                Int32(
                    orderDecimals(
                        UnsafeRawBufferPointer(start: lhs, count: Int(lhsCount)),
                        UnsafeRawBufferPointer(start: rhs, count: Int(rhsCount))
                    ).signum())
            }, nil)
        if code == SQLITE_OK { code = addListedValues() }
        if code == SQLITE_OK { code = add("row_test", -1, evaluatePredicate) }
        if code == SQLITE_OK { code = add("text_sort_key", 2, textSortKey) }
        if code == SQLITE_OK { code = addAggregates() }
        return code
    }

    private func add(_ name: String, _ count: Int32, _ function: Function) -> Int32 {
        sqlite3_create_function_v2(
            handle, name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil, function, nil, nil, nil)
    }

    /// Registers the collations of a query with SQLite.
    func add(collationsOf sort: [SortKey]) throws(DataSourceError) {
        for case .collation(let collation) in sort.map(\.order) {
            let code = sqlite3_create_collation_v2(
                handle, collation.name, SQLITE_UTF8, Unmanaged.passRetained(collation).toOpaque(),
                { pointer, lhsCount, lhs, rhsCount, rhs in
                    guard let pointer else { return 0 }
                    let collation = Unmanaged<StringCollation>.fromOpaque(pointer).takeUnretainedValue()
                    let order = StringOrder.collation(collation).compare(
                        UnsafeRawBufferPointer(start: lhs, count: Int(lhsCount)),
                        UnsafeRawBufferPointer(start: rhs, count: Int(rhsCount)))
                    return Int32(order.signum())
                },
                { if let pointer = $0 { Unmanaged<StringCollation>.fromOpaque(pointer).release() } })
            guard code == SQLITE_OK else { throw error(code, while: "reading") }
        }
    }
}

private func evaluatePredicate(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let arguments, let pointer = sqlite3_value_pointer(arguments[0], PredicateFunction.pointerType) else {
        return sqlite3_result_int(context, 0)
    }
    let function = Unmanaged<PredicateFunction>.fromOpaque(pointer).takeUnretainedValue()
    guard let answer = function.evaluate(arguments + 1) else {
        return sqlite3_result_error(context, "a predicate could not be evaluated", -1)
    }
    sqlite3_result_int(context, answer ? 1 : 0)
}

/// Returns the sort key of a string; NULL for NULL.
private func textSortKey(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return sqlite3_result_null(context) }
    let options = StringSorting(rawValue: Int(sqlite3_value_int64(arguments[1])))
    StringOrder.sortKey(bytes(arguments[0]), options).withUnsafeBytes {
        sqlite3_result_blob64(context, $0.baseAddress ?? UnsafeRawPointer(emptyText), UInt64($0.count), copied)
    }
}

/// Returns a copy of a function's argument.
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
