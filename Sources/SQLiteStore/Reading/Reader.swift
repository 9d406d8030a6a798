internal import CSQLite
internal import Dispatch
internal import RowStore

/// A connection of the pool, for reading.
///
/// Guarded by: the pool, which gives the reader to one caller at a time.
final class Reader: @unchecked Sendable {
    let connection: Connection
    let schema: StoreSchema
    let counters: StoreCounters
    /// The kind of permit that the current read has.
    var permitKind = ReadPermits.Kind.other
    var readNumber: UInt64 = 0
    /// Whether the store is shared. If so, each read records the position of the newest save that it sees.
    var isShared = false
    /// The queue on which ``ReadAhead`` continues long reads.
    private(set) lazy var aheadQueue = DispatchQueue(label: "CoreDataSource.readAhead", qos: .userInteractive)
    /// The transaction that stays open between look-ups; nil if there is none.
    private(set) var keptTransaction: KeptTransaction?
    /// The number of writes to the store up to the last look-up; nil if the last read was not a look-up.
    private var lastLookup: UInt64?
    /// The position of the newest save that the current read sees.
    private(set) var position: Int64 = 0

    /// - Parameter isUnchanging: Whether no process can write to the file.
    init(
        _ files: StoreFiles, _ schema: StoreSchema, counters: StoreCounters, isUnchanging: Bool,
        tracing: StatementTracing?
    ) throws(DataSourceError) {
        guard try files.mainExists() else { throw DataSourceError(storeMoved: files.main) }
        connection = try Connection(
            path: files.main, isReader: true, files: isUnchanging ? .ignored : .createdIfNeeded,
            vfs: files.calls.sqliteVFS)
        try connection.configure()
        try connection.configureReader()
        connection.setChecksCancellation(true)
        connection.trace(tracing)
        self.schema = schema
        self.counters = counters
    }

    func close() {
        connection.close()
    }

    /// Ends the transaction that stays open between look-ups, if any.
    func endKeptTransaction() {
        guard keptTransaction != nil else { return }
        connection.rollBack()
        keptTransaction = nil
    }

    /// Prepares the reader for the next read. If the next read is the second look-up in a row, and nothing was written since
    /// the first, begins a transaction that stays open. For a single look-up, a transaction would bring no gain, and would cost
    /// two more statements.
    ///
    /// - Parameter writes: The number of writes to the store; nil if the next read is not a look-up.
    func prepare(forLookupAfter writes: UInt64?) throws(DataSourceError) {
        if let keptTransaction, keptTransaction.writes != writes || keptTransaction.isOld { endKeptTransaction() }
        defer { lastLookup = writes }
        guard let writes, writes == lastLookup, keptTransaction == nil else { return }
        try connection.beginReading()
        keptTransaction = KeptTransaction(writes: writes)
    }

    func run<R>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard isolation == .snapshot || isShared else { return try body(self) }
        // In SQLite, the snapshot of a transaction begins with its first read. So the position belongs to the same snapshot as
        // the rows.
        try connection.beginReading()
        defer { connection.rollBack() }
        if isShared { try recordPosition() }
        return try body(self)
    }

    /// Begins a transaction that stays open until it is rolled back.
    func beginSnapshot() throws(DataSourceError) {
        endKeptTransaction()
        lastLookup = nil
        try connection.beginReading()
        if isShared { try recordPosition() }
    }

    private func recordPosition() throws(DataSourceError) {
        let statement = try connection.statement(.selectPosition, "SELECT \"position\" FROM \"_feed\"")
        defer { sqlite3_reset(statement.handle) }
        guard statement.step() == SQLITE_ROW else { throw SharedTables.damaged(connection) }
        position = sqlite3_column_int64(statement.handle, 0)
    }

    /// Makes the first step of a statement, passes the result code of the step to the body, and clears the statement for its
    /// next use.
    ///
    /// - Parameter budget: The budget of the query; nil if the query has few rows.
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

extension Reader: AggregatingReader {
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]? {
        guard let table = schema.tables[query.entity], query.joined.isEmpty, !aggregations.isEmpty else { return nil }
        let expressions = aggregations.compactMap { AggregateExpression($0, table.layout) }
        guard expressions.count == aggregations.count else { return nil }
        let sql = QueryStatement(
            query, selecting: .aggregates(expressions), from: table, schema: schema, limits: connection.limits)
        if sql.filter != nil || sql.joinsInSwift { return nil }
        let statement = try sql.prepared(in: connection)
        return try withFirstStep(statement, query.budget) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else {
                // An intermediate sum of integers can overflow although the result is valid. So let the caller calculate the
                // result.
                if String(cString: sqlite3_errmsg(connection.handle)) == "integer overflow" { return nil }
                throw error(code, sql)
            }
            var values = (0..<sqlite3_column_count(statement.handle)).map(statement.value)[...]
            let results = expressions.compactMap { $0.result(&values, table.layout) }
            return results.count == expressions.count ? results : nil
        }
    }
}

