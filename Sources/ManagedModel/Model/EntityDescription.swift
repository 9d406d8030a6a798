/// One entity: a kind of object, its properties, and where it stands in the inheritance of the model.
public struct EntityDescription: Sendable, Hashable {
    public var name: String
    /// The class as the model spells it: `X`, `.X` (the app's own module), `Module.X`, or nil for the generic class.
    public var className: String?
    /// The name of the parent entity; nil for a root entity.
    public var parentName: String?
    public var isAbstract: Bool
    /// The entity's own attributes, in the order of the file. Inherited ones are in the parent.
    public var attributes: [AttributeDescription]
    /// The entity's own relationships, in the order of the file.
    public var relationships: [RelationshipDescription]
    public var fetchedProperties: [FetchedPropertyDescription]
    public var indexes: [FetchIndexDescription]
    /// Each constraint is a list of names of attributes or to-one relationships, which together must be unique. Rows in
    /// which one of them is nil never collide.
    public var uniquenessConstraints: [[String]]
    public var userInfo: [String: String]
    public var versionHashModifier: String?
    /// The entity's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    public var codeGeneration: CodeGeneration

    public init(
        name: String,
        className: String? = nil,
        parentName: String? = nil,
        isAbstract: Bool = false,
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [],
        fetchedProperties: [FetchedPropertyDescription] = [],
        indexes: [FetchIndexDescription] = [],
        uniquenessConstraints: [[String]] = [],
        userInfo: [String: String] = [:],
        versionHashModifier: String? = nil,
        renamingIdentifier: String? = nil,
        codeGeneration: CodeGeneration = .manual
    ) {
        self.name = name
        self.className = className
        self.parentName = parentName
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.fetchedProperties = fetchedProperties
        self.indexes = indexes
        self.uniquenessConstraints = uniquenessConstraints
        self.userInfo = userInfo
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
        self.codeGeneration = codeGeneration
    }
}

/// What the code generator makes for an entity (`codeGenerationType` in the file).
public enum CodeGeneration: String, Sendable, Hashable {
    /// Nothing: the class and its properties are the author's.
    case manual
    /// The class with its properties.
    case `class`
    /// The properties, as an extension of a class that the author writes.
    case category
}

/// An index that speeds up fetches. Indexes are made again when the store opens and are not part of the hash.
public struct FetchIndexDescription: Sendable, Hashable {
    public var name: String
    public var elements: [Element]
    /// Whether the model declares it in the old spelling, without a name (`compoundIndex` in the file).
    public var isCompound: Bool

    public init(name: String, elements: [Element], isCompound: Bool = false) {
        self.name = name
        self.elements = elements
        self.isCompound = isCompound
    }

    public struct Element: Sendable, Hashable {
        public var property: String
        public var isAscending: Bool

        public init(property: String, isAscending: Bool = true) {
            self.property = property
            self.isAscending = isAscending
        }
    }
}
