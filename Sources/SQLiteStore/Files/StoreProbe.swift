internal import CSQLite
internal import RowStore

/// Reads a file, to decide what to do with it. Makes no changes.
struct StoreProbe {
    let connection: Connection
    /// The type, name and SQL of each object in the file's schema, except SQLite's own tables.
    let contents: [(type: String, name: String, sql: String)]
    /// The shapes of all tables: their names, and the declarations of their columns.
    let shapes: Set<TableShape>

    init(_ connection: Connection) throws(DataSourceError) {
        self.connection = connection
        // This library compares strings by their bytes in UTF-8. A database in UTF-16 would compare strings by other bytes.
        guard try connection.values("PRAGMA encoding") == [[.text("UTF-8")]] else {
            throw DataSourceError(
                .foreignDatabase,
                "\(connection.path) is a database in UTF-16, and this library makes only databases in UTF-8. Choose another path, or move that file away."
            )
        }
        let rows = try connection.values(
            "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        contents = rows.compactMap { row in
            guard case .text(let type) = row[0], case .text(let name) = row[1] else { return nil }
            if case .text(let sql) = row[2] { return (type, name, sql) }
            return (type, name, "")
        }
        connection.scopeTable = contents.contains { $0.name == ScopeTable.name } ? .present : .missing
        shapes = Set(contents.lazy.filter { $0.type == "table" }.map { TableShape(name: $0.name, sql: $0.sql) })
    }

    func found() throws(DataSourceError) -> FoundStore {
        guard contents.contains(where: { $0.type == "table" && $0.name == StoreMetadata.table }) else {
            return contents.isEmpty ? .nothing : .foreignTables
        }
        guard hasColumn("name", in: StoreMetadata.table), hasColumn("value", in: StoreMetadata.table) else {
            return .foreignTables
        }
        var rows: [String: RowValue] = [:]
        for row in try connection.values(StoreMetadata.selectSQL) {
            if case .text(let name) = row[0] { rows[name] = row[1] }
        }
        return .metadata(rows)
    }

    var indexNames: Set<String> { Set(contents.lazy.filter { $0.type == "index" }.map(\.name)) }

    /// Returns the number of objects in the store, whatever its model is.
    func rowCount() throws(DataSourceError) -> Int {
        try rowCount(in: contents.filter { $0.type == "table" }.map(\.name))
    }

    /// Returns the number of objects in the given tables. Links are not counted.
    func rowCount(in tables: [String]) throws(DataSourceError) -> Int {
        var total = 0
        for table in tables where hasColumn(EntityTable.keyName, in: table) {
            if try storesLinks(table) { continue }
            if case .integer(let count) = try connection.values("SELECT count(*) FROM \(table.quoted)").first?[0] {
                total += Int(count)
            }
        }
        return total
    }

    /// Counts the objects of a store before the store is dropped. Objects in damaged tables cannot be counted, and are dropped
    /// as well.
    ///
    /// - Returns: The number of counted objects, and an error message if some objects could not be counted.
    /// - Throws: Any error that is not about damage, because a later attempt may succeed.
    func droppedRows() throws(DataSourceError) -> (count: Int, failure: String?) {
        var total = 0
        var failure: String?
        for table in contents.filter({ $0.type == "table" }).map(\.name) {
            do throws(DataSourceError) {
                total += try rowCount(in: [table])
            } catch  where error.code == .storeCorrupt {
                failure = error.cause ?? error.message
            }
        }
        return (total, failure)
    }

    /// Checks that the tables are those that this library makes for the model, and that there are no triggers.
    func check(_ schema: StoreSchema) throws(DataSourceError) {
        guard schema.tables.allSatisfy({ $0.map { shapes.contains($0.shape) } ?? true }),
            schema.otherSQL.allSatisfy(hasTable)
        else {
            throw DataSourceError(
                .storeCorrupt,
                "The tables of \(connection.path) differ from those that this library made. Restore the store from a copy, or "
                    + "delete the store and start over.")
        }
        try checkTriggers()
    }

