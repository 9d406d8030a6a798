internal import ManagedModel
internal import RowStore

/// Upgrades the tables of a store that an earlier release wrote. Every row and every link stays.
struct StoreUpgrade {
    private let found: StoreMetadata
    private let model: ManagedObjectModel
    private let probe: StoreProbe

    /// - Parameter model: The model that the store was made for.
    init(_ found: StoreMetadata, _ model: ManagedObjectModel, _ probe: StoreProbe) {
        self.found = found
        self.model = model
        self.probe = probe
    }

    /// Upgrades them in one transaction, if necessary.
    ///
    /// - Returns: The store's metadata now, and a probe of its tables.
    /// - Throws: `storeCorrupt` if the tables differ from those of that release; otherwise an error of the disk.
    func run() throws(DataSourceError) -> (StoreMetadata, StoreProbe) {
        guard found.format < StoreSchema.format else { return (found, probe) }
        do throws(DataSourceError) {
            let migration = try StoreMigration(
                schema: StoreSchema(model, format: StoreSchema.format), probe: probe, found: found,
                identity: found.identity, purpose: .upgrade(model))
            try probe.connection.settleWriter(.full)
            let outcome = try migration.run(nil)
            return (outcome.metadata, try StoreProbe(probe.connection))
        } catch  where error.code == .notMigratable {
            throw DataSourceError(storeOfEarlierRelease: probe.connection.path, cause: error.message)
        }
    }
}

extension DataSourceError {
    /// - Parameter cause: Why a store cannot be upgraded.
    init(storeOfEarlierRelease path: String, cause: String) {
        self.init(
            .storeCorrupt,
            "An earlier release wrote \(path), and it cannot be upgraded to the present format. Restore the store from "
                + "a copy, or delete it and start over.", cause: cause)
    }
}
