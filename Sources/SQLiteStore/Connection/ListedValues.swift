internal import CSQLite
internal import RowStore

/// Many values for one parameter of a statement. SQLite gets a pointer to this object.
///
/// `column IN (SELECT value FROM listed_values(?1))` can use an index, like a list of parameters. The SQL is the same for lists
/// of every length. SQLite compares the values directly, and does not parse them from a string.
final class ListedValues: Sendable {
    let values: [RowValue]

    init(_ values: [RowValue]) {
        self.values = values
    }

    /// The name by which SQLite recognizes pointers of this type. A static string, because SQLite keeps only its address.
    static var pointerType: UnsafePointer<CChar> {
        UnsafeRawPointer(StaticString("ListedValues").utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// Returns the SQL that follows `IN`.
    static func sql(_ parameter: String) -> String { "(SELECT value FROM listed_values(\(parameter)))" }
}

extension Connection {
    func addListedValues() -> Int32 {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = connectTable
        module.pointee.xDisconnect = disconnectTable
        module.pointee.xBestIndex = planScan
        module.pointee.xOpen = openCursor
        module.pointee.xClose = closeCursor
        module.pointee.xFilter = beginScan
        module.pointee.xNext = moveOn
        module.pointee.xEof = isAtEnd
        module.pointee.xColumn = giveColumn
        module.pointee.xRowid = giveRowID
        // SQLite frees the module when it closes the connection, or at once if this call fails.
        return sqlite3_create_module_v2(handle, "listed_values", module, module) { $0?.deallocate() }
    }
}

private let listColumn: Int32 = 1

private func connectTable(
    _ connection: OpaquePointer?, _: UnsafeMutableRawPointer?, _: Int32, _: UnsafePointer<UnsafePointer<CChar>?>?,
    _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
    _: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    let code = sqlite3_declare_vtab(connection, "CREATE TABLE listed(value, list HIDDEN)")
    guard code == SQLITE_OK else { return code }
    let made = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
    made.initialize(to: sqlite3_vtab())
    table?.pointee = made
    return SQLITE_OK
}

private func disconnectTable(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
    table?.deallocate()
    return SQLITE_OK
}

/// Offers the only plan: a scan of the list from its first value to its last. Without a list, there is no plan.
private func planScan(
    _: UnsafeMutablePointer<sqlite3_vtab>?, _ info: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
    guard let info else { return SQLITE_ERROR }
    for index in 0..<Int(info.pointee.nConstraint) {
        let constraint = info.pointee.aConstraint[index]
        guard constraint.iColumn == listColumn, constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ),
            constraint.usable != 0
        else { continue }
        info.pointee.aConstraintUsage[index].argvIndex = 1
        info.pointee.aConstraintUsage[index].omit = 1
        info.pointee.estimatedCost = 1
        info.pointee.estimatedRows = 100
        return SQLITE_OK
    }
    return SQLITE_CONSTRAINT
}

private func openCursor(
    _: UnsafeMutablePointer<sqlite3_vtab>?,
    _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
    let made = UnsafeMutablePointer<csqlite_list_cursor>.allocate(capacity: 1)
    made.initialize(to: csqlite_list_cursor())
    cursor?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
}

private func closeCursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    cursor?.deallocate()
    return SQLITE_OK
}

/// Starts the scan. The statement retains the bound list, so the list exists during the whole scan.
private func beginScan(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _: Int32, _: UnsafePointer<CChar>?, _ count: Int32,
    _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    guard let cursor, let arguments, count == 1 else { return SQLITE_ERROR }
    withListCursor(cursor) {
        $0.list = UnsafeRawPointer(sqlite3_value_pointer(arguments[0], ListedValues.pointerType))
        $0.position = 0
    }
    return SQLITE_OK
}

private func moveOn(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor else { return SQLITE_ERROR }
    withListCursor(cursor) { $0.position += 1 }
    return SQLITE_OK
}

private func isAtEnd(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor else { return 1 }
    return withListCursor(cursor) { $0.isAtEnd ? 1 : 0 }
}

private func giveColumn(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ column: Int32
) -> Int32 {
    guard let cursor, column != listColumn else { return SQLITE_OK }
    withListCursor(cursor) { if !$0.isAtEnd { setResult($0.values[Int($0.position)], context) } }
    return SQLITE_OK
}

private func giveRowID(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ rowID: UnsafeMutablePointer<sqlite3_int64>?
) -> Int32 {
    guard let cursor else { return SQLITE_ERROR }
    rowID?.pointee = withListCursor(cursor) { $0.position }
    return SQLITE_OK
}

@inline(__always)
private func withListCursor<R>(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>, _ body: (inout csqlite_list_cursor) -> R
) -> R {
    body(&UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: csqlite_list_cursor.self).pointee)
}

extension csqlite_list_cursor {
    /// The values; empty if a value of another type was bound.
    fileprivate var values: [RowValue] {
        guard let list else { return [] }
        return Unmanaged<ListedValues>.fromOpaque(list).takeUnretainedValue().values
    }

    fileprivate var isAtEnd: Bool { position >= values.count }
}
