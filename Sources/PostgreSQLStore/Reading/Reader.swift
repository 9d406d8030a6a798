#if PostgreSQL
internal import Foundation
internal import PredicateSQL
internal import RowStore

/// A reading connection of the pool.
///
/// Guarded by: the pool, which gives the reader to one caller at a time.
final class Reader: @unchecked Sendable {
    private let options: PostgreSQLOptions
    private let connection: Connection
    private let schema: PostgreSQLSchema
    let tables: [Int: QueryTable]
    private let counters: PostgreSQLCounters
    /// The position of the newest save in the state that the reader sees.
    private(set) var position: Int64 = 0
    private var cursorNumber = 0
    /// Whether the store has the table of scopes. A store of an earlier release can get the table at any time.
    private var hasScopes = false

    /// The number of rows in the first page. The page is small, because many queries have few rows.
    private static let firstPage = 256
    private static let longestPage = 4096
    /// The approximate size of a page in bytes, estimated from the previous page.
    private static let pageBytes = 8 << 20
    /// A statement with more parameters is not kept, because it is seldom used again.
    private static let keptParameters = 40

    init(
        _ options: PostgreSQLOptions, _ schema: PostgreSQLSchema, _ counters: PostgreSQLCounters
    ) throws(DataSourceError) {
        self.options = options
        connection = try Connection(options.target)
        connection.tracing = options.tracing
        connection.counters = counters
        self.schema = schema
        self.counters = counters
        tables = schema.queryTables
    }

    var layout: ModelLayout { schema.layout }
    var isUsable: Bool { connection.isUsable }

    func close() { connection.close() }

    private static let begin = Request("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    /// Begins a transaction in which all reads see one state, and reads the position of this state.
    ///
    /// - Parameter snapshot: The name of the state of another transaction, from ``exportSnapshot()``; nil for the newest state.
    func begin(_ snapshot: String? = nil) throws(DataSourceError) {
        let position = Request("SELECT \(schema.position) FROM \(schema.qualified(PostgreSQLSchema.feed))")
        let results =
            if let snapshot {
                try pipeline([
                    Reader.begin, Request("SET TRANSACTION SNAPSHOT '\(snapshot)'", isKept: false), position,
                ])
            } else { try pipeline([Reader.begin, position]) }
        guard let found = results.last, found.rowCount == 1 else { throw DataSourceError(damagedSharing: schema.name) }
        self.position = found.integer(0, 0)
    }

    /// Begins a transaction that locks no table, and returns the name of its state. Other transactions can see this state
    /// until this transaction ends.
    func exportSnapshot() throws(DataSourceError) -> String {
        try pipeline([Reader.begin, Request("SELECT pg_export_snapshot()")])[1].text(0, 0)
    }

    /// Reads the history in the transaction of the reader.
    var historyReader: HistoryReader {
        HistoryReader(schema) { sql, values throws(DataSourceError) in
            try self.pipeline([Request(sql, values, isKept: false)])[0]
        }
    }

    /// Runs statements in the transaction.
    ///
    /// - Throws: `storeReset` if the tables are gone because another process has reset the store in the meantime.
    private func pipeline(_ requests: [Request]) throws(DataSourceError) -> [QueryResult] {
        try connection.checkingGeneration(schema, options.name) { () throws(DataSourceError) in
            try connection.pipeline(requests)
        }
    }

    /// Ends the transaction. After an error, the connection cannot be used any more.
    func end() {
        guard connection.isUsable else { return }
        do throws(DataSourceError) { try connection.run("ROLLBACK") } catch { connection.close() }
    }
}

extension Reader: ScopeReader {
    func scope(named name: String) throws(DataSourceError) -> StoredScope? {
        guard try findsScopes() else { throw DataSourceError(noScopesIn: options.name) }
        if name.utf8.contains(0) { return nil }
        counters.count(statements: 1)
        return try pipeline([Request(schema.scopeSQL, [WireValue(name)])])[0].values.first
            .flatMap(StoredScope.init(values:))
    }

