#if PostgreSQL
internal import RowStore

extension PostgreSQLSchema {
    /// Makes sure that the tables of the model exist, with their columns and types.
    ///
    /// - Throws: `storeCorrupt`, with the first difference.
    func checkTables(_ connection: Connection, _ store: String) throws(DataSourceError) {
        let found = try connection.rows(
            """
            SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a \
            JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
            """, [WireValue(name)])
        var types: [String: [String: String]] = [:]
        for row in 0..<found.rowCount {
            types[found.text(row, 0), default: [:]][found.text(row, 1)] = found.text(row, 2)
        }
        for table in tables.compactMap(\.self) {
            guard let columns = types[table.bareName] else {
                throw damaged(store, "the table \(table.bareName) is missing")
            }
            var wanted = [PostgreSQLTable.keyName: ColumnStorage.integer.typeName]
            for (column, name) in table.bareColumns { wanted[name] = table.layout.columns[column].storage.typeName }
            for (name, type) in wanted.sorted(by: { $0.key < $1.key }) where columns[name] != type {
                throw damaged(store, "the column \(table.bareName).\(name) is not of the type \(type)")
            }
        }
    }

    private func damaged(_ store: String, _ cause: String) -> DataSourceError {
        DataSourceError(
            .storeCorrupt,
            "The tables of the store \(store) differ from those that this library made: they were changed by hand. Restore them.",
            cause: cause)
    }
}
#endif
