package import ModelMigration

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
    /// What the entities were called before. It belongs to the model, and not to what the store keeps about itself.
    private let entityNames: EntityNames
    /// The present names of the entities of the store that was found, by their names in it; nil if its model is this one, or cannot be
    /// read. Then the names are what they were.
    private(set) var newNames: [String: String]?

    /// - Parameter entityNames: What the model says about the names that its entities had before.
    package init(
        modelHash: String, entityHashes: [String: String], databaseKey: String?, entityKeys: [String: String] = [:],
        entityNames: EntityNames = EntityNames()
    ) {
        self.entityNames = entityNames
        self.modelHash = modelHash
        self.entityHashes = entityHashes
        self.databaseKey = databaseKey
        self.entityKeys = entityKeys.filter { !$0.value.isEmpty }
    }

    /// The identity with the keys of a store that was found, where the app gives none. Keys follow entities that got another
    /// name, as rows do in a migration.
    package func completed(by found: StoreMetadata?) -> StoreIdentity {
        guard let found else { return self }
        var identity = self
        identity.databaseKey = databaseKey ?? found.identity.databaseKey
        if found.identity.modelHash != modelHash {
            let names = entityHashes.keys.sorted()
            // What cannot be read has no names but those of now. Whoever needs the model itself throws.
            do throws(DataSourceError) {
                identity.newNames = entityNames.matches(from: try found.model(), to: names)
            } catch {}
        }
        for (oldName, key) in found.identity.entityKeys {
            guard let name = identity.newName(of: oldName) else { continue }
            if entityHashes[name] != nil && entityKeys[name] == nil { identity.entityKeys[name] = key }
        }
        return identity
    }

    /// The present name of an entity of the store that was found; nil if it is gone, also if another one has its name now.
    package func newName(of oldName: String) -> String? { newNames.map { $0[oldName] } ?? oldName }

    /// The entities of this store whose rows may not stay under their names, because what has the name now, or what got another name, has
    /// another key.
    package func entitiesOfOtherKeys(in wanted: StoreIdentity) -> [String] {
        entityHashes.keys.filter { name in
            [name, wanted.newName(of: name)].contains { now in
                now.map { wanted.entityHashes[$0] != nil && wanted.entityKeys[$0] != entityKeys[name] } ?? false
            }
        }
    }
}
