/// For which model and database keys a store was made. A store that was made for another one is reset.
package struct StoreIdentity: Sendable, Hashable {
    /// The hash of the whole model.
    package var modelHash: String
    /// The hash of each entity by its name, to say which of them changed.
    package var entityHashes: [String: String]
    /// The app's own label for the contents. It is kept as it is: it is not a secret.
    package var databaseKey: String
    /// The label of the data source that owns an entity, by the entity's name. No label and an empty one are the same.
    package var entityKeys: [String: String]

    package init(
        modelHash: String, entityHashes: [String: String], databaseKey: String, entityKeys: [String: String] = [:]
    ) {
        self.modelHash = modelHash
        self.entityHashes = entityHashes
        self.databaseKey = databaseKey
        self.entityKeys = entityKeys.filter { !$0.value.isEmpty }
    }
}
