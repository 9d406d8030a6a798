#if PostgreSQL
internal import RowStore

/// Sends the rows of change sets to the server, many rows in one round trip.
struct RowWriter {
    private let connection: Connection
    private let schema: PostgreSQLSchema
    private var waiting: [Waiting] = []
    private var waitingBytes = 0

    private struct Waiting {
        let request: Request
        /// Nil for a statement that writes no rows.
        var table: PostgreSQLTable?
        /// The number of rows that the statement must change; nil for any number.
        var expected: Int?
    }

    /// The largest number of rows in one statement, and the largest numbers of statements and bytes in one round trip.
    private static let rowLimit = 4000
    private static let statementLimit = 64
    private static let byteLimit = 4 << 20
    /// If a table has at least this many new rows, they are sent by COPY, which needs separate round trips.
    private static let copiedRows = 1000
    /// The longest row in bytes. A message to the server can have at most 1 GB.
    private static let longestRow = 900 << 20

    /// - Parameter first: The statements to send before all others.
    init(_ connection: Connection, _ schema: PostgreSQLSchema, first: [Request] = []) {
        self.connection = connection
        self.schema = schema
        waiting = first.map { Waiting(request: $0) }
    }

    mutating func write(_ entities: [EntityChanges]) throws(DataSourceError) {
        for changes in entities {
            let table = try schema.table(changes.entity)
            for row in changes.inserted { try check(row.row, table) }
            for row in changes.updated { try check(row.row, table) }
            try delete(changes.deleted, table)
            try update(changes.updated, table)
            try insert(changes.inserted, table)
        }
    }

    /// Writes the rest of a save of which some rows were written early. Deletes early rows that do not match the save.
    mutating func write(_ remainder: EarlyRows.Remainder) throws(DataSourceError) {
        for stale in remainder.stale { try delete(stale.rows, schema.table(stale.entity)) }
        try write(remainder.changes)
    }

    /// Inserts rows of a save that is still being made, and waits until the server has the rows. The server checks unique
    /// values later.
    mutating func insert(_ new: NewRows) throws(DataSourceError) {
        let table = try schema.table(new.entity)
        for row in new.rows { try check(row.row, table) }
        try insert(new.rows, table)
        _ = try flush(and: [])
    }

    private static let checks = ["SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED"].map { Request($0) }

    /// Makes the server check unique values before it gets more rows.
    mutating func check() {
        if schema.hasConstraints { waiting += RowWriter.checks.map { Waiting(request: $0) } }
    }

    /// Waits until the server has all rows and has checked unique values.
    ///
    /// - Parameter last: The statements to send after the check, in the same round trip.
    /// - Returns: The results of `last`.
    @discardableResult
    mutating func finish(_ last: [Request] = []) throws(DataSourceError) -> [QueryResult] {
        check()
        return try Array(flush(and: last).suffix(last.count))
    }

    private mutating func add(
        _ sql: String, _ values: [WireValue], _ table: PostgreSQLTable, expected: Int? = nil, isKept: Bool = true
    ) throws(DataSourceError) {
        waiting.append(Waiting(request: Request(sql, values, isKept: isKept), table: table, expected: expected))
        for value in values { waitingBytes += value.bytes?.count ?? 0 }
        if waiting.count >= RowWriter.statementLimit || waitingBytes >= RowWriter.byteLimit { _ = try flush(and: []) }
    }

    private mutating func flush(and last: [Request]) throws(DataSourceError) -> [QueryResult] {
        let sent = waiting
        (waiting, waitingBytes) = ([], 0)
        if sent.isEmpty && last.isEmpty { return [] }
        let results: [QueryResult]
        do throws(DataSourceError) {
            results = try connection.pipeline(sent.map(\.request) + last)
        } catch {
            throw schema.withModelNames(error)
        }
        for (waiting, result) in zip(sent, results) {
            guard let expected = waiting.expected, result.changedRows != expected else { continue }
            throw DataSourceError(updateOfMissingRowOf: waiting.table?.layout.name)
        }
        return results
    }

    // MARK: Rows

    private func check(_ row: RowSnapshot, _ table: PostgreSQLTable) throws(DataSourceError) {
        guard row.byteCount > RowWriter.longestRow else { return }
        throw DataSourceError(
            .valueTooLarge,
            "An object of \(table.layout.name) has more than 900 MB. Keep large data in separate files.",
            entityName: table.layout.name)
    }

    private mutating func insert(_ rows: [StoredRow], _ table: PostgreSQLTable) throws(DataSourceError) {
        let columns = table.stored
        if rows.count == 1, let row = rows.first {
            let values = try columns.map { column throws(DataSourceError) in try table.value(row.row, column) }
            return try add(table.insertSQL, [WireValue(row.key)] + values, table)
        }
        if rows.count >= RowWriter.copiedRows { return try copy(rows, table) }
        for part in parts(of: rows, \.row) {
            var values = [WireValue(part.map(\.key))]
            for column in columns {
                values.append(try table.array(part.lazy.map(\.row), part.count, column))
            }
            try add(table.insertManySQL, values, table)
        }
    }

    /// Inserts rows by COPY. The server inserts rows while later rows are encoded.
    private mutating func copy(_ rows: [StoredRow], _ table: PostgreSQLTable) throws(DataSourceError) {
        _ = try flush(and: [])
        let columns = table.stored.map { (number: $0, storage: table.layout.columns[$0].storage) }
        do throws(DataSourceError) {
            try connection.copy(table.copySQL, rows) { (row, buffer) throws(DataSourceError) in
                buffer.beginRow(valueCount: columns.count + 1)
                buffer.append(row.key)
                for column in columns {
                    try table.check(row.row, column.number)
                    buffer.append(row.row, column.number, column.storage)
                }
            }
        } catch {
            throw schema.withModelNames(error)
        }
    }

