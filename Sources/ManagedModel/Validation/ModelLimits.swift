/// Limits that no real model comes near, so that a hostile one costs little.
package enum ModelLimits {
    /// How many ancestors an entity may have, and how deep composites may lie within each other.
    package static let nesting = 64
    /// How many properties an entity may have, inherited ones and those of composites included: as many as an SQLite
    /// table has columns.
    package static let properties = 2_000
    /// How many properties, counted like that, all entities may have together.
    package static let propertiesInAll = 500_000
    /// How many entities a model may have that is read back from a store, and how long its text may be, in bytes.
    package static let storedEntities = 2_000
    package static let textSize = 16 << 20
}
