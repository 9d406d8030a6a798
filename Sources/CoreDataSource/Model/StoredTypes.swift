public import Foundation
public import ManagedModel

/// Declarations that compile only if the macros have understood the source code correctly. The generated code contains the
/// checks, but never runs them.
///
/// A macro sees only source code: for example, `String` may be a type that the app declares. Each check compiles only if a name
/// has the meaning that the macro assumes.
public enum StoredTypes {
    /// The description of an entity, by a name that an app's own types do not hide.
    public typealias Entity = EntityDescription
    /// The description of an attribute.
    public typealias Attribute = AttributeDescription
    /// The description of a relationship.
    public typealias Relationship = RelationshipDescription
    /// The description of a fetch index.
    public typealias FetchIndex = FetchIndexDescription
    /// The description of a fetched property.
    public typealias FetchedProperty = FetchedPropertyDescription
    /// The description of a fetch request in the model.
    public typealias FetchTemplate = FetchRequestTemplate

    /// The name of the property for each key path.
    public typealias KeyPaths = [AnyKeyPath: String]

    /// The types of attributes, by the names that the macros recognize.
    public enum Checked {
        /// `Bool`
        public static var bool: Bool.Type { Bool.self }
        /// `Int16`
        public static var int16: Int16.Type { Int16.self }
        /// `Int32`
        public static var int32: Int32.Type { Int32.self }
        /// `Int64`
        public static var int64: Int64.Type { Int64.self }
        /// `Int`
        public static var int: Int.Type { Int.self }
        /// `Float`
        public static var float: Float.Type { Float.self }
        /// `Double`
        public static var double: Double.Type { Double.self }
        /// `Decimal`
        public static var decimal: Decimal.Type { Decimal.self }
        /// `String`
        public static var string: String.Type { String.self }
        /// `Date`
        public static var date: Date.Type { Date.self }
        /// `UUID`
        public static var uuid: UUID.Type { UUID.self }
        /// `URL`
        public static var url: URL.Type { URL.self }
        /// `Data`
        public static var data: Data.Type { Data.self }
    }

    /// Accepts a type only if its values can be stored as JSON.
    public enum JSON<Value: Codable & Sendable> {
        /// The type itself.
        public typealias Checked = Value
    }

    /// Accepts a type only if it is a struct with `@StoredComposite`.
    public enum Composite<Value: StoredCompositeValue> {
        /// The type itself.
        public typealias Checked = Value
    }

    /// Compiles if both types are the same.
    public static func check<Value>(_ type: Value.Type, _ expected: Value.Type) {}

    /// Refuses a type that has the same name as an attribute type, but is another type.
    @available(
        *, unavailable,
        message:
            "The library stores a different type with this name. Say how to store the property with the first argument of @Stored, or add the module to the type's name, as in Swift.String."
    )
    public static func check(_ type: Any.Type, _ expected: Any.Type) {}

    /// Compiles if the raw values of the type are `Int16`.
    public static func check<Value: AttributeStorable & RawRepresentable>(int16: Value.Type)
    where Value.RawValue == Int16 {}

    /// Compiles if the raw values of the type are `Int32`.
    public static func check<Value: AttributeStorable & RawRepresentable>(int32: Value.Type)
    where Value.RawValue == Int32 {}

    /// Compiles if the raw values of the type are `Int64`.
    public static func check<Value: AttributeStorable & RawRepresentable>(int64: Value.Type)
    where Value.RawValue == Int64 {}

    /// Compiles if the raw values of the type are `Int`.
    public static func check<Value: AttributeStorable & RawRepresentable>(int64: Value.Type)
    where Value.RawValue == Int {}

    /// Compiles if the raw values of the type are `String`.
    public static func check<Value: AttributeStorable & RawRepresentable>(string: Value.Type)
    where Value.RawValue == String {}

    /// Compiles if values of the type can be stored as JSON.
    public static func check<Value: Codable & Sendable>(codable: Value.Type) {}

    /// Refuses a type whose values cannot be stored as JSON.
    @available(
        *, unavailable,
        message: "A value that is stored as JSON must be Codable and Sendable. Conform its type to both."
    )
    public static func check(codable: Any.Type) {}

    /// Compiles if the type is a struct with `@StoredComposite`.
    public static func check<Value: StoredCompositeValue>(composite: Value.Type) {}

    /// Refuses a type that is not a struct with `@StoredComposite`.
    @available(
        *, unavailable,
        message: "The type of a composite must be a struct with @StoredComposite. Add @StoredComposite to the struct."
    )
    public static func check(composite: Any.Type) {}

    /// Compiles if a composite can have a part of the type.
    public static func check<Value: Hashable>(part: Value.Type) {}

    /// Refuses a type whose values cannot be compared.
    @available(
        *, unavailable,
        message: "The type of a part of a composite must be Hashable. Conform the type to Hashable."
    )
    public static func check(part: Any.Type) {}

    /// Returns the name of a relationship's destination entity.
    public static func entityName(of type: ManagedObject.Type) -> String { type.entityName }

    /// Refuses a relationship whose destination is not a managed object.
    @available(
        *, unavailable,
        message: "A relationship must lead to a class with @StoredEntity. Add @StoredEntity to the destination's class."
    )
    public static func entityName(of type: Any.Type) -> String { "" }

    /// Returns the key path itself. If its property does not exist, the compiler reports an error.
    public static func inverse<Source: ManagedObject, Value>(_ inverse: KeyPath<Source, Value>) -> KeyPath<
        Source, Value
    > { inverse }

    /// Returns the name that an inverse has in the model. The inverse is a to-one relationship.
    public static func name<Source: ManagedObject, Object: ManagedObject>(
        ofInverse inverse: KeyPath<Source, Object?>
    ) -> String? { Source.relationshipKeyPaths[inverse] }

    /// Returns the name that an inverse has in the model. The inverse is a to-many relationship.
    public static func name<Source: ManagedObject, Object: ManagedObject>(
        ofInverse inverse: KeyPath<Source, RelatedObjects<Object>>
    ) -> String? { Source.relationshipKeyPaths[inverse] }

    /// Returns the name that an inverse has in the model. The inverse is an ordered to-many relationship.
    public static func name<Source: ManagedObject, Object: ManagedObject>(
        ofInverse inverse: KeyPath<Source, [Object]>
    ) -> String? { Source.relationshipKeyPaths[inverse] }

    /// Refuses a property that is not a relationship.
    @available(
        *, unavailable,
        message:
            "The inverse of a relationship is a relationship. Name the property of the destination that points back."
    )
    public static func name<Source, Value>(ofInverse inverse: KeyPath<Source, Value>) -> String? { nil }

    /// Compiles if the class inherits from `ManagedObject`.
    public static func checkClass(_ type: ManagedObject.Type) {}

    /// Refuses a class that does not inherit from `ManagedObject`.
    @available(
        *, unavailable,
        message:
            "A class with @StoredEntity inherits from ManagedObject, or from a class with @StoredEntity. Change its superclass."
    )
    public static func checkClass(_ type: Any.Type) {}
}
