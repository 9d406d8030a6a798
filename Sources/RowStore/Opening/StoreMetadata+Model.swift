package import ManagedModel
internal import ModelMigration

extension StoreMetadata {
    /// The model that the store was made for.
    ///
    /// - Throws: `notMigratable` if the store has none; `storeCorrupt` if it is damaged, which is no reason for a reset.
    package func model() throws(DataSourceError) -> ManagedObjectModel {
        guard let modelText else {
            throw DataSourceError(
                notMigratable: "The store has no copy of its model, because an older release made it.")
        }
        guard let model = ManagedObjectModel(storedText: modelText), model.hash.description == identity.modelHash
        else {
            throw DataSourceError(
                .storeCorrupt,
                "The copy of the model in the store is damaged. Restore the store from a copy, or delete it and start over."
            )
        }
        return model
    }
}
