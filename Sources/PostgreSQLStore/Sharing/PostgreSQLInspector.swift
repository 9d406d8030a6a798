#if PostgreSQL
package import ManagedModel
internal import MigrationSQL
package import RowStore

/// Inspects a store that other members can have open, and changes nothing. The inspector uses one connection, which has
/// no open transaction between two inspections.
package final class PostgreSQLInspector: StoreInspector {
    package let interval = Duration.milliseconds(250)
    package let models: [ManagedObjectModel]
    private let target: ConnectionTarget
    private let name: String
    private var connection: Connection?

    package init(_ connection: String, name: String, models: [ManagedObjectModel]) {
        target = ConnectionTarget(connection: connection, responseTimeout: .seconds(60))
        self.name = name
        self.models = models
    }

    package func withSnapshot<R>(
        _ body: (any InspectedState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let connection = if let connection { connection } else { try Connection(target) }
        self.connection = connection
        do throws(DataSourceError) {
            return try connection.withSnapshot { () throws(DataSourceError) in
                guard let entry = try Registry(connection).existingEntry(name) else {
                    throw DataSourceError(
                        .storeNotFound, "The database has no store \(name). Check the name of the store.")
                }
                return try body(
                    InspectedGeneration(connection: connection, schema: PostgreSQLSchema(named: entry.schema)))
            }
        } catch {
            connection.close()
            self.connection = nil
            throw error
        }
    }
}

private struct InspectedGeneration: InspectedState {
    let connection: Connection
    let schema: PostgreSQLSchema

    func metadata() throws(DataSourceError) -> StoreMetadata {
        try StoreMetadata(rows: schema.metadataRows(connection))
    }

    func counts(_ model: ManagedObjectModel, format: Int64) throws(DataSourceError) -> [(entity: String, count: Int)] {
        try PostgreSQLSchema(ModelLayout(model), name: schema.name).storedModel.counts(connection)
    }

    func positions() throws(DataSourceError) -> (newest: Int64, lowest: Int64)? {
        let found = try connection.rows(
            "SELECT \(schema.position), lowest FROM \(schema.qualified(PostgreSQLSchema.feed))")
        guard found.rowCount == 1 else { throw DataSourceError(damagedSharing: schema.name) }
        return (found.integer(0, 0), found.integer(0, 1))
    }

    func leases() throws(DataSourceError) -> LeaseSnapshot { try LeaseSnapshot(connection, schema, nil) }

    func members() throws(DataSourceError) -> [StoreMember] { try Members(connection, schema).all().map(\.member) }

    func history(_ model: ManagedObjectModel?, tail: Int) throws(DataSourceError) -> InspectedHistory? {
        guard try metadata().keepsHistory else { return nil }
        // Without a model, the rows are not decoded.
        let layout = model.map { ModelLayout($0) }
        let empty = ManagedObjectModel(name: "", entities: [])
        let described = try PostgreSQLSchema(layout ?? ModelLayout(empty), name: schema.name)
        return try HistoryReader(described, connection).inspection(layout, tail: tail)
    }

    func saves(after position: Int64, limit: Int) throws(DataSourceError) -> [RecordedSave] {
        try connection.rows(
            """
            SELECT position, member, extract(epoch FROM made)::double precision, unknown, changes \
            FROM \(schema.qualified(PostgreSQLSchema.changes)) WHERE position > $1 ORDER BY position LIMIT $2
            """, [WireValue(position), WireValue(Int64(limit))]
        ).values.compactMap { RecordedSave($0) }
    }
}
#endif
