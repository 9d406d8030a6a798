package import ManagedModel

/// The names that the entities and properties of a model have after a migration to another model. The names are found by the same
/// rules as in the migration.
package struct MigratedNames: Sendable, Equatable {
    private var entities: [String: String] = [:]
    /// The outer keys are the old names of entities.
    private var properties: [String: [String: String]] = [:]

    /// - Parameters:
    ///   - old: The model before the migration.
    ///   - new: The model after the migration.
    package init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        let earlier = new.earlierVersions.version(withHash: old.hash.description)
        let (oldSide, newSide) = (MigrationSide(old), MigrationSide(new))
        let oldNames = earlier?.entityNames ?? NameTable.entities(oldSide, newSide) ?? [:]
        for (name, oldName) in oldNames {
            guard let entity = newSide.lookup.entities[name], let oldEntity = oldSide.lookup.entities[oldName] else {
                continue
            }
            let names =
                earlier?.propertyNames[name]
                ?? NameTable.properties(from: oldEntity, in: oldSide, to: entity, in: newSide, oldNames: oldNames)
                ?? [:]
            entities[oldName] = name
            properties[oldName] = Dictionary(names.map { ($1, $0) }) { min($0, $1) }
        }
    }

    /// Returns the new name of an entity; nil if the new model does not have the entity.
    ///
    /// - Parameter name: The old name.
    package func entity(_ name: String) -> String? { entities[name] }

    /// Returns the new name of a property; nil if the new model does not have the property.
    ///
    /// - Parameters:
    ///   - name: The old name. The name of a composite's leaf has a dot, as in `address.city`.
    ///   - entity: The old name of the property's entity, or of one of its sub-entities.
    package func property(_ name: String, of entity: String) -> String? { properties[entity]?[name] }
}
