public import Foundation
internal import RowStore

/// Reading, edits of this batch included. Other data sources' entities may be read as well, but not edited.
extension PrivateContext {
    /// The objects that match, in order; objects that are equal by all sort descriptors come in the order of creation.
    ///
    /// - Parameter limit: The most objects; nil for all.
    /// - Throws: `unknownEntity`, `unknownAttribute`, and what the store throws.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil, sortBy: [SortDescriptor<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try objects.fetch(type, predicate, sortBy, limit, offset)
    }

    /// The objects whose attribute has that value.
    public func fetch<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value,
        sortBy: [SortDescriptor<Object>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try objects.fetch(type, objects.equality(type, keyPath, value.storedValue), sortBy, limit, offset)
    }

    /// The first object, in the order of creation, whose attribute has that value; nil if there is none.
    ///
    /// For an attribute with a uniqueness constraint the cost is that of a look-up by key, and nothing is read from the
    /// store while the object is registered.
    public func first<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object? {
        try objects.first(type, keyPath, value.storedValue)
    }

    /// How many objects match.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil
    ) throws -> Int {
        try objects.count(type, predicate)
    }

    /// Whether an object has that value.
    public func exists<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Bool {
        try first(type, where: keyPath, equals: value) != nil
    }

    /// The object of that id, or nil if it has been deleted.
    public func object<Object: ManagedObject>(_ type: Object.Type, id: ManagedObjectID) throws -> Object? {
        try objects.object(type, id)
    }
}
