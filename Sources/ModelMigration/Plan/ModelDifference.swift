public import ManagedModel

/// The changes between the persisted shapes of two models, in words.
///
/// The difference is empty if and only if the hashes of the models are equal. Properties are compared by name. A renamed
/// property is therefore listed twice, as removed under its old name and as added under its new name.
///
///     var edited = ManagedObjectModel.contacts
///     edited.entities.append(EntityDescription(name: "TagEntity"))
///     for change in ModelDifference(from: .contacts, to: edited).changes {
///         print(change)  // TagEntity: added
///     }
public struct ModelDifference: Sendable, Hashable {
    /// The changes, sorted by entity and then by property.
    public var changes: [Change]

    /// Compares two models by the names of entities and properties.
    ///
    ///     var edited = ManagedObjectModel.contacts
    ///     edited.entities[0].versionHashModifier = "2"
    ///     print(ModelDifference(from: .contacts, to: edited))  // ContactEntity: version hash modifier none -> "2"
    ///
    /// - Parameters:
    ///   - old: The model before the changes.
    ///   - new: The model after the changes.
    /// - Complexity: About the cost of the hashes of both models.
    public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        let old = Self.shapes(of: old)
        let new = Self.shapes(of: new)
        let names = Set(old.keys).union(new.keys).sorted { [$0].precedes([$1]) }
        changes = names.flatMap { Self.changes(from: old[$0], to: new[$0], name: $0) }
    }

    /// Whether both models have the same persisted shape.
    public var isEmpty: Bool { changes.isEmpty }

    /// The names of the entities with changes of their own, sorted. Sub-entities that only inherit changes are not
    /// listed.
    public var entityNames: [String] {
        changes.reduce(into: []) { names, change in
            if names.last != change.entityName { names.append(change.entityName) }
        }
    }

    /// A change of an entity or a property.
    public struct Change: Sendable, Hashable, CustomStringConvertible {
        /// The name of the entity that changed.
        public var entityName: String
        /// The name of the changed attribute or relationship; nil for the entity itself. For a leaf of a composite, the
        /// name is a path, such as `address.city`.
        public var propertyName: String?
        /// The change in words, such as `added (String, optional)` or `optional -> required`.
        public var words: String

        public var description: String {
            "\(entityName)\(propertyName.map { ".\($0)" } ?? ""): \(words)"
        }
    }

    private static func shapes(of model: ManagedObjectModel) -> [String: EntityShape] {
        let lookup = ModelLookup(model)
        return lookup.entities.mapValues { EntityShape(of: $0, in: lookup) }
    }

    private static func changes(from old: EntityShape?, to new: EntityShape?, name: String) -> [Change] {
        guard let old else { return [Change(entityName: name, words: "added")] }
        guard let new else { return [Change(entityName: name, words: "removed")] }
        let words = old.changeDescriptions(to: new).map { Change(entityName: name, words: $0) }
        return words + new.propertyChanges(since: old)
    }
}

extension ModelDifference: CustomStringConvertible {
    /// The changes in words, with one line for each change.
    public var description: String {
        changes.map(\.description).joined(separator: "\n")
    }
}

extension EntityShape {
    /// Returns the changes of the entity itself, without the changes of its properties.
    func changeDescriptions(to new: EntityShape) -> [String] {
        let removed = uniquenessConstraints.filter { !new.uniquenessConstraints.contains($0) }
        let added = new.uniquenessConstraints.filter { !uniquenessConstraints.contains($0) }
        return [
            change("parent ", parentName, new.parentName),
            change("", isAbstract ? "abstract" : "concrete", new.isAbstract ? "abstract" : "concrete"),
            modifierChange([versionHashModifier], [new.versionHashModifier]),
        ].compactMap(\.self)
            + removed.map { "uniqueness constraint (\($0.joined(separator: ", "))) removed" }
            + added.map { "uniqueness constraint (\($0.joined(separator: ", "))) added" }
    }

    func propertyChanges(since old: EntityShape) -> [ModelDifference.Change] {
        changes(from: old.attributes, to: attributes) + changes(from: old.relationships, to: relationships)
    }

    private func changes<Shape: PropertyShape>(from old: [Shape], to new: [Shape]) -> [ModelDifference.Change] {
        let old = Dictionary(old.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        let new = Dictionary(new.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(old.keys).union(new.keys).sorted { $0.precedes($1) }.flatMap { path in
            let found: [String] =
                switch (old[path], new[path]) {
                case (let old?, let new?): Shape.words(from: old, to: new)
                case (nil, let new?): [new.words(afterVerb: "added")]
                case (let old?, nil): [old.words(afterVerb: "removed")]
                case (nil, nil): []
                }
            return found.map {
                ModelDifference.Change(entityName: name, propertyName: path.joined(separator: "."), words: $0)
            }
        }
    }
}

/// The shape of an attribute or a relationship, for comparison.
protocol PropertyShape {
    var path: [String] { get }
    /// The property in words, for example `Decimal, optional`.
    var summary: String { get }

    static func words(from old: Self, to new: Self) -> [String]
}

extension PropertyShape {
    /// Returns words such as `added (Decimal, optional)`.
    func words(afterVerb verb: String) -> String { "\(verb) (\(summary))" }
}

extension AttributeShape: PropertyShape {
    var summary: String {
        let kind = derivationExpression == nil ? type.rawValue : "\(type.rawValue), derived"
        return "\(kind), \(isOptional ? "optional" : "required")"
    }

    static func words(from old: AttributeShape, to new: AttributeShape) -> [String] {
        [
            change("", old.type.rawValue, new.type.rawValue),
            change("", old.isOptional ? "optional" : "required", new.isOptional ? "optional" : "required"),
            change("derivation ", old.derivationExpression, new.derivationExpression),
            modifierChange(old.versionHashModifiers, new.versionHashModifiers),
        ].compactMap(\.self)
    }
}

extension RelationshipShape: PropertyShape {
    var path: [String] { [name] }

    var summary: String {
        let kind = "\(isToMany ? "to-many" : "to-one") \(destinationName)"
        return "\(kind), \(isOrdered ? "ordered, " : "")\(isOptional ? "optional" : "required")"
    }

    static func words(from old: RelationshipShape, to new: RelationshipShape) -> [String] {
        [
            change("destination ", old.destinationName, new.destinationName),
            change("inverse ", old.inverseName, new.inverseName),
            change("", old.isToMany ? "to-many" : "to-one", new.isToMany ? "to-many" : "to-one"),
            change("", old.isOrdered ? "ordered" : "unordered", new.isOrdered ? "ordered" : "unordered"),
            change("", old.isOptional ? "optional" : "required", new.isOptional ? "optional" : "required"),
            change("count ", old.countWords, new.countWords),
            modifierChange([old.versionHashModifier], [new.versionHashModifier]),
        ].compactMap(\.self)
    }

    private var countWords: String {
        "\(minimumCount) to \(maximumCount == 0 ? "any" : String(maximumCount))"
    }
}

/// Returns words such as `what old -> new`; nil if the old and new words are equal.
private func change(_ what: String, _ old: String?, _ new: String?) -> String? {
    old == new ? nil : "\(what)\(old ?? "none") -> \(new ?? "none")"
}

private func modifierChange(_ old: [String?], _ new: [String?]) -> String? {
    change("version hash modifier ", old.modifierWords, new.modifierWords)
}
