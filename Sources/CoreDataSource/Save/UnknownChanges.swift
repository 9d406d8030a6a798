/// Changes whose rows are unknown. At most their entities are known.
///
/// ```swift
/// if changes.mayInclude(ContactEntity.self) {
///     index.rebuild(changes.entityNames)
/// }
/// ```
public struct UnknownChanges: Sendable, Hashable {
    /// The reason for which the changes are not known. New reasons may be added in any release, so keep a default branch.
    public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        /// Creates the reason with the given raw value, for example from a log.
        ///
        /// ```swift
        /// let reason = UnknownChanges.Reason(rawValue: "missed")
        /// ```
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// The loop over `saves` of the container was slower than the saves, or the store has dropped saves that the loop had
        /// not reached.
        public static let missed = Reason(rawValue: "missed")
        /// The store itself changed or deleted many rows, and no context read the rows: `update(_:where:set:)`,
        /// `delete(_:where:)`.
        public static let bulkChange = Reason(rawValue: "bulkChange")
        /// The save has too many rows for the feed of a shared store: more than 4,096 rows or 4 MB.
        public static let tooLarge = Reason(rawValue: "tooLarge")
        /// A program has written to the store without a container, or a server has lost saves.
        public static let outsideWrites = Reason(rawValue: "outsideWrites")
        /// The store was emptied: ``PersistentContainer/reset()``.
        public static let reset = Reason(rawValue: "reset")
    }

    /// The reason for which the changes are not known.
    public let reason: Reason
    /// The names of the entities whose objects or links may have changed: for links of many-to-many relationships, the entities
    /// at both ends. Nil if objects of any entity may have changed. In this case, ``mayInclude(_:)`` is true for each class, and
    /// you should read everything again.
    public let entityNames: Set<String>?
    /// The changed entities and the entities that they inherit from.
    package let lineages: Set<String>

    /// - Parameter lineages: The names of the entities, and of all entities that they inherit from.
    package init(reason: Reason, entityNames: Set<String>?, lineages: Set<String> = []) {
        self.reason = reason
        self.entityNames = entityNames
        self.lineages = lineages.union(entityNames ?? [])
    }

    public static func == (lhs: UnknownChanges, rhs: UnknownChanges) -> Bool {
        lhs.reason == rhs.reason && lhs.entityNames == rhs.entityNames
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(entityNames)
    }
}