    /// Checks that the store has no triggers. This library makes none.
    ///
    /// - Throws: `storeCorrupt` if there is a trigger.
    func checkTriggers() throws(DataSourceError) {
        guard let trigger = contents.first(where: { $0.type == "trigger" }) else { return }
        throw DataSourceError(
            .storeCorrupt,
            "\(connection.path) has the trigger \(trigger.name), which this library has not made. Drop the trigger with another program, restore the store from a copy, or delete the store and start over."
        )
    }

    /// Whether the file has a table that was made by exactly this SQL.
    func hasTable(_ sql: String) -> Bool {
        contents.contains { $0.type == "table" && $0.sql.utf8.elementsEqual(sql.utf8) }
    }

    /// Returns whether the table is a join table: all its columns have names of link columns. Since the second format, no
    /// entity's table has columns with these names.
    private func storesLinks(_ table: String) throws(DataSourceError) -> Bool {
        guard hasColumn(LinkNames.source, in: table), hasColumn(LinkNames.destination, in: table) else { return false }
        let names = try columnNames(of: table)
        return names.isSubset(of: LinkNames.all.union([EntityTable.keyName]))
    }

    func columnNames(of table: String) throws(DataSourceError) -> Set<String> {
        let rows = try connection.values("SELECT name FROM pragma_table_info(\(table.quotedText))")
        return Set(rows.compactMap { if case .text(let name) = $0.first { name } else { nil } })
    }

    private func hasColumn(_ column: String, in table: String) -> Bool {
        sqlite3_table_column_metadata(connection.handle, "main", table, column, nil, nil, nil, nil, nil) == SQLITE_OK
    }
}

/// Calculates the first key that no row has ever had, from the store's metadata and its rows.
package enum KeyBound {
    /// The highest credible bound. No store has used so many keys: at a million keys a second, that would take 146,000 years.
    package static let limit: Int64 = 1 << 62

    /// Returns the first key for new rows.
    ///
    /// If the stored bound is at or below the highest key, keys would be used twice. If the stored bound is above the
    /// limit, the store is damaged, and too few keys would be left. In both cases, the result is the key after the
    /// highest key.
    package static func checked(_ stored: Int64, highestKey: Int64) -> Int64 {
        let (next, isOverflow) = highestKey.addingReportingOverflow(1)
        let lowest = isOverflow ? Int64.max : next
        return stored > limit || stored < lowest ? lowest : stored
    }
}

extension Connection {
    /// Compares the store's bound with the highest keys of its tables, and corrects the bound.
    ///
    /// - Complexity: One lookup at the end of each table's tree.
    func checkKeys(_ metadata: StoreMetadata, _ schema: StoreSchema) throws(DataSourceError) -> StoreMetadata {
        // Another process may have lost the store's lock during its last commit. The empty transaction waits for that commit.
        try transaction { () throws(DataSourceError) in }
        guard case .integer(let stored) = try values(StoreMetadata.selectFirstFreeKeySQL).first?.first else {
            return metadata
        }
        var metadata = metadata
        metadata.firstFreeKey = KeyBound.checked(stored, highestKey: try highestKey(schema))
        if metadata.firstFreeKey != stored {
            _ = try values(StoreMetadata.setFirstFreeKeySQL, [.integer(metadata.firstFreeKey)])
        }
        return metadata
    }

    /// Returns the highest key in all tables.
    func highestKey(_ schema: StoreSchema) throws(DataSourceError) -> Int64 {
        var highest: Int64 = 0
        for table in schema.tables.lazy.compactMap(\.self) { highest = max(highest, try highestKey(table)) }
        return highest
    }

    /// Returns the highest key in the table; 0 if the table is empty. Also returns 0 for a damaged table, so that the rest of
    /// the store can be used.
    private func highestKey(_ table: EntityTable) throws(DataSourceError) -> Int64 {
        do throws(DataSourceError) {
            let rows = try values("SELECT max(\(EntityTable.quotedKey)) FROM \(table.name.quoted)")
            if case .integer(let key) = rows.first?.first { return key }
        } catch  where error.code == .storeCorrupt {}
        return 0
    }
}
