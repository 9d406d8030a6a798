public import Foundation

/// The checks with which the compiler confirms what the macros have read. Nothing calls them.
///
/// A macro sees text, and `String` may be a type of the app's own. Each check compiles only if the text means what it seems to.
public enum StoredTypes {
    /// The types that attributes have by their names.
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

    /// Names a type only if it can be stored as JSON.
    public enum JSON<Value: Codable & Sendable> {
        /// The type itself.
        public typealias Checked = Value
    }

    /// Names a type only if it is a struct with `@StoredComposite`.
    public enum Composite<Value: StoredCompositeValue> {
        /// The type itself.
        public typealias Checked = Value
    }

    /// Both types are the same.
    public static func check<Value>(_ type: Value.Type, _ expected: Value.Type) {}

    /// A type that only has the name of a type that is stored is refused.
    @available(
        *, unavailable,
        message:
            "This is another type than the one of this name that is stored. Say how to store the property with the first argument of @Stored, or add the module to the type's name, as in Swift.String."
    )
    public static func check(_ type: Any.Type, _ expected: Any.Type) {}

    /// The raw values are of the type that the attribute names.
    public static func check<Value: AttributeStorable & RawRepresentable>(int16: Value.Type)
    where Value.RawValue == Int16 {}

    /// The raw values are of the type that the attribute names.
    public static func check<Value: AttributeStorable & RawRepresentable>(int32: Value.Type)
    where Value.RawValue == Int32 {}

    /// The raw values are of a type that the attribute names.
    public static func check<Value: AttributeStorable & RawRepresentable>(int64: Value.Type)
    where Value.RawValue == Int64 {}

    /// The raw values are of a type that the attribute names.
    public static func check<Value: AttributeStorable & RawRepresentable>(int64: Value.Type)
    where Value.RawValue == Int {}

    /// The raw values are of the type that the attribute names.
    public static func check<Value: AttributeStorable & RawRepresentable>(string: Value.Type)
    where Value.RawValue == String {}

    /// The type can be stored as JSON.
    public static func check<Value: Codable & Sendable>(codable: Value.Type) {}

    /// A type that cannot be stored as JSON is refused.
    @available(
        *, unavailable,
        message: "A value that is stored as JSON must be Codable and Sendable. Conform its type to both."
    )
    public static func check(codable: Any.Type) {}

    /// The type is a struct with `@StoredComposite`.
    public static func check<Value: StoredCompositeValue>(composite: Value.Type) {}

    /// A type that is no struct with `@StoredComposite` is refused.
    @available(
        *, unavailable,
        message: "The type of a composite must be a struct with @StoredComposite. Add @StoredComposite to the struct."
    )
    public static func check(composite: Any.Type) {}

    /// The name of the entity to which a relationship leads.
    public static func entityName(of type: ManagedObject.Type) -> String { type.entityName }

    /// A relationship to something else than an object is refused.
    @available(
        *, unavailable,
        message: "A relationship must lead to a class with @StoredEntity. Add @StoredEntity to the destination's class."
    )
    public static func entityName(of type: Any.Type) -> String { "" }

    /// The property is a to-one relationship.
    public static func checkInverse<Source: ManagedObject, Object: ManagedObject>(_ inverse: KeyPath<Source, Object?>) {
    }

    /// The property is a to-many relationship.
    public static func checkInverse<Source: ManagedObject, Object: ManagedObject>(
        _ inverse: KeyPath<Source, RelatedObjects<Object>>
    ) {}

    /// The property is an ordered to-many relationship.
    public static func checkInverse<Source: ManagedObject, Object: ManagedObject>(_ inverse: KeyPath<Source, [Object]>)
    {}

    /// A property that is no relationship is refused.
    @available(
        *, unavailable,
        message:
            "The inverse of a relationship is a relationship. Name the property of the destination that points back."
    )
    public static func checkInverse<Source, Value>(_ inverse: KeyPath<Source, Value>) {}

    /// The class inherits from `ManagedObject`.
    public static func checkClass(_ type: ManagedObject.Type) {}

    /// A class that inherits from something else is refused.
    @available(
        *, unavailable,
        message:
            "A class with @StoredEntity inherits from ManagedObject, or from a class with @StoredEntity. Change its superclass."
    )
    public static func checkClass(_ type: Any.Type) {}
}
