internal import CSQLite
internal import RowStore

/// Steps through the rows of a statement and packs them.
///
/// Guarded by: whoever reads the rows. ``ReadAhead`` says who does, one thread at a time.
final class StatementRows: @unchecked Sendable {
    /// Unowned, because it has to end on the thread of its connection, which keeps it while rows are read.
    private unowned(unsafe) let statement: Statement
    private let handle: OpaquePointer
    private let table: EntityTable
    private let columns: ContiguousArray<EntityTable.Column>
    private let joined: [Int]
    private let joinedCount: Int
    private let runs: UnsafeMutablePointer<ByteRun>
    // Only the methods below use it, and none calls another while it does.
    @exclusivity(unchecked) private var pages: RowPages

    init(_ statement: Statement, _ sql: QueryStatement, _ table: EntityTable, joinedCount: Int) {
        self.statement = statement
        handle = statement.handle
        self.table = table
        columns = sql.columns
        joined = sql.joined
        self.joinedCount = joinedCount
        runs = .allocate(capacity: table.byteColumnCount)
        runs.initialize(repeating: ByteRun(), count: table.byteColumnCount)
        pages = RowPages(isShared: sql.filter == nil)
    }

    deinit { runs.deallocate() }

    @inline(__always)
    func step() -> Int32 { sqlite3_step(handle) }

    /// The current row.
    @inline(__always)
    func row() -> StoredRow {
        var stored = StoredRow(
            key: sqlite3_column_int64(handle, 0), row: table.row(handle, columns, runs, &pages))
        if !joined.isEmpty { stored.joined = joinedRow() }
        return stored
    }

    /// The joined columns of the current row.
    private func joinedRow() -> RowSnapshot {
        var row = RowSnapshot(columnCount: joinedCount)
        for (place, column) in joined.enumerated() {
            row.setValue(statement.value(Int32(columns.count + 1 + place)), JoinedColumn.index(column))
        }
        return row
    }
}
