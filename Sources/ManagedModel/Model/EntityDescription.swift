/// An entity: the name, the parent and the properties of one kind of object.
public struct EntityDescription: Sendable, Hashable {
    /// The name of the entity.
    public var name: String
    /// The class as the model names it: `X`, `.X` (in the app's own module) or `Module.X`; nil for the generic class.
    public var className: String?
    /// The name of the parent entity; nil for a root entity.
    public var parentName: String?
    /// Whether only sub-entities of the entity have objects.
    public var isAbstract: Bool
    /// The entity's own attributes, in the order of the file. The parent lists the inherited attributes.
    public var attributes: [AttributeDescription]
    /// The entity's own relationships, in the order of the file.
    public var relationships: [RelationshipDescription]
    /// The entity's own fetched properties. No accessors are generated for them.
    public var fetchedProperties: [FetchedPropertyDescription]
    /// The indexes that a store creates for the entity.
    public var indexes: [FetchIndexDescription]
    /// Each constraint lists the names of attributes or to-one relationships whose values must be unique in combination. A row
    /// with a nil value in the list never conflicts with another row.
    public var uniquenessConstraints: [[String]]
    /// Notes of the model's author, by key. Notes are not part of the hash.
    public var userInfo: [String: String]
    /// A string in the model's hash: changing the string changes the hash. Nil for none.
    public var versionHashModifier: String?
    /// The entity's name in an older version of the model (`elementID` in the file).
    public var renamingIdentifier: String?
    /// The code that is generated for the entity.
    public var codeGeneration: CodeGeneration

    /// Makes an entity. Arguments that are left out have the defaults of a model file.
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

/// The code that the generator writes for an entity (`codeGenerationType` in the file).
public enum CodeGeneration: String, Sendable, Hashable {
    /// Nothing: the author writes the class and its properties.
    case manual
    /// The class with its properties.
    case `class`
    /// The properties, as an extension of a class that the author writes.
    case category
}

/// An index that speeds up fetches. Indexes are updated when the store opens and are not part of the hash.
public struct FetchIndexDescription: Sendable, Hashable {
    /// The name of the index in the model.
    public var name: String
    /// The properties that the index sorts by, the most significant first.
    public var elements: [Element]
    /// Whether the model declares the index in the old form, without a name (`compoundIndex` in the file).
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
        /// Whether the least value comes first.
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
