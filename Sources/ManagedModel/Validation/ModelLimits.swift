/// Limits that no real model comes near, so that a hostile one costs little.
package enum ModelLimits {
    /// The most ancestors of an entity, and the deepest nesting of composites.
    package static let nesting = 64
    /// The most properties of an entity, including inherited ones and those of composites: as many as an SQLite table has
    /// columns.
    package static let properties = 2_000
    /// The most properties of all entities together, counted in the same way.
    package static let propertiesInAll = 500_000
    /// The most entities of a model that is read back from a store, and its longest text in bytes.
    package static let storedEntities = 2_000
    package static let textSize = 16 << 20
}
