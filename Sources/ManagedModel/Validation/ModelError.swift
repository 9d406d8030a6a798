/// A fault in a model, such as a duplicate name, a cycle, or a reference to an unknown entity.
public struct ModelError: Error, Sendable, Hashable {
    /// The kind of the fault.
    public var code: Code
    /// The name of the entity or composite that has the fault, or a name that two elements of the model share; nil if
    /// the fault is elsewhere in the model.
    public var entityName: String?
    /// The property that has the fault; nil if the fault is not in a property.
    public var propertyName: String?
    /// Describes the fault and how to correct it.
    public var message: String

    /// Makes an error.
    ///
    /// ```swift
    /// let error = ModelError(
    ///     .invalidName, entity: "Mail.Message",
    ///     "A name contains a dot. Leave the dot out.")
    /// ```
    public init(_ code: Code, entity: String? = nil, property: String? = nil, _ message: String) {
        self.code = code
        self.entityName = entity
        self.propertyName = property
        self.message = message
    }

    /// The kind of a fault. Later releases can add kinds, so handle unknown kinds with a `default`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// Makes a kind. The name must differ from the names of all other kinds.
        ///
        /// ```swift
        /// let tooManyEntities = ModelError.Code("tooManyEntities")
        /// ```
        public init(_ description: String) {
            self.description = description
        }

        /// Two entities, composites, fetch requests or configurations share a name, or two properties of one entity or
        /// composite share a name.
        public static let duplicateName = Code("duplicateName")
        /// A name is empty, or the name of a property contains a dot.
        public static let invalidName = Code("invalidName")
        /// An entity is its own ancestor, or a composite contains itself.
        public static let inheritanceCycle = Code("inheritanceCycle")
        /// A parent, destination, inverse, composite, configuration or constrained property does not exist, or a
        /// constrained property has no column.
        public static let unknownReference = Code("unknownReference")
        /// The inverse of a relationship does not point back to the relationship.
        public static let inverseMismatch = Code("inverseMismatch")
        /// An attribute is derived from itself, from an attribute that does not exist or does not fit, or by an
        /// expression that is not supported.
        public static let invalidDerivation = Code("invalidDerivation")
        /// The pattern of an attribute is not a regular expression.
        public static let invalidPattern = Code("invalidPattern")
        /// An entity or composite has more properties than a table can have columns, or the model has too many
        /// properties.
        public static let tooLarge = Code("tooLarge")
        /// Entities or composites are nested too deeply.
        public static let tooDeep = Code("tooDeep")
    }
}

extension ModelError: CustomStringConvertible {
    public var description: String { message }
}
