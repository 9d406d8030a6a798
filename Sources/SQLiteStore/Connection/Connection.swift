internal import CSQLite
internal import MigrationSQL
internal import PredicateSQL
internal import RowStore

/// An SQLite connection and the statements that were prepared on it.
///
/// Guarded by: its owner. The writer's connection is used only while the store's writer is locked. The pool gives the
/// connection of a reader to one caller at a time. SQLite's own mutexes are off.
final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    let path: String
    /// The prepared statements, at the indexes of their slots.
    private var inSlots: [Statement?] = []
    /// The prepared statements of repeated queries, by their SQL.
    private var queries: [String: Statement] = [:]
    private var isOpen = true
    /// Reports the statements; nil if there is no listener.
    private var tracer: StatementTracer?
    /// Whether the running statement ends if the task is canceled.
    var isCancellable = false
    /// Whether the file has the table of scopes.
    var scopeTable = ScopeTable.Presence.unknown
    private(set) lazy var limits = SQLLimits(
        variables: Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)),
        arguments: Int(sqlite3_limit(handle, SQLITE_LIMIT_FUNCTION_ARG, -1)),
        length: Int(sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, -1)))

    /// - Parameters:
    ///   - files: How SQLite treats the log and the shared memory beside the file.
    ///   - vfs: The name of the SQLite VFS; nil for the default VFS.
    init(
        path: String, isReader: Bool, files: SideFiles = .createdIfNeeded, vfs: String? = nil
    ) throws(DataSourceError) {
        var opened: OpaquePointer?
        let access = isReader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let naming = files == .createdIfNeeded ? 0 : SQLITE_OPEN_URI
        let code = sqlite3_open_v2(
            Connection.address(path, files), &opened,
            access | naming | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, vfs)
        guard let handle = opened else {
            throw DataSourceError(
                .storeUnreadable, "There is not enough memory to open \(path). Free some memory, and try again.")
        }
        guard code == SQLITE_OK else {
            let error = DataSourceError(sqlite: code, connection: handle, path: path, while: "opening")
            sqlite3_close(handle)
            throw error
        }
        self.handle = handle
        self.path = path
    }

    /// How SQLite treats the log and the shared memory beside a file.
    enum SideFiles: String {
        /// SQLite makes these files when it needs them.
        case createdIfNeeded = ""
        /// SQLite reads existing shared memory, but makes none.
        case existingOnly = "?readonly_shm=1"
        /// SQLite ignores these files, and assumes that the main file never changes.
        case ignored = "?immutable=1"
    }

    /// Returns the path, or a URI for SQLite. In a URI, the characters `?`, `#` and `%` are escaped.
    private static func address(_ path: String, _ files: SideFiles) -> String {
        if files == .createdIfNeeded { return path }
        let escapes: [Unicode.Scalar: String] = ["%": "%25", "?": "%3f", "#": "%23"]
        return "file:" + path.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + files.rawValue
    }

    deinit {
        close()
    }

    /// Finalizes all statements and closes the connection. Further calls do nothing.
    ///
    /// - Parameter copyingLog: Whether the last connection to close copies the log into the main file and removes the log; nil
    ///   to keep the current setting.
    func close(copyingLog: Bool? = nil) {
        guard isOpen else { return }
        if let copyingLog { try? set(closingCopiesLog: copyingLog) }
        isOpen = false
        inSlots = []
        queries = [:]
        // End the tracing, because a statement that another object retains could exist longer than the tracer.
        if tracer != nil { sqlite3_trace_v2(handle, 0, nil, nil) }
        sqlite3_close_v2(handle)
    }

    /// Reports all statements that run after this call.
    func trace(_ tracing: StatementTracing?) {
        tracer = tracing.map { StatementTracer(handle, $0) }
    }
}

// MARK: - Statements

extension Connection {
    /// The maximum number of query statements that are kept. If one more is needed, all are removed.
    private static let queryLimit = 64

    /// Returns the statement in the slot. Prepares the statement on its first use.
    @inline(__always)
    func statement(_ slot: StatementSlot, _ sql: @autoclosure () -> String) throws(DataSourceError) -> Statement {
        let index = slot.index
        if index < inSlots.count, let statement = inSlots[index] { return statement }
        let statement = try prepare(sql())
        while inSlots.count <= index { inSlots.append(nil) }
        inSlots[index] = statement
        return statement
    }

    @inline(__always)
    func statement(_ fixed: FixedStatement, _ sql: @autoclosure () -> String) throws(DataSourceError) -> Statement {
        try statement(StatementSlot(fixed), sql())
    }

