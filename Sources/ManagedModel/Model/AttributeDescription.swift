/// One attribute of an entity or of a composite.
public struct AttributeDescription: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    public var isOptional: Bool
    public var isTransient: Bool
    /// The value of a new object; nil for none. An empty string is a value.
    public var defaultValue: AttributeValue?
    /// Whether the generated property is a plain number even when the attribute is optional (nil then reads as zero).
    public var usesScalarValueType: Bool
    /// The lowest value allowed, inclusive. For strings an `.integer`: the lowest length in characters.
    public var minimum: AttributeValue?
    /// The highest value allowed, inclusive. For strings an `.integer`: the highest length in characters.
    public var maximum: AttributeValue?
    /// A regular expression that the whole string must match.
    public var pattern: String?
    public var valueTransformerName: String?
    /// The declared type of a transformable: `[String]`, `Color`.
    public var customClassName: String?
    public var allowsExternalBinaryDataStorage: Bool
    /// The name of the composite, when ``type`` is ``AttributeType/composite``.
    public var compositeName: String?
    /// How a derived attribute gets its value; nil for an ordinary one.
    public var derivationExpression: String?
    /// The legacy single-column index flag.
    public var isIndexed: Bool
    public var preservesValueInHistoryOnDeletion: Bool
    public var allowsCloudEncryption: Bool
    public var isIndexedBySpotlight: Bool
    public var versionHashModifier: String?
    /// The attribute's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    public var userInfo: [String: String]

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
    case undefined = "Undefined"
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
    case objectID = "Object ID"
    case composite = "Composite"
}
