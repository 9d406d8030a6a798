package import Foundation

/// An entity as the text of its class describes it. Names of other types are not resolved.
package struct EntitySource: Sendable {
    package var className: String
    /// The name of the class that it inherits from, as it is written.
    package var superclass: String
    /// The name of the entity.
    package var name: String
    /// The first byte of the name of the class.
    package var offset: Int
    package var accessLevel: String?
    package var isAbstract = false
    package var attributes: [AttributeSource] = []
    package var relationships: [RelationshipSource] = []
    package var uniquenessConstraints: [[String]] = []
    package var indexes: LiteralList?
    /// Attributes without a property.
    package var otherAttributes: LiteralList?
    /// Relationships without a property.
    package var otherRelationships: LiteralList?
    package var fetchedProperties: LiteralList?
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String] = [:]

    /// Whether the class inherits from `ManagedObject` itself.
    package var isRoot: Bool { superclass == "ManagedObject" }
}

/// An array of initializer calls for types of the model. The compiler has checked the calls.
package struct LiteralList: Sendable {
    /// The array as it is written.
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
    /// Whether the struct has an initializer of its own.
    package var hasInitializer = false
}

/// An attribute of an entity or of a composite.
package struct AttributeSource: Sendable {
    /// How the property is stored.
    package enum Form: Sendable, Equatable {
        case plain
        /// As the raw values of its type.
        case raw
        /// As JSON.
        case codable
        /// As the attributes of a struct.
        case composite
        /// The bytes of a transformable, whose type Swift cannot name.
        case bytes
    }

    package var propertyName: String
    package var name: String
    package var offset: Int
    package var form: Form
    package var type: StorageType
    /// The type of the property, without a question mark.
    package var typeName: String
    /// Whether the property is private to its file or its class, and so may be its type.
    package var isPrivate = false
    package var hasOptionalProperty: Bool
    package var isOptional: Bool
    package var isTransient = false
    package var defaultValue: DefaultSource?
    /// An initial value that is not part of the model: it is calculated for each new object.
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
    /// The class of the destination, as it is written.
    package var destination: String
    /// The property of the destination's class that points back.
    package var inverse: String?
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional = true
    package var isTransient = false
    package var minimumCount = 0
    package var maximumCount: Int?
    /// The name of a case of `DeleteRule`.
    package var deleteRule = "nullify"
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String] = [:]
}

/// The types that attributes have. The raw value is the word in a model file.
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

    /// The types that are stored without an attribute, by their spelling.
    package static let plain: [String: StorageType] = [
        "Bool": .boolean, "Int16": .integer16, "Int32": .integer32, "Int64": .integer64, "Int": .integer64,
        "Float": .float,
        "Double": .double, "Decimal": .decimal, "String": .string, "Date": .date, "UUID": .uuid, "URL": .uri,
        "Data": .binary,
    ]

    /// The types that raw values can have.
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

/// A default value as the source has it.
package enum DefaultSource: Sendable, Equatable {
    case value(ValueSource)
    /// The raw value of a case, of the type of the property if none is named.
    case enumCase(type: String, name: String)
}

/// A value that a model can contain.
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
