/// What the elements of an earlier version of a model are called now, for versions from which the names and the renaming identifiers
/// of now alone would lead elsewhere.
///
/// One version renames an attribute, and the next one gives its old name to a new attribute: whoever skips the version between them
/// can only guess what became of the values. A bundle has its versions, and the lock file what was edited in place, so what reads them
/// follows the names from each to the next.
public struct EarlierVersion: Sendable, Hashable {
    /// The hash of that version, and the hash of each of its configurations. A store of it was made for one of them.
    public var hashes: Set<String>
    /// The names that entities have in that version, by their names now, without those that are new.
    public var entityNames: [String: String]
    /// The names that properties have in that version, by the name of the entity now, and their own names now; the leaves of
    /// composites as `address.city`. An entity that is not listed has the properties that its names and identifiers say.
    public var propertyNames: [String: [String: String]]

    /// Makes the names of a version.
    public init(
        hashes: Set<String>, entityNames: [String: String], propertyNames: [String: [String: String]] = [:]
    ) {
        self.hashes = hashes
        self.entityNames = entityNames
        self.propertyNames = propertyNames
    }
}
