/// The model and the database keys that a store was made for. A store that was made for others is reset.
package struct StoreIdentity: Sendable, Hashable {
    /// The hash of the whole model.
    package var modelHash: String
    /// The hash of each entity by its name, to find out which of them changed.
    package var entityHashes: [String: String]
    /// The app's own label for the contents. It is stored in clear text, because it is not a secret. Nil if the app gives none;
    /// then that of the store stays.
    package var databaseKey: String?
    /// The label of the data source that owns an entity, by the entity's name. An empty label is the same as none.
    package var entityKeys: [String: String]

    package init(
        modelHash: String, entityHashes: [String: String], databaseKey: String?, entityKeys: [String: String] = [:]
    ) {
        self.modelHash = modelHash
        self.entityHashes = entityHashes
        self.databaseKey = databaseKey
        self.entityKeys = entityKeys.filter { !$0.value.isEmpty }
    }

    /// The identity with the keys of a store that was found, where the app gives none.
    package func completed(by found: StoreIdentity?) -> StoreIdentity {
        guard let found else { return self }
        var identity = self
        identity.databaseKey = databaseKey ?? found.databaseKey
        for (name, key) in found.entityKeys where entityHashes[name] != nil && entityKeys[name] == nil {
            identity.entityKeys[name] = key
        }
        return identity
    }
}
