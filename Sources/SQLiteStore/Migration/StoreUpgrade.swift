internal import ManagedModel
internal import RowStore

/// Makes the tables of a store that an earlier release has written those of this one. Every row and every link stays.
struct StoreUpgrade {
    private let found: Metadata
    private let model: ManagedObjectModel
    private let probe: StoreProbe

    /// - Parameter model: The model that the store was made for.
    init(_ found: Metadata, _ model: ManagedObjectModel, _ probe: StoreProbe) {
        self.found = found
        self.model = model
        self.probe = probe
    }

    /// Does so in one transaction, if there is anything to do.
    ///
    /// - Returns: What the store says of itself now, and a look at its tables.
    /// - Throws: `storeCorrupt` if the tables are not as that release made them, and what the disk says.
    func run() throws(DataSourceError) -> (Metadata, StoreProbe) {
        guard found.format < StoreSchema.format else { return (found, probe) }
        do throws(DataSourceError) {
            let migration = try StoreMigration(
                schema: StoreSchema(model, format: StoreSchema.format), probe: probe, found: found,
                identity: found.identity, dropsByKey: false, oldModel: model)
            try probe.connection.settleWriter(.full)
            let outcome = try migration.run(nil)
            return (outcome.metadata, try StoreProbe(probe.connection))
        } catch  where error.code == .notMigratable {
            throw DataSourceError(
                .storeCorrupt,
                "An earlier release wrote \(probe.connection.path), and it cannot be brought to the format of this one. "
                    + "Restore the store from a copy, or delete it and start anew.", cause: error.message)
        }
    }
}

extension StoreMigration {
    /// Takes the second of two links away where a relationship has become one-to-one.
    ///
    /// The first format had a column on both sides and nothing that kept them equal.
    func dropRivalLinks() throws(DataSourceError) {
        guard oldSchema.format == ManagedObjectModel.firstStoreFormat else { return }
        for table in schema.tables.compactMap({ $0 }) {
            let keys = table.layout.relationships.compactMap { relationship -> LinkColumn? in
                guard case .column(let column) = relationship.storage, column.position == nil else { return nil }
                return table.layout.constraint(onColumn: column.key).map { _ in column }
            }
            for column in keys where table.layout.columns[column.key].isStored {
                let term = table.terms[column.key]
                let settings = ([term] + [column.entity].compactMap { $0 }.map { table.terms[$0] }).map {
                    "\($0) = NULL"
                }
                let key = EntityTable.keyName.quoted
                try probe.connection.run(
                    "UPDATE \(table.name.quoted) SET \(settings.joined(separator: ", ")) WHERE \(term) IS NOT NULL "
                        + "AND \(key) NOT IN (SELECT min(\(key)) FROM \(table.name.quoted) GROUP BY \(term))")
            }
        }
    }
}
