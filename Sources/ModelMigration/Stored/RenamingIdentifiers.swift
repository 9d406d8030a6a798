package import ManagedModel

/// The renaming identifiers of a model, as lines beside its canonical form. The canonical form does not contain the
/// identifiers.
///
///     renamed entity "Contact" from "Person"
///     renamed attribute "Contact" "home"."town" from "home"."city"
///     renamed relationship "Contact" "group" from "team"
package struct RenamingIdentifiers: Sendable, Hashable {
    package private(set) var lines: [String] = []

    package init() {}

    package init(of model: ManagedObjectModel) {
        let side = MigrationSide(model)
        for entity in model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            add("entity", of: [], named: [entity.name], from: entity.renamingIdentifier.map { [$0] })
            for leaf in side.ownLeaves(of: entity).sorted(by: { $0.named.name.precedes($1.named.name) }) {
                add("attribute", of: [entity.name], named: leaf.named.name, from: leaf.named.identifier)
            }
            for relationship in entity.relationships.sorted(by: { [$0.name].precedes([$1.name]) })
            where !relationship.isTransient {
                add(
                    "relationship", of: [entity.name], named: [relationship.name],
                    from: relationship.renamingIdentifier.map { [$0] })
            }
        }
    }

    private mutating func add(_ kind: String, of owner: [String], named name: [String], from identifier: [String]?) {
        guard let identifier, name != identifier else { return }
        let words = owner.map(\.quotedWord) + [name.quotedPath, "from", identifier.quotedPath]
        lines.append("renamed \(kind) \(words.joined(separator: " "))")
    }

    package static func recognizes(_ line: some StringProtocol) -> Bool { line.hasPrefix("renamed ") }

    /// Reads one line. Returns false if this type would not write such a line.
    package mutating func append(_ line: String) -> Bool {
        guard Renaming(line) != nil else { return false }
        lines.append(line)
        return true
    }

    /// Returns the elements of a model that no longer have their identifier from this list, for example `Contact.town
    /// (from city)`. A migration of a store that is older than the renaming loses the values of these elements, unless
    /// the bundle still has the earlier versions.
    ///
    /// - Parameter earlier: The identifiers of earlier models. An identifier is not lost if the element now has the identifier
    ///   that an earlier element of the lost name had: both identifiers lead to the same element.
    package func droppedIdentifiers(
        in model: ManagedObjectModel, since earlier: [RenamingIdentifiers] = []
    ) -> [String] {
        let new = RenamingIdentifiers(of: model)
        let present = Set(new.lines)
        let side = MigrationSide(model)
        let current = new.lines.compactMap { Renaming($0) }
        let known = earlier.flatMap(\.lines).compactMap { Renaming($0) }
        return lines.filter { !present.contains($0) }.compactMap { Renaming($0) }
            .filter { lost in
                lost.isElement(of: side)
                    && !current.contains { new in
                        new.kind == lost.kind && new.path == lost.path
                            && known.contains {
                                $0.kind == lost.kind && $0.path == lost.oldPath && $0.identifier == new.identifier
                            }
                    }
            }
            .map { "\($0.entity)\($0.name.isEmpty ? "" : "." + $0.name) (from \($0.identifier))" }
    }

    /// Sets the identifiers in a model that was read from its canonical form. Such a model has an attribute for each leaf.
    func apply(to model: inout ManagedObjectModel) {
        for renaming in lines.compactMap({ Renaming($0) }) {
            guard let index = model.entities.firstIndex(where: { $0.name == renaming.entity }) else { continue }
            renaming.apply(to: &model.entities[index])
        }
    }
}

/// A line, split into its parts.
private struct Renaming {
    let kind: String
    let entity: String
    let name: String
    let identifier: String

