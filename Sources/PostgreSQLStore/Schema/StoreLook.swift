#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// Inspecting a store that others may have open, without changing anything.
extension Connection {
    /// Runs the body in a transaction that only reads one state of the database.
    func look<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { if isUsable { try? run("ROLLBACK") } }
        return try body()
    }
}

extension PostgreSQLSchema {
    /// The schema of a store whose model is not known yet: the tables by which processes share it.
    init(named name: String) throws(DataSourceError) {
        try self.init(ModelLayout(ManagedObjectModel(name: "", entities: [])), name: name)
    }

    /// The store's metadata.
    func metadataRows(_ connection: Connection) throws(DataSourceError) -> [String: RowValue] {
        let found = try connection.rows("SELECT name, number, text FROM \(term(PostgreSQLSchema.metadata))")
        var rows: [String: RowValue] = [:]
        for row in 0..<found.rowCount {
            rows[found.text(row, 0)] =
                found.optionalInteger(row, 1).map { .integer($0) } ?? .text(found.text(row, 2))
        }
        return rows
    }

    /// How many objects there are of each concrete entity.
    func counts(_ connection: Connection) throws(DataSourceError) -> [(entity: String, count: Int)] {
        var counts: [(entity: String, count: Int)] = []
        for table in tables {
            guard let table, table.layout.links == nil else { continue }
            let found = try connection.rows("SELECT count(*) FROM \(table.name)")
            counts.append((table.layout.name, Int(found.integer(0, 0))))
        }
        return counts
    }
}
#endif
