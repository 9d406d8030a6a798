public import ManagedModel

/// What changed in the persisted shape between two models, in words.
///
/// It is empty if and only if the models' hashes are equal. Properties are compared by name: a renamed property is removed
/// under one name and added under another.
///
///     ContactEntity.phone: optional -> required
///     GroupEntity: added
public struct ModelDifference: Sendable, Hashable {
    /// The changes, by entity, then property.
    public var changes: [Change]

    /// Compares two models by the names of entities and properties.
    public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        let old = Self.shapes(of: old)
        let new = Self.shapes(of: new)
        let names = Set(old.keys).union(new.keys).sorted { [$0].precedes([$1]) }
        changes = names.flatMap { Self.changes(from: old[$0], to: new[$0], name: $0) }
    }

    /// Whether both models have the same persisted shape.
    public var isEmpty: Bool { changes.isEmpty }

    /// The entities that changed themselves, sorted. Their sub-entities change with them and are not listed.
    public var entityNames: [String] {
        changes.reduce(into: []) { names, change in
            if names.last != change.entityName { names.append(change.entityName) }
        }
    }

    /// One thing that changed.
    public struct Change: Sendable, Hashable, CustomStringConvertible {
        /// The entity that changed.
        public var entityName: String
        /// The attribute, as a path if it lies in a composite, or the relationship; nil for the entity itself.
        public var propertyName: String?
        /// What happened to it: `added (String, optional)`, `optional -> required`.
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
        let words = old.words(to: new).map { Change(entityName: name, words: $0) }
        return words + new.propertyChanges(since: old)
    }
}

extension ModelDifference: CustomStringConvertible {
    /// One line per change.
    public var description: String {
        changes.map(\.description).joined(separator: "\n")
    }
}
