internal import CSQLite
internal import RowStore

/// Writes change sets over the one connection that writes and checkpoints.
///
/// Two connections that do so at once can damage a store with every SQLite before 3.51.3.
final class Writer {
    let connection: Connection
    let schema: StoreSchema
    let counters: StoreCounters
    private let log: WALCheckpointer
    private let watch: FileWatch
    /// The UPDATE for each set of columns that changed together, by entity.
    var updates: [[ColumnSet: Statement]]
    /// Of the group being written.
    var statementsRun = 0
    var rowsWritten = 0

    /// How far ahead of the highest key the bound for new keys is set, so that few commits have to move it.
    static let keyReserve: Int64 = 1024

    init(
        _ connection: Connection, _ schema: StoreSchema, _ counters: StoreCounters, _ watch: FileWatch,
        _ log: WALCheckpointer
    ) {
        self.connection = connection
        self.schema = schema
        self.counters = counters
        updates = Array(repeating: [:], count: schema.tables.count)
        self.log = log
        self.watch = watch
    }

    func close() {
        end()
        connection.close()
    }

    /// Ends all work, and leaves the connection open.
    func end() {
        updates = []
        log.end()
    }

    func checkpointIfNeeded() {
        log.checkpoint(above: log.limits.soft)
    }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) {
        guard group.contains(where: { !$0.isEmpty }) else { return }
        statementsRun = 0
        rowsWritten = 0
        try execute(schema.firstFreeStatement, "BEGIN IMMEDIATE")
        var bound = counters.firstFreeKey
        do {
            try watch.checkLock()
            for changes in group.lazy.flatMap(\.entities) { try write(changes) }
            bound = try moveBound(group)
            try watch.check()
            try execute(schema.firstFreeStatement + 1, "COMMIT")
        } catch {
            connection.rollBack()
            throw error
        }
        counters.firstFreeKey = bound
        counters.count(statements: statementsRun, rows: rowsWritten)
        // The rows are safe, whatever comes of this.
        log.checkpoint(above: log.limits.hard)
    }

    /// Makes sure that no key of the group is given away again after a restart.
    private func moveBound(_ group: [ChangeSet]) throws(DataSourceError) -> Int64 {
        let bound = counters.firstFreeKey
        let highest = group.reduce(0) { max($0, $1.highestInsertedKey) }
        guard highest >= bound else { return bound }
        let next = highest > Int64.max - Writer.keyReserve ? Int64.max : highest + Writer.keyReserve
        try execute(schema.firstFreeStatement + 2, Metadata.setFirstFreeKeySQL, next)
        return next
    }

    /// Runs a statement without rows that is kept under its number, with one parameter or none.
    func execute(_ number: Int, _ sql: String, _ value: Int64? = nil) throws(DataSourceError) {
        let statement = try connection.statement(number, sql)
        if let value { sqlite3_bind_int64(statement.handle, 1, value) }
        let code = statement.step()
        sqlite3_reset(statement.handle)
        statementsRun += 1
        guard code == SQLITE_DONE else { throw connection.error(code, while: "writing") }
    }
}
