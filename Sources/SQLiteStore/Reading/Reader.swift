internal import CSQLite
internal import Dispatch
internal import RowStore

/// One reading connection of the pool.
///
/// Guarded by: the pool, which gives it to one caller at a time.
final class Reader: @unchecked Sendable {
    let connection: Connection
    let schema: StoreSchema
    let counters: StoreCounters
    /// The name of the read that uses it.
    var use = ReadPermits.Use.other
    /// The number of the read that uses it.
    var readNumber: UInt64 = 0
    /// Whether each read records its position.
    var isShared = false
    /// Where long reads are continued while their rows are used.
    private(set) lazy var aheadQueue = DispatchQueue(label: "CoreDataSource.readAhead", qos: .userInteractive)
    /// The transaction that is kept open from one look-up to the next.
    private(set) var kept: KeptRead?
    /// How often the store had been written at the last read, if that was a look-up.
    private var lastLookup: UInt64?
    /// The position of the newest save in the state that is read.
    private(set) var position: Int64 = 0

    /// - Parameter isUnchanging: Whether nobody can write the file.
    init(
        _ files: StoreFiles, _ schema: StoreSchema, _ counters: StoreCounters, isUnchanging: Bool,
        _ tracing: StatementTracing?
    ) throws(DataSourceError) {
        guard try files.mainExists() else { throw DataSourceError(storeMoved: files.main) }
        connection = try Connection(
            path: files.main, isReader: true, files: isUnchanging ? .ignored : .made, vfs: files.calls.sqliteVFS)
        try connection.configure()
        try connection.settleReader()
        connection.setEndsWithItsTask(true)
        connection.trace(tracing)
        self.schema = schema
        self.counters = counters
    }

    func close() {
        connection.close()
    }

    /// Ends the transaction that is kept open.
    func endKept() {
        guard kept != nil else { return }
        connection.rollBack()
        kept = nil
    }

    /// Begins to keep a transaction with the second of two look-ups between which nothing was written: for a single one, that
    /// would only be two statements more.
    ///
    /// - Parameter writes: How often the store has been written; nil if the next read is no look-up.
    func prepare(forLookupAfter writes: UInt64?) throws(DataSourceError) {
        if let kept, kept.writes != writes || kept.isOld { endKept() }
        defer { lastLookup = writes }
        guard let writes, writes == lastLookup, kept == nil else { return }
        try execute(schema.firstFreeStatement, "BEGIN")
        kept = KeptRead(writes: writes)
    }

    func run<R>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard isolation == .snapshot || isShared else { return try body(self) }
        // The first read makes the snapshot.
        try execute(schema.firstFreeStatement, "BEGIN")
        defer { connection.rollBack() }
        if isShared { try notePosition() }
        return try body(self)
    }

    private func notePosition() throws(DataSourceError) {
        let statement = try connection.statement(schema.firstFreeStatement + 7, "SELECT \"position\" FROM \"_feed\"")
        defer { sqlite3_reset(statement.handle) }
        guard statement.step() == SQLITE_ROW else { throw SharedTables.damaged(connection) }
        position = sqlite3_column_int64(statement.handle, 0)
    }

    private func execute(_ number: Int, _ sql: String) throws(DataSourceError) {
        let statement = try connection.statement(number, sql)
        let code = statement.step()
        sqlite3_reset(statement.handle)
        guard code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
    }

    /// Steps to the first row of a statement, passes it on, and prepares the statement for the next use.
    ///
    /// - Parameter budget: The budget of the query, if there can be many rows.
    func withFirstStep<R>(
        _ statement: Statement, _ budget: QueryBudget? = nil, _ body: (_ code: Int32) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        counters.count(statements: 1)
        connection.isCancellable = budget?.isCancellable ?? false
        defer {
            connection.isCancellable = false
            statement.clear()
        }
        return try body(statement.step())
    }
}