    private mutating func delete(_ rows: [StoredRow], _ table: PostgreSQLTable) throws(DataSourceError) {
        for part in rows.chunks(ofSize: RowWriter.rowLimit) {
            try add(table.deleteSQL, [WireValue(part.map(\.key))], table)
        }
    }

    /// Writes only the changed columns. Rows with the same changed columns are written together.
    private mutating func update(_ rows: [UpdatedRow], _ table: PostgreSQLTable) throws(DataSourceError) {
        var groups: [ColumnSet: [UpdatedRow]] = [:]
        var order: [ColumnSet] = []
        for row in rows {
            if groups[row.columns] == nil { order.append(row.columns) }
            groups[row.columns, default: []].append(row)
        }
        for set in order {
            let columns = table.stored.filter { set.contains($0) }
            let group = groups[set] ?? []
            if columns.isEmpty { continue }
            // A single row needs no arrays.
            if group.count == 1, let row = group.first {
                let values = try columns.map { column throws(DataSourceError) in try table.value(row.row, column) }
                try add(table.updateSQL(columns), [WireValue(row.key)] + values, table, expected: 1)
                continue
            }
            for part in parts(of: group, \.row) {
                var values = [WireValue(part.map(\.key))]
                for column in columns { values.append(try table.array(part.lazy.map(\.row), part.count, column)) }
                try add(table.updateManySQL(columns), values, table, expected: part.count)
            }
        }
    }

    /// Divides rows into parts that are small enough for one statement.
    private func parts<Row>(of rows: [Row], _ snapshot: (Row) -> RowSnapshot) -> [ArraySlice<Row>] {
        var parts: [ArraySlice<Row>] = []
        var (start, bytes) = (0, 0)
        for (index, row) in rows.enumerated() {
            bytes += snapshot(row).byteCount
            if index - start + 1 >= RowWriter.rowLimit || bytes >= RowWriter.byteLimit {
                parts.append(rows[start...index])
                (start, bytes) = (index + 1, 0)
            }
        }
        if start < rows.count { parts.append(rows[start...]) }
        return parts
    }
}

extension PostgreSQLTable {
    fileprivate func value(_ row: RowSnapshot, _ column: Int) throws(DataSourceError) -> WireValue {
        try check(row, column)
        return WireValue(row, column, layout.columns[column].storage)
    }

    fileprivate func array(
        _ rows: some Sequence<RowSnapshot>, _ count: Int, _ column: Int
    ) throws(DataSourceError) -> WireValue {
        let storage = layout.columns[column].storage
        var array = WireBuffer(storage, count: count)
        for row in rows {
            try check(row, column)
            array.append(row, column, storage)
        }
        return WireValue(array)
    }

    /// - Throws: `validationFailed` for a string with the character U+0000, which PostgreSQL cannot store.
    fileprivate func check(_ row: RowSnapshot, _ column: Int) throws(DataSourceError) {
        guard layout.columns[column].storage == .text, !row.isNull(column) else { return }
        guard row.withBytes(column, { $0.contains(0) }) else { return }
        let name = layout.columns[column].name
        throw DataSourceError(
            .validationFailed,
            "\(layout.name).\(name) contains the character U+0000, which PostgreSQL cannot store in a string. Remove the character, or make the attribute Binary Data.",
            entityName: layout.name, attributeName: name)
    }
}

extension PostgreSQLSchema {
    var hasConstraints: Bool { tables.contains { $0?.constraints.isEmpty == false } }

    /// Returns the server's error with names of the model instead of the name of a constraint.
    func withModelNames(_ error: DataSourceError) -> DataSourceError {
        guard error.code == .uniquenessViolated, let name = error.attributeName else { return error }
        for table in tables.compactMap(\.self) {
            if let constraint = table.constraints.first(where: { $0.name == name }) {
                return DataSourceError(uniqueness: constraint.columns, table.layout)
            }
            if name == Identifiers.fitting(table.bareName + "_pkey") {
                return DataSourceError(uniqueness: nil, table.layout)
            }
        }
        return error
    }
}

/// The keys that a member has reserved, and those of them that are lost. The member must not use lost keys: a server that has
/// lost its newest commits might have given these keys to other members.
struct KeyReservations {
    /// The reservations, oldest first.
    private var ranges: [Range<Int64>] = []
    private var lost: [Range<Int64>] = []

    /// The largest number of reservations in each list. The oldest reservations are dropped.
    private static let rangeLimit = 256

    /// The end of the newest reservation; 0 without reservations.
    var bound: Int64 { ranges.last?.upperBound ?? 0 }

    mutating func add(_ range: Range<Int64>) {
        if range.isEmpty { return }
        ranges.append(range)
        if ranges.count > KeyReservations.rangeLimit { ranges.removeFirst() }
    }

    /// The start of the first reservation that the server does not know; nil if the server knows all reservations.
    ///
    /// - Parameter known: The end of the newest reservation that the server knows; 0 if the server knows none.
    func start(after known: Int64) -> Int64? { ranges.first { $0.lowerBound >= known }?.lowerBound }

    /// Marks the reservations that the server does not know as lost: other members might have the keys now.
    mutating func lose(after known: Int64) {
        lost += ranges.filter { $0.lowerBound >= known }
        if lost.count > KeyReservations.rangeLimit { lost.removeFirst(lost.count - KeyReservations.rangeLimit) }
    }

    func isLost(_ key: Int64) -> Bool { lost.contains { $0.contains(key) } }

    var hasLost: Bool { !lost.isEmpty }
}
#endif
