internal import Foundation
public import ManagedModel
internal import RowStore

/// The entity that a class with `@StoredEntity` describes. The macro makes it; apps use ``ManagedObjectModel``.
public struct DeclaredEntity {
    /// The class.
    let type: ManagedObject.Type
    /// The class that it inherits from.
    let superclass: ManagedObject.Type
    /// The entity's own properties. Its parent is that of the superclass.
    let entity: EntityDescription
    /// The structs that its attributes of a composite type have.
    let composites: [any StoredCompositeValue.Type]

    /// Describes an entity. For the macro.
    public init(
        _ type: ManagedObject.Type, superclass: ManagedObject.Type, _ entity: EntityDescription,
        composites: [any StoredCompositeValue.Type]
    ) {
        self.type = type
        self.superclass = superclass
        self.entity = entity
        self.composites = composites
    }
}

extension DeclaredEntity {
    /// The class's own description; nil for a class without `@StoredEntity`, which may inherit that of its superclass.
    static func own(of type: ManagedObject.Type) -> DeclaredEntity? {
        guard let declared = type.declaredEntity, declared.type == type else { return nil }
        return declared
    }

    /// Why the class cannot be used with an entity of a model, as a sentence; nil if the properties have the same places in both.
    static func fault(of type: ManagedObject.Type, in model: ManagedObjectModel) -> String? {
        guard let declared = own(of: type), let entity = model.entity(named: type.entityName) else { return nil }
        let parent = own(of: declared.superclass)?.entity.name
        let isSame =
            parent == entity.parentName && entity.attributes.map(\.name) == declared.entity.attributes.map(\.name)
            && entity.attributes.map(\.type) == declared.entity.attributes.map(\.type)
            && entity.attributes.map(\.compositeName) == declared.entity.attributes.map(\.compositeName)
            && entity.relationships.map(\.name) == declared.entity.relationships.map(\.name)
        if isSame { return nil }
        return
            "\(type) describes another \(entity.name) than the model \(model.name). Make the model from its classes: ManagedObjectModel(\"\(model.name)\") { \(type).self }."
    }
}

/// A struct whose properties are attributes of the objects that have it. `@StoredComposite` makes a struct conform.
///
/// ```swift
/// @StoredComposite struct Address {
///     var street: String = ""
///     var city: String = ""
/// }
/// ```
public protocol StoredCompositeValue: Sendable, Hashable {
    /// The name of the composite in the model.
    static var compositeName: String { get }
    /// How many columns it has.
    static var columnCount: Int { get }
    /// The composites inside of it.
    static var parts: [any StoredCompositeValue.Type] { get }
    /// Describes its attributes.
    static func attributes() -> [AttributeDescription]
    /// Reads a value whose first column is that one.
    init(reading object: ManagedObject, at column: Int)
    /// Whether every column is nil.
    static func isAbsent(from object: ManagedObject, at column: Int) -> Bool
    /// Writes a value, or nil to every column.
    static func write(_ value: Self?, to object: ManagedObject, at column: Int)
    /// Gives the columns of a new object the initial values that are calculated for each object.
    static func setInitialValues(of object: ManagedObject, at column: Int)
}

extension StoredCompositeValue {
    /// The value; nil if every column is nil.
    public static func read(from object: ManagedObject, at column: Int) -> Self? {
        isAbsent(from: object, at: column) ? nil : Self(reading: object, at: column)
    }

    /// Sets nothing: the initial values are the default values of the model.
    public static func setInitialValues(of object: ManagedObject, at column: Int) {}
}

extension ManagedObject {
    /// Where the columns of a class begin that is declared with `@StoredEntity`. For the macro.
    ///
    /// - Parameter depth: How many classes lie from `ManagedObject`, exclusive, to that class, inclusive.
    public final func firstColumn(ofClassAt depth: Int) -> Int {
        let firstColumns = home.firstColumns
        guard firstColumns.indices.contains(depth - 1) else {
            preconditionFailure(
                "\(Self.self) has more superclasses than \(layout.name) has parents in the model. Make the model from its classes, with ManagedObjectModel(_:entities:)."
            )
        }
        return firstColumns[depth - 1]
    }

    /// The layout of no properties, from which those of the classes of a model continue. Each class with `@StoredEntity` has its own.
    nonisolated public enum StoredLayout {
        /// The types that the members of `@StoredEntity` name. They are named through the superclass, so that the compiler says once that
        /// a superclass has no layout.
        public enum LayoutTypes {
            /// An object of a model.
            public typealias Object = ManagedObject
            /// What a class says about its entity.
            public typealias Entity = DeclaredEntity
            /// The name of an entity.
            public typealias Name = String
            /// The name of the property that each key path leads to.
            public typealias KeyPaths = [AnyKeyPath: String]
            /// The result of a method that returns nothing.
            public typealias Nothing = Void
        }

        /// How many classes of the model lie above, with this one.
        @inlinable public static var depth: Int { 0 }
        /// How many relationships the class and those above have.
        @inlinable public static var relationshipCount: Int { 0 }

        /// The attribute of each key path.
        public static func attributeKeyPaths<Object: ManagedObject>(of type: Object.Type) -> [AnyKeyPath: String] {
            [:]
        }

        /// The relationship of each key path.
        public static func relationshipKeyPaths<Object: ManagedObject>(of type: Object.Type) -> [AnyKeyPath: String] {
            [:]
        }

        /// The property of each key path of an optional object.
        public static func optionalKeyPaths<Object: ManagedObject>(of type: Object.Type) -> [AnyKeyPath: String] { [:] }
    }
}

extension AttributeValue {
    /// The raw value of a case, as the default value of an attribute. For the macro.
    public static func rawValue<Value: RawRepresentable>(of value: Value) -> AttributeValue
    where Value.RawValue: FixedWidthInteger {
        .integer(Int64(truncatingIfNeeded: value.rawValue))
    }

    /// The raw value of a case, as the default value of an attribute. For the macro.
    public static func rawValue<Value: RawRepresentable>(of value: Value) -> AttributeValue
    where Value.RawValue == String {
        .string(value.rawValue)
    }

    /// A decimal number with every digit. For the macro.
    public static func exact(_ digits: String) -> AttributeValue { .decimal(Decimal(string: digits) ?? 0) }

    /// A UUID by its string. For the macro.
    public static func exact(uuid: String) -> AttributeValue {
        UUID(uuidString: uuid).map { .uuid($0) } ?? .string(uuid)
    }
}