extension Reader: StoreReader {
    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        guard let table = schema.tables[query.entity] else { return }
        let sql = QueryStatement(query, from: table, schema: schema, limits: connection.limits)
        if sql.joinsInSwift {
            for row in try Join(ReaderView(reader: self), query.budget).rows(query, [query.entity]) { body(row.stored) }
            return
        }
        let statement = try sql.prepared(in: connection)
        var filter = sql.filter
        try withFirstStep(statement, query.budget) { first throws(DataSourceError) in
            let rows = StatementRows(statement, sql, table, joinedCount: query.joined.count)
            let code = try forEach(rows, first, mayReadAhead: !sql.callsBack) { stored throws(DataSourceError) in
                if filter == nil {
                    body(stored)
                    return true
                }
                if try filter?.accepts(stored, table.layout) ?? true { body(stored) }
                return filter?.isDone != true
            }
            guard code == SQLITE_DONE else { throw error(code, sql) }
        }
    }

    /// Passes all rows of a statement to the body. If there are many rows, another thread reads ahead.
    ///
    /// - Parameters:
    ///   - first: The result code of the first step.
    ///   - body: Returns whether it needs more rows.
    /// - Returns: The result code of the last step.
    @inline(__always)
    private func forEach(
        _ rows: StatementRows, _ first: Int32, mayReadAhead: Bool,
        _ body: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError) -> Int32 {
        var (code, count) = (first, 0)
        var ahead: ReadAhead?
        defer { ahead?.endUnused() }
        while code == SQLITE_ROW {
            if try !body(rows.row()) { return SQLITE_DONE }
            code = rows.step()
            count += 1
            guard count & 63 == 0, code == SQLITE_ROW, mayReadAhead, count >= ReadAhead.firstRows else { continue }
            guard let thread = ahead else {
                ahead = ReadAhead(rows, on: aheadQueue)
                continue
            }
            guard thread.isReady else { continue }
            counters.countContinuedRead()
            return try thread.readRemaining(connection, body)
        }
        return code
    }

    func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        guard let table = schema.tables[query.entity] else { return 0 }
        let sql = QueryStatement(query, selecting: .count, from: table, schema: schema, limits: connection.limits)
        if sql.filter != nil || sql.joinsInSwift { return try rows(query.unlimited).count }
        let statement = try sql.prepared(in: connection)
        return try withFirstStep(statement, query.budget) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else { throw error(code, sql) }
            return Int(sqlite3_column_int64(statement.handle, 0))
        }
    }

    /// Returns the error of a query that ended before its last row.
    func error(_ code: Int32, _ query: QueryStatement) -> DataSourceError {
        if let failure = query.failure { return failure }
        return code & 0xFF == SQLITE_INTERRUPT ? .cancelled : connection.error(code, while: "reading")
    }

    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        guard let table = schema.tables[query.entity] else { return QueryExplanation(statement: "", steps: []) }
        let sql = QueryStatement(query, from: table, schema: schema, limits: connection.limits)
        if sql.joinsInSwift {
            return QueryExplanation(
                statement: "", steps: ["READ RELATED ROWS OUTSIDE OF SQLITE"],
                findings: QueryFindings(outsideJoins: query, table.layout))
        }
        // SQLite can only explain a statement whose collations are registered.
        try connection.add(collationsOf: query.sort)
        let steps = try connection.values("EXPLAIN QUERY PLAN " + sql.sql).compactMap { row -> String? in
            guard case .text(let step) = row.last else { return nil }
            return step
        }
        var findings = QueryFindings(steps, sql.relatedTables)
        if sql.filter != nil { findings.namesOutside = query.predicate.names(table.layout) }
        return QueryExplanation(
            statement: sql.sql, steps: sql.filter == nil ? steps : steps + ["TEST EACH ROW OUTSIDE OF SQLITE"],
            findings: findings)
    }

    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        guard let table = schema.tables[entity] else { return nil }
        let statement = try connection.statement(table.keyStatement, table.keySQL)
        sqlite3_bind_int64(statement.handle, 1, key)
        return try singleRow(statement, table)?.row
    }

    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
        guard let table = schema.tables[entity] else { return nil }
        let columns = table.layout.constraints[constraint]
        // A value that does not have the storage class of its column finds no row. SQLite would convert the value, and could
        // find a row by mistake.
        let fits = zip(columns, values).allSatisfy { $1 != .null && $1.fits(table.layout.columns[$0].storage) }
        guard fits, columns.count == values.count else { return nil }
        let statement = try connection.statement(
            table.constraintStatement(constraint), table.constraintSQL[constraint])
        for (position, value) in values.enumerated() {
            let code = statement.bind(value, Int32(position + 1))
            guard code == SQLITE_OK else { throw connection.error(code, while: "reading") }
        }
        return try singleRow(statement, table)
    }

    /// Returns the row of a statement that has at most one row.
    private func singleRow(_ statement: Statement, _ table: EntityTable) throws(DataSourceError) -> StoredRow? {
        try withFirstStep(statement) { code throws(DataSourceError) in
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw connection.error(code, while: "reading") }
                return nil
            }
            return withUnsafeTemporaryAllocation(of: ByteRun.self, capacity: table.byteColumnCount + 1) { runs in
                runs.initialize(repeating: ByteRun())
                var pages = RowPages()
                let row = table.row(
                    of: statement.handle, columns: table.columns, runs: runs.baseAddress.unsafelyUnwrapped,
                    in: &pages)
                return StoredRow(key: sqlite3_column_int64(statement.handle, 0), row: row)
            }
        }
    }
}

