internal import ManagedModel

/// Something that a store has and a migration does not carry over.
package struct MigrationLoss: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable {
        case objects, values, links
    }

    package let kind: Kind
    /// The entity that declares it in the old model, under its new name if it has one.
    package let entityName: String
    /// The attribute as a path, or the relationship; nil for the entity itself.
    package internal(set) var propertyName: String?
    /// The kind of the property: `Decimal, optional`.
    package internal(set) var type: String?
    /// The entities whose objects lose it, sorted; empty if all do.
    package internal(set) var sources: [String] = []
    /// The entities to whose objects the lost links lead, sorted; empty if all are lost.
    package internal(set) var destinations: [String] = []

    /// `Item.price: the values (Decimal, optional)`.
    package var description: String {
        "\(entityName)\(propertyName.map { ".\($0)" } ?? ""): \(words)"
    }

    private var words: String {
        var words = "the \(kind.rawValue)"
        if let type { words += " (\(type))" }
        if !sources.isEmpty { words += " of \(sources.joined(separator: ", "))" }
        if !destinations.isEmpty { words += " to \(destinations.joined(separator: ", "))" }
        return words
    }
}