    /// Whether the store has the table of scopes. A store that was made by an earlier release may not have it yet.
    private func findsScopes() throws(DataSourceError) -> Bool {
        if !hasScopes { hasScopes = try pipeline([Request(schema.scopesExistSQL)])[0].isTrue(0, 0) }
        return hasScopes
    }
}

extension Reader: RequestReader {
    func lastAnswerPosition() throws(DataSourceError) -> Int64 {
        guard try findsScopes() else { return 0 }
        counters.count(statements: 1)
        return try pipeline([Request(schema.lastPositionSQL)])[0].integer(0, 0)
    }

    func scopes(
        after position: Int64, requestedSince time: Date, listsSince listTime: Date
    ) throws(DataSourceError) -> [StoredScope] {
        guard try findsScopes() else { return [] }
        counters.count(statements: 1)
        let times = [time, listTime].map { WireValue(RowValue.real($0.timeIntervalSinceReferenceDate)) }
        return try pipeline([Request(schema.laterRequestsSQL, [WireValue(position)] + times)])[0].values
            .compactMap(StoredScope.init(values:))
    }
}

extension Reader: StatementReader {
    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        guard let table = schema.tables[entity] else { return nil }
        return try firstRow(table, table.keySQL, [WireValue(key)])?.row
    }

    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
        guard let table = schema.tables[entity], !values.contains(.null) else { return nil }
        let columns = table.layout.constraints[constraint]
        for (value, column) in zip(values, columns) {
            if case .text(let text) = value, text.utf8.contains(0) { return nil }
            guard value.fits(table.layout.columns[column].storage) else { return nil }
        }
        return try firstRow(table, table.constraintSQL[constraint], values.map { WireValue($0) })
    }

    private func firstRow(
        _ table: PostgreSQLTable, _ sql: String, _ parameters: [WireValue]
    ) throws(DataSourceError) -> StoredRow? {
        counters.count(statements: 1)
        let found = try pipeline([Request(sql, parameters)])[0]
        return found.rowCount == 0 ? nil : found.row(0, table.layout, table.stored)
    }

    func steps(of statement: QueryStatement) throws(DataSourceError) -> [String] {
        counters.count(statements: 1)
        let request = Request(
            "EXPLAIN (COSTS OFF) " + statement.sql, statement.parameters.map { WireValue($0) }, isKept: false)
        let found = try pipeline([request])[0]
        return (0..<found.rowCount).map { found.text($0, 0) }
    }

    /// The settings end with the savepoint, so that later statements of the transaction are planned as usual.
    func planJSON(of statement: QueryStatement, _ question: PlanQuestion) throws(DataSourceError) -> String {
        counters.count(statements: 1)
        func request(_ sql: String) -> Request { Request(sql, isKept: false) }
        let begin =
            [request("SAVEPOINT _plan")]
            + question.settings.map { request("SET LOCAL \($0.name) = \($0.isOn ? "on" : "off")") }
        let plan = Request(
            "EXPLAIN (COSTS OFF, FORMAT JSON) " + statement.sql, statement.parameters.map { WireValue($0) },
            isKept: false)
        let end = [request("ROLLBACK TO SAVEPOINT _plan"), request("RELEASE SAVEPOINT _plan")]
        let found = try pipeline(begin + [plan] + end)[begin.count]
        return found.rowCount == 0 ? "" : found.text(0, 0)
    }

    func firstIndexColumns() throws(DataSourceError) -> [String: String] {
        counters.count(statements: 1)
        let request = Request(
            """
            SELECT c.relname::text, pg_get_indexdef(i.indexrelid, 1, true) FROM pg_index i \
            JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
            """, [WireValue(schema.name)], isKept: false)
        let found = try pipeline([request])[0]
        return (0..<found.rowCount).reduce(into: [:]) { $0[found.text($1, 0)] = found.text($1, 1) }
    }

    func read(
        _ statement: QueryStatement, _ body: (StoredRow) throws(DataSourceError) -> Bool
    ) throws(DataSourceError) {
        counters.count(statements: 1)
        let parameters = statement.parameters.map { WireValue($0) }
        // A few rows need no cursor, so one round trip suffices.
        if let most = statement.rowLimit, most <= Reader.firstPage {
            let request = Request(statement.sql, parameters, isKept: parameters.count <= Reader.keptParameters)
            let found = try pipeline([request])[0]
            for row in 0..<found.rowCount {
                guard try body(found.row(row, of: statement)) else { return }
            }
            return
        }
        // Many rows are read in pages. The round trip that opens the cursor also reads the first page.
        cursorNumber += 1
        let cursor = "_c\(cursorNumber)"
        func fetch(_ count: Int) -> Request { Request("FETCH \(count) FROM \(cursor)", isKept: false) }
        let first = statement.hasLongColumns ? 16 : Reader.firstPage
        let declared = try pipeline([
            Request("DECLARE \(cursor) NO SCROLL CURSOR FOR \(statement.sql)", parameters, isKept: false),
            fetch(first),
        ])
        var (found, wanted) = (declared[1], first)
        while true {
            var bytes = 0
            for row in 0..<found.rowCount {
                let stored = found.row(row, of: statement)
                bytes += stored.row.byteCount
                guard try body(stored) else {
                    return try close(cursor)
                }
            }
            if found.rowCount < wanted { return try close(cursor) }
            let average = max(1, bytes / max(1, found.rowCount))
            wanted = max(1, min(Reader.longestPage, wanted * 16, Reader.pageBytes / average))
            found = try pipeline([fetch(wanted)])[0]
        }
    }

    private func close(_ cursor: String) throws(DataSourceError) {
        _ = try pipeline([Request("CLOSE \(cursor)", isKept: false)])
    }
}