/// The rows in the store, without pending saves.
private struct ReaderView: RowView {
    let reader: Reader
    var layout: ModelLayout { reader.schema.layout }

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] { try reader.rows(query) }
}

/// Steps through the rows of a statement, and packs them into snapshots.
///
/// Guarded by: the thread that reads the rows. ``ReadAhead`` lets only one thread read at a time.
final class StatementRows: @unchecked Sendable {
    /// Unowned, because the statement must be released on the thread of its connection. The connection retains the statement
    /// while rows are read.
    private unowned(unsafe) let statement: Statement
    private let handle: OpaquePointer
    private let table: EntityTable
    private let columns: ContiguousArray<EntityTable.Column>
    private let joined: [Int]
    private let joinedCount: Int
    private let runs: UnsafeMutablePointer<ByteRun>
    // Safe: only the methods below use the pages, and none of these methods calls another meanwhile.
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

    @inline(__always)
    func row() -> StoredRow {
        var stored = StoredRow(
            key: sqlite3_column_int64(handle, 0),
            row: table.row(of: handle, columns: columns, runs: runs, in: &pages))
        if !joined.isEmpty { stored.joined = joinedRow() }
        return stored
    }

    /// Returns the joined columns of the current row.
    private func joinedRow() -> RowSnapshot {
        var row = RowSnapshot(columnCount: joinedCount)
        for (index, column) in joined.enumerated() {
            row.setValue(statement.value(Int32(columns.count + 1 + index)), JoinedColumn.index(column))
        }
        return row
    }
}

extension QueryFindings {
    /// - Parameters:
    ///   - steps: The steps of `EXPLAIN QUERY PLAN`.
    ///   - related: The tables of related rows in the statement.
    fileprivate init(_ steps: [String], _ related: [RelatedTable]) {
        self.init()
        let scans = steps.filter { step in
            // Ignore the scan of a subquery's result: the tables of the subquery have steps of their own.
            step.hasPrefix("SCAN ") && !step.hasPrefix("SCAN (") && !step.contains("VIRTUAL TABLE")
                && !step.contains("CONSTANT ROW")
        }
        // The first word of a step is the name or alias of a table. A word that is not the name of a related table counts as
        // the table of the query's entity, whose name can contain spaces.
        setScans(of: Set(scans.map { String($0.dropFirst(5).prefix { $0 != " " }) }), related)
        // `FOR RIGHT PART OF ORDER BY` and `FOR LAST TERM OF ORDER BY` do not count: such a step sorts only within groups of
        // rows that have equal values in the used index.
        guard steps.contains(where: { $0.hasSuffix("TEMP B-TREE FOR ORDER BY") }) else { return }
        let areFoundByKey = steps.contains { step in
            let (start, end) = ("SEARCH ", " USING INTEGER PRIMARY KEY (rowid=?)")
            return step.hasPrefix(start) && step.hasSuffix(end)
                && !isRelated(step.dropFirst(start.count).dropLast(end.count))
        }
        sort = areFoundByKey ? .byKey : .withoutIndex
    }
}
