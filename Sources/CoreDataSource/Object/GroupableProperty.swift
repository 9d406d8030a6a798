internal import RowStore

/// A type of properties by which aggregates can be grouped: the types of attributes, classes of objects, and the types of
/// to-many relationships.
///
/// For an attribute, the key of a group is the value of the attribute. For a relationship, the key is the id of the related
/// object:
///
/// ```swift
/// let sizes = try context.aggregate(
///     ObjectRequest<MessageEntity>(), groupBy: \.thread, .sum(\.size))
/// for (thread, size) in sizes {
///     print(thread?.description ?? "no thread", size)
/// }
/// ```
///
/// Every ``AttributeStorable`` type conforms without an implementation. Apps do not need to conform other types.
nonisolated public protocol GroupableProperty {
    /// The type of the keys of the groups.
    associatedtype GroupKey
    /// Returns the key of a group. For the library.
    ///
    /// - Throws: `invalidRequest` if a key path that is not optional leads to no object.
    static func groupKey(of value: GroupValue) throws -> GroupKey
    /// Returns the key of a group; nil for the group of the objects without a value. For the library.
    ///
    /// - Throws: The errors of ``groupKey(of:)``.
    static func groupKeyIfPresent(of value: GroupValue) throws -> GroupKey?
}

/// The stored value that all objects of a group share. The library passes it to ``GroupableProperty``.
///
/// ```swift
/// static func groupKey(of value: GroupValue) -> TaskState {
///     TaskState.read(from: value.object, at: value.column)
/// }
/// ```
nonisolated public struct GroupValue {
    /// An object that has only the value of the group.
    public let object: ManagedObject
    /// The column of the value.
    public let column: Int
    /// The id of the related object, if the property is a relationship that leads to an object.
    public let id: ManagedObjectID?
}

extension AttributeStorable {
    /// Returns the value. Throws no error.
    public static func groupKey(of value: GroupValue) throws -> Self { read(from: value.object, at: value.column) }

    /// Returns the value; nil for the group of the objects without a value.
    ///
    /// - Throws: No error.
    public static func groupKeyIfPresent(of value: GroupValue) throws -> Self? {
        readIfPresent(from: value.object, at: value.column)
    }
}

extension Optional: GroupableProperty where Wrapped: GroupableProperty {
    public static func groupKey(of value: GroupValue) throws -> Wrapped.GroupKey? {
        try Wrapped.groupKeyIfPresent(of: value)
    }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> Wrapped.GroupKey?? {
        try Wrapped.groupKeyIfPresent(of: value)
    }
}

extension ManagedObject: GroupableProperty {
    public static func groupKey(of value: GroupValue) throws -> ManagedObjectID {
        guard let id = value.id else {
            throw DataSourceError(
                .invalidRequest,
                "Some objects of the groups have no related object, but the key path is not optional. Write ? instead of ! in the key path."
            )
        }
        return id
    }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> ManagedObjectID? { value.id }
}

/// An ordered to-many relationship. An object is in the group of each related object, and in no group if it has no related
/// objects.
extension Array: GroupableProperty where Element: ManagedObject {
    public static func groupKey(of value: GroupValue) throws -> ManagedObjectID { try Element.groupKey(of: value) }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> ManagedObjectID? { value.id }
}
