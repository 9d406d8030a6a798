package import ManagedModel

/// The declared types of a model's transformables, which its canonical form leaves out, as lines beside it:
///
///     type of attribute "Contact" "tags" is "[String]"
package struct TransformableTypes: Sendable, Hashable {
    /// By entity and path.
    private var names: [[String]: String] = [:]

    package init() {}

    package init(of model: ManagedObjectModel) {
        let side = MigrationSide(model)
        for entity in model.entities {
            for leaf in side.ownLeaves(of: entity) where leaf.attribute.type == .transformable {
                names[[entity.name] + leaf.named.name] = leaf.attribute.customClassName ?? ""
            }
        }
    }

    package var lines: [String] {
        names.keys.sorted { $0.precedes($1) }.map { key in
            "type of attribute \(key[0].quotedWord) \(Array(key.dropFirst()).quotedPath) is \((names[key] ?? "").quotedWord)"
        }
    }

    package static func isLine(_ line: some StringProtocol) -> Bool { line.hasPrefix("type ") }

    /// Adds a line that was read back; false if this type would not write it.
    package mutating func append(_ line: String) -> Bool {
        guard var words = TextWords(line), words.take("type"), words.take("of"), words.take("attribute") else {
            return false
        }
        let key = words.takeNames()
        guard key.count > 1, words.take("is"), let name = words.takeName(), words.isAtEnd else { return false }
        names[key] = name
        return true
    }

    /// The attributes that both have with different types, as `Contact.tags: [String] -> [Int]`. No store is reset for them, and what
    /// cannot be decoded reads as nil.
    package func changes(to other: TransformableTypes) -> [String] {
        names.keys.sorted { $0.precedes($1) }.compactMap { key in
            guard let old = names[key], let new = other.names[key], old != new else { return nil }
            return "\(key.joined(separator: ".")): \(old.isEmpty ? "no type" : old) -> \(new.isEmpty ? "no type" : new)"
        }
    }
}