    /// Begins a transaction that sees the state of its first read.
    func beginReading() throws(DataSourceError) {
        let statement = try statement(.begin, "BEGIN")
        let code = statement.step()
        sqlite3_reset(statement.handle)
        guard code == SQLITE_DONE else { throw error(code, while: "reading") }
    }

    /// Returns the statement of a query, with the values bound.
    ///
    /// - Parameter isKept: Whether later queries with the same SQL can use the statement again.
    func statement(
        _ sql: String, _ values: [SQLParameter], sortedBy sort: [SortKey], isKept: Bool
    ) throws(DataSourceError) -> Statement {
        let known = queries[sql]
        let statement = if let known { known } else { try prepare(sql, sortedBy: sort, isKept: isKept) }
        for (position, value) in values.enumerated() {
            let code = statement.bind(value, Int32(position + 1))
            guard code == SQLITE_OK else {
                statement.clear()
                throw error(code, while: "reading")
            }
        }
        return statement
    }

    private func prepare(
        _ sql: String, sortedBy sort: [SortKey], isKept: Bool
    ) throws(DataSourceError) -> Statement {
        try add(collationsOf: sort)
        let statement = try prepare(sql)
        guard isKept else { return statement }
        if queries.count >= Connection.queryLimit { queries.removeAll(keepingCapacity: true) }
        queries[sql] = statement
        return statement
    }

    func prepare(_ sql: String) throws(DataSourceError) -> Statement {
        var prepared: OpaquePointer?
        var sql = sql
        let code = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(
                    handle, $0.baseAddress, Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
            }
        }
        guard code == SQLITE_OK, let prepared else { throw error(code, while: "reading") }
        return Statement(prepared)
    }

    /// Runs one statement, and ignores its result rows.
    func run(_ sql: String) throws(DataSourceError) {
        let statement = try prepare(sql)
        var code = statement.step()
        while code == SQLITE_ROW { code = statement.step() }
        guard code == SQLITE_DONE else { throw error(code, while: "using") }
    }

    /// Returns all rows of a query as values. Used for metadata; the rows of entities are read directly into snapshots.
    func values(_ sql: String) throws(DataSourceError) -> [[RowValue]] {
        try rows(of: prepare(sql))
    }

    func rows(of statement: Statement) throws(DataSourceError) -> [[RowValue]] {
        var rows: [[RowValue]] = []
        while true {
            let code = statement.step()
            if code == SQLITE_DONE { return rows }
            guard code == SQLITE_ROW else { throw error(code, while: "reading") }
            rows.append((0..<sqlite3_column_count(statement.handle)).map(statement.value))
        }
    }

    func error(_ code: Int32, while action: String) -> DataSourceError {
        DataSourceError(sqlite: code, connection: handle, path: path, while: action)
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls back the open transaction, if there is one.
    func rollBack() {
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }
}

extension Connection {
    /// Whether SQLite could open the file only for reading. SQLite does not report this case as an error.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Runs the body in a transaction that takes the write lock when it begins.
    func transaction<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try run("BEGIN IMMEDIATE")
        do throws(DataSourceError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    func insert(_ metadata: StoreMetadata) throws(DataSourceError) {
        try insert(metadata.rows)
    }

    /// Inserts rows into the metadata table.
    func insert(_ rows: [String: RowValue]) throws(DataSourceError) {
        let statement = try prepare(StoreMetadata.insertSQL)
        for (name, value) in rows {
            var code = statement.bind(.text(name), 1)
            if code == SQLITE_OK { code = statement.bind(value, 2) }
            if code == SQLITE_OK { code = statement.step() }
            guard code == SQLITE_DONE else { throw error(code, while: "creating") }
            statement.clear()
        }
    }
}

extension Connection: SQLConnection {
    /// Returns all rows of a query with parameters. Ignores surplus values.
    func values(_ sql: String, _ values: [RowValue]) throws(DataSourceError) -> [[RowValue]] {
        let statement = try prepare(sql)
        try bind(values, to: statement, from: 1)
        return try rows(of: statement)
    }

    func bind(_ values: [RowValue], to statement: Statement, from first: Int32) throws(DataSourceError) {
        let count = sqlite3_bind_parameter_count(statement.handle)
        for (parameter, value) in zip(first..., values) where parameter <= count {
            let code = statement.bind(value, parameter)
            guard code == SQLITE_OK else { throw error(code, while: "using") }
        }
    }
}
