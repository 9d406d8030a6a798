/// An entity: the name, the parent and the properties of one kind of object.
public struct EntityDescription: Sendable, Hashable {
    /// The name of the entity.
    public var name: String
    /// The name of the class in the model: `X`, `.X` (in the app's own module) or `Module.X`; nil if the model names no class,
    /// or names `NSManagedObject`.
    public var className: String?
    /// The name of the parent entity; nil for a root entity.
    public var parentName: String?
    /// Whether the entity is abstract: every object belongs to one of its sub-entities.
    public var isAbstract: Bool
    /// The entity's own attributes, in the order of the model file. Inherited attributes are in the parent's list.
    public var attributes: [AttributeDescription]
    /// The entity's own relationships, in the order of the model file.
    public var relationships: [RelationshipDescription]
    /// The entity's own fetched properties. The generated code has no accessors for fetched properties.
    public var fetchedProperties: [FetchedPropertyDescription]
    /// The indexes that a store creates for the entity.
    public var indexes: [FetchIndexDescription]
    /// The uniqueness constraints. Each constraint lists attributes, leaves of composites, or to-one relationships. No
    /// two objects can have the same combination of values. A row with a nil value in a constraint never conflicts with
    /// another row.
    public var uniquenessConstraints: [[String]]
    /// Notes of the model's author, by key. Notes are not part of the hash.
    public var userInfo: [String: String]
    /// A string that is part of the model's hash, so a change of the string changes the hash; nil for none.
    public var versionHashModifier: String?
    /// The entity's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    /// The kind of code that is generated for the entity.
    public var codeGeneration: CodeGeneration

    /// Makes an entity. An omitted argument has the same default as in a model file.
    ///
    /// ```swift
    /// let attachment = EntityDescription(
    ///     name: "AttachmentEntity",
    ///     attributes: [AttributeDescription(name: "name", type: .string)],
    ///     uniquenessConstraints: [["name"]])
    /// ```
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

/// The kind of code that the generator writes for an entity (`codeGenerationType` in the file).
public enum CodeGeneration: String, Sendable, Hashable {
    /// No code: the author writes the class and its properties.
    case manual
    /// The class and its properties.
    case `class`
    /// An extension with the properties. The author writes the class.
    case category
}

/// An index that speeds up fetches. When a store opens, it updates its indexes. Indexes are not part of the hash.
public struct FetchIndexDescription: Sendable, Hashable {
    /// The name of the index in the model.
    public var name: String
    /// The properties that the index sorts by, starting with the most significant property.
    public var elements: [Element]
    /// Whether the model file declares the index in the old form, which has no name (`compoundIndex` in the file).
    public var isCompound: Bool

    /// Makes an index.
    ///
    /// ```swift
    /// let byDate = FetchIndexDescription(
    ///     name: "byDate", elements: [.init(property: "date", isAscending: false)])
    /// ```
    public init(name: String, elements: [Element], isCompound: Bool = false) {
        self.name = name
        self.elements = elements
        self.isCompound = isCompound
    }

    /// One property of an index.
    public struct Element: Sendable, Hashable {
        /// The name of an attribute or of a to-one relationship.
        public var property: String
        /// Whether the lowest value comes first.
        public var isAscending: Bool

        /// Makes an element.
        ///
        /// ```swift
        /// let newestFirst = FetchIndexDescription.Element(
        ///     property: "date", isAscending: false)
        /// ```
        public init(property: String, isAscending: Bool = true) {
            self.property = property
            self.isAscending = isAscending
        }
    }
}
