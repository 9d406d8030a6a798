#if PostgreSQL
internal import Foundation
package import ManagedModel
internal import MigrationSQL
package import RowStore

/// Inspects a store that others may have open, and changes nothing. It has one connection, without a transaction between two
/// inspections.
package final class PostgreSQLInspector: StoreInspector {
    package let interval = Duration.milliseconds(250)
    private let target: ConnectionTarget
    private let name: String
    private let models: [ManagedObjectModel]
    private var connection: Connection?

    /// The most saves that are read at once: each may have 4 MB.
    private static let pageSize = 16

    /// - Parameter models: Models to try if the store has no copy of its own.
    package init(_ connection: String, name: String, models: [ManagedObjectModel]) {
        target = ConnectionTarget(connection: connection, patience: .seconds(60))
        self.name = name
        self.models = models
    }

    package func metadata() throws(DataSourceError) -> StoreMetadata {
        try look { (connection, schema) throws(DataSourceError) in
            try StoreMetadata(rows: schema.metadataRows(connection))
        }
    }

    package func inspection(tail: Int) throws(DataSourceError) -> StoreInspection {
        try look { (connection, schema) throws(DataSourceError) in
            let metadata = try StoreMetadata(rows: schema.metadataRows(connection))
            let model = metadata.model(among: models)
            let tables = try model.map { (model) throws(DataSourceError) in
                try PostgreSQLSchema(ModelLayout(model), name: schema.name).storedModel
            }
            let (position, lowest) = try position(connection, schema)
            let facts = try LeaseFacts(connection, schema, nil)
            let feed = StoreInspection.Feed(
                position: position, lowest: lowest,
                members: facts.members.map { ($0, facts.isAlive($0.number)) },
                desk: facts.desk, now: facts.now,
                saves: try saves(connection, schema, after: position - Int64(tail), limit: tail))
            return StoreInspection(metadata: metadata, counts: try tables?.counts(connection), feed: feed)
        }
    }

    package func saves(after start: Int64) throws(DataSourceError) -> NotedSaves? {
        try look { (connection, schema) throws(DataSourceError) in
            NotedSaves(
                storeID: try StoreMetadata(rows: schema.metadataRows(connection)).storeID,
                position: try position(connection, schema).position,
                saves: try saves(connection, schema, after: start, limit: PostgreSQLInspector.pageSize),
                members: try Members(connection, schema).all().map(\.member))
        }
    }

    private func position(
        _ connection: Connection, _ schema: PostgreSQLSchema
    ) throws(DataSourceError) -> (position: Int64, lowest: Int64) {
        let found = try connection.rows("SELECT \(schema.position), lowest FROM \(schema.term(PostgreSQLSchema.feed))")
        guard found.rowCount == 1 else { throw DataSourceError(damagedSharing: name) }
        return (found.integer(0, 0), found.integer(0, 1))
    }

    private func saves(
        _ connection: Connection, _ schema: PostgreSQLSchema, after position: Int64, limit: Int
    ) throws(DataSourceError) -> [NotedSave] {
        try connection.rows(
            """
            SELECT position, member, extract(epoch FROM made)::double precision, unknown, changes \
            FROM \(schema.term(PostgreSQLSchema.changes)) WHERE position > $1 ORDER BY position LIMIT $2
            """, [WireValue(position), WireValue(Int64(limit))]
        ).values.compactMap { NotedSave($0) }
    }

    private func look<R>(
        _ body: (Connection, PostgreSQLSchema) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let connection = if let connection { connection } else { try Connection(target) }
        self.connection = connection
        do throws(DataSourceError) {
            return try connection.look { () throws(DataSourceError) in
                guard let entry = try Registry(connection).existingEntry(name) else {
                    throw DataSourceError(.notADatabase, "The database has no store \(name).")
                }
                return try body(connection, PostgreSQLSchema(named: entry.schema))
            }
        } catch {
            connection.close()
            self.connection = nil
            throw error
        }
    }
}
#endif
