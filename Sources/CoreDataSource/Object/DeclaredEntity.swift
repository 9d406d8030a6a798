internal import Foundation
public import ManagedModel
public import QueryLanguage
internal import RowStore

/// The description of an entity, which the macro `@StoredEntity` makes from a class. In an app, use ``ManagedObjectModel``.
public struct DeclaredEntity {
    /// The class that describes the entity.
    let type: ManagedObject.Type
    /// The superclass of the class.
    let superclass: ManagedObject.Type
    /// The entity, with the properties that the class itself declares. The parent of the entity is the entity of the
    /// superclass.
    let entity: EntityDescription
    /// The structs that are the types of the entity's composite attributes.
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
    /// The class's own description; nil for a class without `@StoredEntity`, even if its superclass has a description.
    static func own(of type: ManagedObject.Type) -> DeclaredEntity? {
        guard let declared = type.declaredEntity, declared.type == type else { return nil }
        return declared
    }

    /// Returns a message if a class does not override `entityName`, so that it has the entity of its superclass.
    static func missingOverride(of type: ManagedObject.Type) -> String? {
        guard let superclass = _getSuperclass(type) as? ManagedObject.Type, superclass.entityName == type.entityName
        else { return nil }
        let consequence =
            type.entityName.isEmpty ? "it has no entity" : "it has the entity \(type.entityName) of its superclass"
        return
            "\(type) does not override entityName, so \(consequence). If the model generates an extension of \(type), add to the class: override class var entityName: String { \(type).Generated.entityName }, and the other overrides that the comment of the extension lists. Otherwise, mark the class with @StoredEntity."
    }

    /// What to do if the model of a container has no entity of a class.
    static func remedy(forMissing type: ManagedObject.Type) -> String {
        if type.entityName.isEmpty, let problem = missingOverride(of: type) { return problem }
        return own(of: type) == nil
            ? "Give the container the model that \(type) was generated from."
            : "List \(type).self in the ManagedObjectModel of the container."
    }

    /// Returns a message if the class and its entity in a model differ in the parent, in the properties, or in the
    /// order of the properties.
    static func classProblem(of type: ManagedObject.Type, in model: ManagedObjectModel) -> String? {
        guard let declared = own(of: type), let entity = model.entity(named: type.entityName) else { return nil }
        let parent = own(of: declared.superclass)?.entity.name
        let isSame =
            parent == entity.parentName && entity.attributes.map(\.name) == declared.entity.attributes.map(\.name)
            && entity.attributes.map(\.type) == declared.entity.attributes.map(\.type)
            && entity.attributes.map(\.compositeName) == declared.entity.attributes.map(\.compositeName)
            && entity.relationships.map(\.name) == declared.entity.relationships.map(\.name)
        if isSame { return nil }
        return
            "\(type) does not match the entity \(entity.name) of the model \(model.name). Make the model from its classes: ManagedObjectModel(\"\(model.name)\") { \(type).self }."
    }
}

/// A struct that is the type of a composite attribute. Structs with `@StoredComposite` and the structs of a generated model
/// conform. An app does not need to conform other structs.
///
/// Predicates, orders and aggregates find the parts of a composite attribute by the key paths of the parts. A predicate can
/// also compare an optional composite attribute with nil:
///
/// ```swift
/// let north: FetchPredicate<StopEntity> = \.place?.latitude > 47
/// let unplaced: FetchPredicate<StopEntity> = \.place == nil
/// ```
public protocol CompositeValue: QueriedComposite, Sendable, Hashable {}

/// A struct whose properties are stored as attributes of an object. `@StoredComposite` makes a struct conform.
///
/// ```swift
/// @StoredComposite struct Address {
///     var street: String = ""
///     var city: String = ""
/// }
/// ```
public protocol StoredCompositeValue: CompositeValue {
    /// The name of the composite in the model.
    static var compositeName: String { get }
    /// The number of columns of the composite.
    static var columnCount: Int { get }
    /// The types of the composites inside the composite.
    static var parts: [any StoredCompositeValue.Type] { get }
    /// Returns the attributes of the composite.
    static func attributes() -> [AttributeDescription]
    /// Reads a value from an object. The column is the first column of the composite.
    init(reading object: ManagedObject, at column: Int)
    /// Whether every column of the composite is nil.
    static func isAbsent(from object: ManagedObject, at column: Int) -> Bool
    /// Writes a value to the columns of the composite. Nil sets every column to nil.
    static func write(_ value: Self?, to object: ManagedObject, at column: Int)
    /// Sets the initial values that are calculated for each new object.
    static func setInitialValues(of object: ManagedObject, at column: Int)
}

extension StoredCompositeValue {
    /// Returns the value; nil if every column of the composite is nil.
    public static func read(from object: ManagedObject, at column: Int) -> Self? {
        isAbsent(from: object, at: column) ? nil : Self(reading: object, at: column)
    }

    /// Empty, so predicates and orders find no part. A struct with `@StoredComposite` has the key paths of all parts.
    public static var partKeyPaths: [AnyKeyPath: String] { [:] }

