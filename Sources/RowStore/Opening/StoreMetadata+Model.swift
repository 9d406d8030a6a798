package import ManagedModel
internal import ModelMigration

extension StoreMetadata {
    /// The model that the store was made for.
    ///
    /// - Throws: `notMigratable`.
    package func model() throws(DataSourceError) -> ManagedObjectModel {
        guard let modelText else {
            throw DataSourceError(
                notMigratable: "The store has no copy of its model, because an older release made it.")
        }
        guard let model = ManagedObjectModel(storedText: modelText), model.hash.description == identity.modelHash
        else {
            throw DataSourceError(notMigratable: "The copy of the old model in the store is damaged.")
        }
        return model
    }
}
