package import Foundation

/// An entity as its class declares it. Names of other types are not resolved.
package struct EntitySource: Sendable {
    package var className: String
    /// The name of the superclass, without the library's module.
    package var superclass: String
    /// The name of the superclass, as the source has it.
    package var writtenSuperclass: String
    /// The byte offset of the superclass.
    package var superclassOffset = 0
    package var name: String
    /// The byte offset of the class's name.
    package var offset: Int
    package var accessLevel: String?
    package var isAbstract = false
    package var attributes: [AttributeSource] = []
    package var relationships: [RelationshipSource] = []
    package var uniquenessConstraints: [[String]] = []
    package var indexes: LiteralList?
    /// Attributes that have no property.
    package var otherAttributes: LiteralList?
    /// Relationships that have no property.
    package var otherRelationships: LiteralList?
    package var fetchedProperties: LiteralList?
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String] = [:]
    /// Whether the source of the class has a required initializer.
    package var hasRequiredInitializer = false

    /// Whether `ManagedObject` is the superclass.
    package var isRoot: Bool { superclass == "ManagedObject" }
}

/// An array literal whose elements are calls of initializers. The calls are checked by the compiler, not by the reader.
package struct LiteralList: Sendable {
    /// The array in the spelling of the source.
    package var text: String
    package var elements: [SourceExpression]
    package var offset: Int
}

/// A struct whose properties are attributes.
package struct CompositeSource: Sendable {
    package var typeName: String
    package var name: String
    package var offset: Int
    package var accessLevel: String?
    package var attributes: [AttributeSource] = []
    /// Whether the author wrote an initializer for the struct.
    package var hasInitializer = false
}

/// An attribute of an entity or of a composite.
package struct AttributeSource: Sendable {
    /// How the property is stored.
    package enum Form: Sendable, Equatable {
        case plain
        /// The raw value of the property's type.
        case raw
        /// The value as JSON.
        case codable
        /// A column for each attribute of a struct.
        case composite
        /// The bytes of a transformable. Swift cannot name the type of the value.
        case bytes
    }

    package var propertyName: String
    package var name: String
    package var offset: Int
    package var form: Form
    package var type: StorageType
    /// The type of the property, without a question mark and without the names of modules.
    package var typeName: String
    /// The type of the property as the source has it, without a question mark.
    package var writtenTypeName: String
    /// The byte offset of the type.
    package var typeOffset = 0
    /// Whether the property is private to its file or its class. The type of such a property can be private, too.
    package var isPrivate = false
    /// Whether the property is a part of a struct.
    package var isPart = false
    /// Whether the property has `@available` with `deprecated`.
    package var isDeprecated = false
    package var hasOptionalProperty: Bool
    package var isOptional: Bool
    package var isTransient = false
    package var defaultValue: DefaultSource?
    /// An initial value that is evaluated for each new object, and is not part of the model.
    package var initialValue: String?
    package var minimum: ValueSource?
    package var maximum: ValueSource?
    package var pattern: String?
    package var derivationExpression: String?
    package var isUnique = false
    package var isIndexed = false
    package var allowsExternalStorage = false
    package var valueTransformerName: String?
    package var customClassName: String?
    package var preservesValueInHistoryOnDeletion = false
    package var allowsCloudEncryption = false
    package var isIndexedBySpotlight = false
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String] = [:]

    package var usesScalarValueType: Bool { type.isScalar && !hasOptionalProperty && form != .bytes }
}

/// A relationship of an entity.
package struct RelationshipSource: Sendable {
    package var propertyName: String
    package var name: String
    package var offset: Int
    /// The destination's class, in the spelling of the source.
    package var destination: String
    /// The byte offset of the type.
    package var typeOffset: Int
    /// The property of the destination's class that points back.
    package var inverse: String?
    /// The byte offset of the argument that names the inverse.
    package var inverseOffset: Int
    /// Whether the property has `@available` with `deprecated`.
    package var isDeprecated = false
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional = true
    package var isTransient = false
    package var minimumCount = 0
    package var maximumCount: Int?
    /// The name of a `DeleteRule` case.
    package var deleteRule = "nullify"
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String] = [:]
}

/// The types of attributes. The raw value is the word in a model file.
package enum StorageType: String, Sendable, CaseIterable {
    case integer16 = "Integer 16"
    case integer32 = "Integer 32"
    case integer64 = "Integer 64"
    case decimal = "Decimal"
    case double = "Double"
    case float = "Float"
    case string = "String"
    case boolean = "Boolean"
    case date = "Date"
    case binary = "Binary"
    case uuid = "UUID"
    case uri = "URI"
    case transformable = "Transformable"
    case composite = "Composite"

    /// The types that can be stored without an argument of the macro, by their spelling.
    package static let plain: [String: StorageType] = [
        "Bool": .boolean, "Int16": .integer16, "Int32": .integer32, "Int64": .integer64, "Int": .integer64,
        "Float": .float,
        "Double": .double, "Decimal": .decimal, "String": .string, "Date": .date, "UUID": .uuid, "URL": .uri,
        "Data": .binary,
    ]

    /// The types of raw values, by their spelling.
    package static let raw: [String: StorageType] = [
        "Int16": .integer16, "Int32": .integer32, "Int64": .integer64, "Int": .integer64, "String": .string,
    ]

    package var isScalar: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: true
        default: false
        }
    }

    package var isWholeNumber: Bool { self == .integer16 || self == .integer32 || self == .integer64 }
}

/// A default value in the source.
package enum DefaultSource: Sendable, Equatable {
    case value(ValueSource)
    /// The raw value of a case. The type is the property's type if the source names no type.
    case enumCase(type: String, name: String)
}

/// A value that a model can contain as a default value or a bound.
package enum ValueSource: Sendable, Equatable {
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case uuid(UUID)
}