    /// Does nothing: the initial values are the default values of the model.
    public static func setInitialValues(of object: ManagedObject, at column: Int) {}
}

extension ManagedObject {
    /// Returns the row of a new object without the default values of the model: only the initial values that are calculated
    /// for each new object. The parts of optional composites have their own initial values, as if no composite were nil. The
    /// new object has no context, and is discarded.
    static func initialRow(_ layout: EntityLayout) -> RowSnapshot {
        let home = ObjectHome(layout, in: nil, .inBatch)
        let row = RowSnapshot(columnCount: layout.columns.count)
        let object = make(home, key: 0, row: row, .inserted, asOf: .beforeFirst)
        object.setInitialValues()
        var type: ManagedObject.Type = self
        while let declared = DeclaredEntity.own(of: type) {
            object.setInitialParts(of: declared.entity.attributes, declared.composites)
            type = declared.superclass
        }
        return object.row
    }

    /// Sets the initial values of the parts of optional composites.
    ///
    /// - Parameters:
    ///   - attributes: The attributes to look for optional composites, also in the composites inside of them.
    ///   - types: The types of the composites.
    ///   - path: The names of the composites around the attributes, each with a dot.
    private func setInitialParts(
        of attributes: [AttributeDescription], _ types: [any StoredCompositeValue.Type], in path: String = ""
    ) {
        for attribute in attributes where attribute.type == .composite {
            let parts = "\(path)\(attribute.name)."
            guard let type = types.first(where: { $0.compositeName == attribute.compositeName }),
                let column = layout.columns.firstIndex(where: { $0.name.utf8.starts(with: parts.utf8) })
            else { continue }
            if attribute.isOptional { type.setInitialValues(of: self, at: column) }
            setInitialParts(of: type.attributes(), type.parts, in: parts)
        }
    }

    /// Returns the index of the first column that a class with `@StoredEntity` declares. For the macro.
    ///
    /// - Parameter depth: The number of classes from the direct subclass of `ManagedObject` to the class, including both.
    public final func firstColumn(ofClassAt depth: Int) -> Int {
        let firstColumns = home.firstColumns
        guard firstColumns.indices.contains(depth - 1) else {
            preconditionFailure(
                "\(Self.self) has more superclasses than \(layout.name) has parents in the model. Make the model from its classes, with ManagedObjectModel(_:entities:)."
            )
        }
        return firstColumns[depth - 1]
    }

    /// The layout of `ManagedObject`, which has no properties. Each class with `@StoredEntity` declares its own layout,
    /// which continues the layout of its superclass.
    nonisolated public enum StoredLayout {
        /// Types for the members that `@StoredEntity` adds to a class. The members name these types through the superclass,
        /// so that the compiler reports a superclass without a layout only once.
        public enum LayoutTypes {
            /// An object of a model.
            public typealias Object = ManagedObject
            /// The description that a class gives of its entity.
            public typealias Entity = DeclaredEntity
            /// The name of an entity.
            public typealias Name = String
            /// The name of the property for each key path.
            public typealias KeyPaths = [AnyKeyPath: String]
            /// The result of a method that returns nothing.
            public typealias Nothing = Void
        }

        /// The number of classes of the model in the lineage, including this class.
        @inlinable public static var depth: Int { 0 }
        /// The number of relationships of the class, including inherited relationships.
        @inlinable public static var relationshipCount: Int { 0 }

        /// Returns the name of the attribute for each key path.
        public static func attributeKeyPaths<Object: ManagedObject>(of type: Object.Type) -> [AnyKeyPath: String] {
            [:]
        }

        /// Returns the name of the relationship for each key path.
        public static func relationshipKeyPaths<Object: ManagedObject>(of type: Object.Type) -> [AnyKeyPath: String] {
            [:]
        }

        /// Returns the name of the property for each key path that begins with an optional object.
        public static func optionalKeyPaths<Object: ManagedObject>(of type: Object.Type) -> [AnyKeyPath: String] { [:] }
    }
}

extension AttributeValue {
    /// Makes a default value for an attribute from the raw value of a case. For the macro.
    public static func rawValue<Value: RawRepresentable>(of value: Value) -> AttributeValue
    where Value.RawValue: FixedWidthInteger {
        .integer(Int64(truncatingIfNeeded: value.rawValue))
    }

    /// Makes a default value for an attribute from the raw value of a case. For the macro.
    public static func rawValue<Value: RawRepresentable>(of value: Value) -> AttributeValue
    where Value.RawValue == String {
        .string(value.rawValue)
    }

    /// Makes a decimal number with all given digits. For the macro.
    public static func exact(_ digits: String) -> AttributeValue { .decimal(Decimal(string: digits) ?? 0) }

    /// Makes a UUID from its string. For the macro.
    public static func exact(uuid: String) -> AttributeValue {
        UUID(uuidString: uuid).map { .uuid($0) } ?? .string(uuid)
    }
}

// The conformances that QueryLanguage needs for its predicates.

extension QueriedObject where Self: ManagedObject {
    package static var identification: AnyKeyPath { \Self.objectID }
}

extension ManagedObject: QueriedObject {}
extension ManagedObjectID: ObjectReference {}
