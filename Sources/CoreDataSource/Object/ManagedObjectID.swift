package import RowStore

/// Identifies an object permanently, in every tier. There are no temporary ids.
///
/// It is final as soon as the object is inserted. It can be sent anywhere, is the same after a restart, and is never reused
/// after its object was deleted.
public struct ManagedObjectID: Sendable, Hashable, CustomStringConvertible {
    package let layout: EntityLayout
    /// The object's number, unique in its store, in the order of creation. It is the `_key` of the row.
    public let key: Int64

    package init(_ layout: EntityLayout, key: Int64) {
        self.layout = layout
        self.key = key
    }

    /// The name of the object's own entity, which may be a sub-entity of the fetched one.
    public var entityName: String { layout.name }

    /// `ContactEntity/12`.
    public var description: String { "\(layout.name)/\(key)" }

    public static func == (one: ManagedObjectID, other: ManagedObjectID) -> Bool {
        one.key == other.key && one.layout === other.layout
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
    }
}
