public import Foundation

/// One attribute of an entity or of a composite.
public struct AttributeDescription: Sendable, Hashable {
    /// The name of the attribute.
    public var name: String
    /// The type of the attribute's values.
    public var type: AttributeType
    /// Whether an object can be saved without a value of the attribute.
    public var isOptional: Bool
    /// Whether values of the attribute are kept in memory only.
    public var isTransient: Bool
    /// The value in a new object; nil for no default value. An empty string is a default value.
    public var defaultValue: AttributeValue?
    /// Whether the property of an optional number or Boolean has a type that is not optional. The property then returns
    /// 0 or false for nil.
    public var usesScalarValueType: Bool
    /// The lowest allowed value, inclusive. For a string, the minimum length in characters as an `.integer`.
    public var minimum: AttributeValue?
    /// The highest allowed value, inclusive. For a string, the maximum length in characters as an `.integer`.
    public var maximum: AttributeValue?
    /// A regular expression that the whole string must match.
    public var pattern: String?
    /// The name of the transformer in the model. The library ignores the name, because a transformable is a `Codable` value.
    public var valueTransformerName: String?
    /// The Swift type of a transformable in the model, such as `[String]` or `Color`.
    public var customClassName: String?
    /// Whether large values of the attribute are deferred. A fetch for reading leaves deferred values of more than 16 KB in the
    /// store until they are needed. Even large values are stored in the row, and not in separate files. The flag is not
    /// part of the model's hash.
    public var allowsExternalBinaryDataStorage: Bool
    /// The name of the composite if ``type`` is ``AttributeType/composite``.
    public var compositeName: String?
    /// The expression that calculates the value of a derived attribute; nil for an attribute whose value your code sets.
    public var derivationExpression: String?
    /// Whether the attribute has its own index. Old model files use this flag.
    public var isIndexed: Bool
    /// A flag in the model file, which the library ignores.
    public var preservesValueInHistoryOnDeletion: Bool
    /// A flag in the model file, which the library ignores.
    public var allowsCloudEncryption: Bool
    /// A flag in the model file, which the library ignores.
    public var isIndexedBySpotlight: Bool
    /// A string that is part of the model's hash, so a change of the string changes the hash; nil for none.
    public var versionHashModifier: String?
    /// The attribute's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    /// Notes of the model's author, by key. Notes are not part of the hash.
    public var userInfo: [String: String]

    /// Makes an attribute. An omitted argument has the same default as in a model file.
    ///
    /// ```swift
    /// let subject = AttributeDescription(
    ///     name: "subject", type: .string, defaultValue: .string(""),
    ///     maximum: .integer(200))
    /// ```
    public init(
        name: String,
        type: AttributeType,
        isOptional: Bool = false,
        isTransient: Bool = false,
        defaultValue: AttributeValue? = nil,
        usesScalarValueType: Bool = false,
        minimum: AttributeValue? = nil,
        maximum: AttributeValue? = nil,
        pattern: String? = nil,
        valueTransformerName: String? = nil,
        customClassName: String? = nil,
        allowsExternalBinaryDataStorage: Bool = false,
        compositeName: String? = nil,
        derivationExpression: String? = nil,
        isIndexed: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false,
        allowsCloudEncryption: Bool = false,
        isIndexedBySpotlight: Bool = false,
        versionHashModifier: String? = nil,
        renamingIdentifier: String? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.defaultValue = defaultValue
        self.usesScalarValueType = usesScalarValueType
        self.minimum = minimum
        self.maximum = maximum
        self.pattern = pattern
        self.valueTransformerName = valueTransformerName
        self.customClassName = customClassName
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.compositeName = compositeName
        self.derivationExpression = derivationExpression
        self.isIndexed = isIndexed
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.allowsCloudEncryption = allowsCloudEncryption
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}

/// The type of an attribute. The raw value is the word in the model file.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    /// The attribute has no type in the file.
    case undefined = "Undefined"
    /// A whole number of 16 bits, `Int16`.
    case integer16 = "Integer 16"
    /// A whole number of 32 bits, `Int32`.
    case integer32 = "Integer 32"
    /// A whole number of 64 bits, `Int64`.
    case integer64 = "Integer 64"
    /// A decimal number, `Decimal`.
    case decimal = "Decimal"
    /// A real number of 64 bits, `Double`.
    case double = "Double"
    /// A real number of 32 bits, `Float`.
    case float = "Float"
    /// A string, `String`.
    case string = "String"
    /// True or false, `Bool`.
    case boolean = "Boolean"
    /// A point in time, `Date`.
    case date = "Date"
    /// Bytes, `Data`.
    case binary = "Binary"
    /// A `UUID`.
    case uuid = "UUID"
    /// A `URL`.
    case uri = "URI"
    /// A `Codable` value of the app's own type, stored as JSON.
    case transformable = "Transformable"
    /// The id of an object. Models do not name this type.
    case objectID = "Object ID"
    /// A group of attributes, described by a ``CompositeDescription``.
    case composite = "Composite"
}

/// A default value or a bound of an attribute.
public enum AttributeValue: Sendable, Hashable {
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A real number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// A string, which can be empty.
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(TimeInterval)
    /// A UUID.
    case uuid(UUID)
}
