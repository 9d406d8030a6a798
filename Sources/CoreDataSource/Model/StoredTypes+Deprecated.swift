public import ManagedModel

/// Calls of members that the macros add and mark as deprecated.
///
/// A class can have deprecated properties, and the types of its properties can be deprecated. The code of the macros must use
/// these names without warnings. The compiler gives no warning for a deprecated name inside a declaration that is itself
/// deprecated. The compiler also gives no warning if that declaration is called as a requirement of a protocol.
extension StoredTypes {
    /// Describes an entity.
    public protocol EntityLayout {
        /// Returns the description of the entity that its class declares.
        static func entity() -> DeclaredEntity
    }

    /// Describes a composite.
    public protocol CompositeLayout {
        /// Returns the attributes of the composite.
        static func attributes() -> [AttributeDescription]
        /// Returns the name of the part for each key path.
        static func partKeyPaths() -> [AnyKeyPath: String]
    }

    /// Lists the key paths of deprecated properties.
    public protocol PathList {
        /// Adds the name of the property for each key path.
        static func add(to paths: inout [AnyKeyPath: String])
    }

    /// Sets the initial values of deprecated properties.
    public protocol InitialValueList {
        /// Sets the initial values in a new object.
        static func set(in object: ManagedObject)
    }

    /// The parts of a composite that has deprecated parts.
    public protocol CompositeParts {
        /// The type of the composite.
        associatedtype Value
        /// Returns the composite with these parts.
        func value() -> Value
    }

    /// Returns the description of an entity.
    public static func entity(of layout: any EntityLayout.Type) -> DeclaredEntity { layout.entity() }

    /// Returns the attributes of a composite.
    public static func attributes(of layout: any CompositeLayout.Type) -> [AttributeDescription] { layout.attributes() }

    /// Returns the name of the part for each key path of a composite.
    public static func partKeyPaths(of layout: any CompositeLayout.Type) -> [AnyKeyPath: String] {
        layout.partKeyPaths()
    }

    /// Adds the key paths of deprecated properties.
    public static func add(_ list: any PathList.Type, to paths: inout [AnyKeyPath: String]) { list.add(to: &paths) }

    /// Sets the initial values of deprecated properties.
    public static func set(_ list: any InitialValueList.Type, in object: ManagedObject) { list.set(in: object) }

    /// Returns the composite with the given parts.
    @inlinable public static func value<Parts: CompositeParts>(of parts: Parts) -> Parts.Value { parts.value() }

    /// Reads a composite that is not optional.
    @inlinable public static func value<Value: StoredCompositeValue>(
        _ type: Value.Type, from object: ManagedObject, at column: Int
    ) -> Value { Value(reading: object, at: column) }

    /// Writes a composite.
    @inlinable public static func write<Value: StoredCompositeValue>(
        _ value: Value?, to object: ManagedObject, at column: Int
    ) { Value.write(value, to: object, at: column) }
}