extension QueryStatement {
    /// Whether a single row can have many bytes, because the statement returns blobs.
    fileprivate var hasLongColumns: Bool { columns.contains { layout.columns[$0].storage == .blob } }
}

extension QueryResult {
    /// A row of a result: the key comes first, followed by the given columns.
    fileprivate func row(_ row: Int, _ layout: EntityLayout, _ columns: [Int]) -> StoredRow {
        var snapshot = RowSnapshot(columnCount: layout.columns.count)
        for (index, column) in columns.enumerated() {
            copy(row, index + 1, to: &snapshot, at: column, as: layout.columns[column].storage)
        }
        return StoredRow(key: integer(row, 0), row: snapshot)
    }

    /// A row with its joined columns, which come last.
    fileprivate func row(_ row: Int, of statement: QueryStatement) -> StoredRow {
        var stored = self.row(row, statement.layout, statement.columns)
        if statement.joined.isEmpty { return stored }
        var joined = RowSnapshot(columnCount: statement.query.joined.count)
        for (index, column) in statement.joined.enumerated() {
            copy(
                row, statement.columns.count + index + 1, to: &joined, at: JoinedColumn.index(column),
                as: statement.layout.order(of: column).storage)
        }
        stored.joined = joined
        return stored
    }
}

extension PostgreSQLSchema {
    fileprivate var queryTables: [Int: QueryTable] {
        var found: [Int: QueryTable] = [:]
        for (number, table) in tables.enumerated() {
            guard let table else { continue }
            found[number] = QueryTable(
                table.layout, name: table.name, key: PostgreSQLTable.keyName.quoted, columns: table.columns)
        }
        return found
    }
}

extension WireValue {
    fileprivate init(_ parameter: SQLParameter) {
        switch parameter {
        case .value(let value): self.init(value)
        case .list(let list, let storage):
            var array = WireBuffer(storage, count: list.count)
            for value in list { array.append(value) }
            self.init(array)
        case .predicate: preconditionFailure("A server passes no predicates back.")
        }
    }
}
#endif
