/// The property of a value and the attribute of an object by which the two are matched.
public struct ObjectKey<Value: Sendable, Object: ManagedObject>: Sendable {
    let find: @Sendable (Value, PrivateContext) throws -> Object?
    let findOrInsert: @Sendable (Value, PrivateContext) throws -> Object
    let preload: @Sendable ([Value], PrivateContext) throws -> Void

    /// The key of values and of objects.
    ///
    /// - Parameters:
    ///   - property: The key of a value.
    ///   - attribute: The key of an object. It should have a uniqueness constraint in the model.
    public init<Key: AttributeStorable>(
        _ property: any KeyPath<Value, Key> & Sendable, _ attribute: any KeyPath<Object, Key> & Sendable
    ) {
        find = { try $1.first(Object.self, where: attribute, equals: $0[keyPath: property]) }
        findOrInsert = { try $1.findOrInsert(Object.self, where: attribute, equals: $0[keyPath: property]) }
        preload = { values, context in
            try context.preload(Object.self, where: attribute, in: values.lazy.map { $0[keyPath: property] })
        }
    }

    /// The same for an optional attribute.
    ///
    /// - Parameters:
    ///   - property: The key of a value.
    ///   - attribute: The key of an object. It should have a uniqueness constraint in the model.
    public init<Key: AttributeStorable>(
        _ property: any KeyPath<Value, Key> & Sendable, _ attribute: any KeyPath<Object, Key?> & Sendable
    ) {
        find = { try $1.first(Object.self, where: attribute, equals: $0[keyPath: property]) }
        findOrInsert = { try $1.findOrInsert(Object.self, where: attribute, equals: $0[keyPath: property]) }
        preload = { values, context in
            try context.preload(Object.self, where: attribute, in: values.lazy.map { Optional($0[keyPath: property]) })
        }
    }
}