    init?(_ line: String) {
        guard var words = WordParser(line), words.consume("renamed"), let kind = words.consumeWord() else { return nil }
        var names = words.consumeNames()
        guard words.consume("from"), !names.isEmpty else { return nil }
        identifier = words.consumeNames().joined(separator: ".")
        self.kind = kind
        entity = names.removeFirst()
        name = names.joined(separator: ".")
        let isKnown = kind == "entity" ? names.isEmpty : ["attribute", "relationship"].contains(kind) && !names.isEmpty
        guard isKnown, !identifier.isEmpty, words.isAtEnd else { return nil }
    }

    /// The names of the entity and of the element.
    var path: [String] { kind == "entity" ? [entity] : [entity, name] }

    /// The ``path`` with the old name of the element.
    var oldPath: [String] { kind == "entity" ? [identifier] : [entity, identifier] }

    /// Returns whether the model still has the renamed element.
    func isElement(of side: MigrationSide) -> Bool {
        guard let description = side.lookup.entities[entity] else { return false }
        switch kind {
        case "entity": return true
        case "attribute": return side.ownLeaves(of: description).contains { $0.path == name }
        default: return description.relationships.contains { $0.name == name }
        }
    }

    func apply(to description: inout EntityDescription) {
        switch kind {
        case "entity":
            description.renamingIdentifier = identifier
        case "attribute":
            for index in description.attributes.indices where description.attributes[index].name == name {
                description.attributes[index].renamingIdentifier = identifier
            }
        default:
            for index in description.relationships.indices where description.relationships[index].name == name {
                description.relationships[index].renamingIdentifier = identifier
            }
        }
    }
}

extension [String] {
    var quotedPath: String { map(\.quotedWord).joined(separator: ".") }
}

extension ManagedObjectModel {
    /// Reads a model from its ``canonicalForm`` and its renaming identifiers, to plan a migration from this model.
    package init?(canonicalForm: String, renamingIdentifiers: RenamingIdentifiers) {
        self.init(canonicalForm: canonicalForm)
        renamingIdentifiers.apply(to: &self)
    }

    /// The model as described by its canonical form, with the default values that a migration needs. Never nil for a model of
    /// this release.
    package var canonicalModel: ManagedObjectModel? {
        guard
            var model = ManagedObjectModel(
                canonicalForm: canonicalForm, renamingIdentifiers: RenamingIdentifiers(of: self))
        else { return nil }
        model.configurations = configurations
        for index in model.entities.indices {
            guard let entity = entity(named: model.entities[index].name) else { continue }
            let columns = columns(of: entity)
            for attribute in model.entities[index].attributes.indices {
                let name = model.entities[index].attributes[attribute].name
                model.entities[index].attributes[attribute].defaultValue =
                    columns.first { $0.name == name }?.attribute?.defaultValue
            }
        }
        return model
    }
}

/// The declared types of a model's transformables, as lines beside its canonical form. The canonical form does not contain
/// these types.
///
///     type of attribute "Contact" "tags" is "[String]"
package struct TransformableTypes: Sendable, Hashable {
    /// The names of the types, by the entity's name and the attribute's path.
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

    package static func recognizes(_ line: some StringProtocol) -> Bool { line.hasPrefix("type ") }

    /// Reads one line. Returns false if this type would not write such a line.
    package mutating func append(_ line: String) -> Bool {
        guard var words = WordParser(line), words.consume("type"), words.consume("of"), words.consume("attribute")
        else {
            return false
        }
        let key = words.consumeNames()
        guard key.count > 1, words.consume("is"), let name = words.consumeName(), words.isAtEnd else { return false }
        names[key] = name
        return true
    }

    /// Returns the attributes whose types differ in the two lists, for example `Contact.tags: [String] -> [Int]`. A changed
    /// type resets no store. A stored value that cannot be decoded reads as nil.
    package func changes(to other: TransformableTypes) -> [String] {
        names.keys.sorted { $0.precedes($1) }.compactMap { key in
            guard let old = names[key], let new = other.names[key], old != new else { return nil }
            return "\(key.joined(separator: ".")): \(old.isEmpty ? "no type" : old) -> \(new.isEmpty ? "no type" : new)"
        }
    }
}
