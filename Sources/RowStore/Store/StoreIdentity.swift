/// The model and the database keys that a store was made for. A store that was made for others is reset.
package struct StoreIdentity: Sendable, Hashable {
    /// The hash of the whole model.
    package var modelHash: String
    /// The hash of each entity by its name, to find out which of them changed.
    package var entityHashes: [String: String]
    /// The app's own label for the contents. It is stored in clear text, because it is not a secret.
    package var databaseKey: String
    /// The label of the data source that owns an entity, by the entity's name. An empty label is the same as none.
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
