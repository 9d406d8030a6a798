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
    /// An element of this list is followed into the model in the same way as in a migration. An element that was renamed
    /// again has not lost its identifier, even if the model has a new element with the old name.
    ///
    /// - Parameters:
    ///   - isSameShape: Whether the model has the hash of this list's model. Then no store is migrated between the two
    ///     models, so each name keeps its values.
    ///   - earlier: The identifiers of earlier models, newest first. An identifier is not lost if an older name of the same
    ///     element has replaced the identifier. For example, `c` had the identifier `b`, and an earlier `b` had the
    ///     identifier `a`. Then `c` may have the identifier `a` now.
    package func droppedIdentifiers(
        in model: ManagedObjectModel, isSameShape: Bool, since earlier: [RenamingIdentifiers] = []
    ) -> [String] {
        let known = earlier.map(\.renamings)
        let successors = Successors(of: renamings, in: model, isSameShape: isSameShape)
        return renamings.compactMap { lost in
            guard let (entity, element) = successors.successor(of: lost), element.name == lost.elementName,
                element.identifier != lost.identifier
            else { return nil }
            let isFirstName = known.flatMap(\.self).contains {
                $0.kind == lost.kind && $0.elementName == lost.identifier && $0.identifier == element.identifier
                    && (lost.isEntity || lost.entityNames(in: [renamings] + known).contains($0.entity))
            }
            return isFirstName ? nil : "\(entity)\(lost.isEntity ? "" : "." + element.name) (from \(lost.identifier))"
        }
    }

    private var renamings: [Renaming] { lines.compactMap { Renaming($0) } }

    /// Sets the identifiers in a model that was read from its canonical form. Such a model has an attribute for each leaf.
    func apply(to model: inout ManagedObjectModel) {
        for renaming in renamings {
            guard let index = model.entities.firstIndex(where: { $0.name == renaming.entity }) else { continue }
            renaming.apply(to: &model.entities[index])
        }
    }
}

/// A line, split into its parts.
private struct Renaming: Hashable {
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

    var isEntity: Bool { kind == "entity" }

    /// The name of the entity, or the path of the attribute or relationship in its entity.
    var elementName: String { isEntity ? entity : name }

    /// Returns the names that the entity has had.
    ///
    /// - Parameter versions: The renamings of each version, newest first.
    func entityNames(in versions: [[Renaming]]) -> Set<String> {
        versions.joined().filter(\.isEntity).reduce(into: [entity]) { names, renaming in
            if names.contains(renaming.entity) || names.contains(renaming.identifier) {
                names.formUnion([renaming.entity, renaming.identifier])
            }
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

/// Follows the renamed elements of an old model into a new model. Only the lines of the old model are known, and elements
/// without a line have no identifier.
private struct Successors {
    private let side: MigrationSide
    private let isSameShape: Bool
    /// The new elements, by their lines in the old model.
    private var elements: [Renaming: (entity: String, element: NameKey<String>)] = [:]

    init(of renamings: [Renaming], in model: ManagedObjectModel, isSameShape: Bool) {
        side = MigrationSide(model)
        self.isSameShape = isSameShape
        let renamed = renamings.filter(\.isEntity)
        let identifiers = renamed.reduce(into: [:]) { $0[$1.entity] = $1.identifier }
        let entities = successors(
            of: Set(renamings.map(\.entity)).sorted { [$0].precedes([$1]) }
                .map { NameKey(name: $0, identifier: identifiers[$0]) },
            among: model.entities.map(\.named))
        for renaming in renamed { elements[renaming] = entities[renaming.entity].map { ($0.name, $0) } }
        let groups = Dictionary(grouping: renamings.filter { !$0.isEntity }) { [$0.kind, $0.entity] }
        // The inherited elements that had the same identifier before, by the new names of their entities.
        let unchanged = Set(
            renamings.compactMap { renaming in
                entities[renaming.entity].map { [renaming.kind, $0.name, renaming.name, renaming.identifier] }
            })
        for group in groups.values {
            guard let kind = group.first?.kind, let entity = group.first.flatMap({ entities[$0.entity]?.name })
            else { continue }
            let found = successors(
                of: group.map { NameKey(name: $0.name, identifier: $0.identifier) },
                among: properties(kind, of: entity) { unchanged.contains([kind] + $0) })
            for renaming in group { elements[renaming] = found[renaming.name].map { (entity, $0) } }
        }
    }

    /// Returns the new entity and the new element; nil if the element was removed.
    func successor(of renaming: Renaming) -> (entity: String, element: NameKey<String>)? { elements[renaming] }

    /// Returns the new elements, by the names of the old elements.
    private func successors(of old: [NameKey<String>], among new: [NameKey<String>]) -> [String: NameKey<String>] {
        let names = Dictionary(old.map { ($0.name, $0.name) }) { first, _ in first }
        // If the identifier of a new element equals its name, the new element continues the old element with this name. If
        // that old element has no line, leave out the new element, so that no other old element matches the new element.
        let candidates = new.filter { $0.identifier != $0.name || names[$0.name] != nil }
        let matching = NameMatching(from: old, to: candidates, known: isSameShape ? names : nil)
        return matching.pairs.reduce(into: [:]) { $0[old[$1.value].name] = candidates[$1.key] }
    }

    /// Returns the attributes or relationships of an entity, including inherited ones.
    ///
    /// - Parameter isUnchanged: Takes the entity name, the name and the identifier of an inherited element. Returns whether the
    ///   element already had this identifier in the old model. Such an element is returned without its identifier: see
    ///   ``MigrationSide/namedLeaves(of:since:_:)``.
    private func properties(
        _ kind: String, of name: String, isUnchanged: ([String]) -> Bool
    ) -> [NameKey<String>] {
        guard let entity = side.lookup.entities[name] else { return [] }
        return side.lookup.lineage(of: entity).flatMap { owner in
            let own =
                kind == "attribute"
                ? side.ownLeaves(of: owner).map(\.named.joined)
                : owner.relationships.filter { !$0.isTransient }.map(\.named)
            return own.map { element in
                guard owner.name != name, let identifier = element.identifier,
                    isUnchanged([owner.name, element.name, identifier])
                else { return element }
                return NameKey(name: element.name, identifier: nil)
            }
        }
    }
}

extension NameKey<[String]> {
    fileprivate var joined: NameKey<String> {
        NameKey<String>(name: name.joined(separator: "."), identifier: identifier?.joined(separator: "."))
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
