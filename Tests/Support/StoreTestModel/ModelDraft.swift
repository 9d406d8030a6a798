package import ManagedModel

/// A model that is edited at random. Tags identify its parts across versions.
package struct ModelDraft {
    package var entities: [Entity] = []
    private var lastTag = 0
    /// The names in the last version, by tag, and all names of all versions.
    private var lastNames: [Int: String] = [:]
    private var lastIdentifiers: [Int: String] = [:]
    /// Whether this version gives a name of the last version to another element, or moves an element to where its name was not
    /// used. A version does not do both: the element with the name would seem to be the moved element.
    private var (hasExchanged, hasMoved) = (false, false)
    private var usedNames: Set<String> = []

    package init(using random: inout some RandomNumberGenerator) {
        for _ in 0..<4 { addEntity(using: &random) }
        for _ in 0..<12 { edit(using: &random, of: [self]) }
        publish()
    }

    /// Makes this draft a version that stores are made for. Later edits belong to the next version.
    package mutating func publish() {
        lastNames = names
        lastIdentifiers = identifiers
        (hasExchanged, hasMoved) = (false, false)
        usedNames.formUnion(lastNames.values)
    }

    private var names: [Int: String] {
        Dictionary(uniqueKeysWithValues: elements.map { ($0.tag, $0.name) })
    }

    /// Whether two elements have the same identifier, one of which has kept its name. Then nothing shows that they have
    /// exchanged it.
    package var hasSharedIdentifier: Bool { Set(identifiers.values).count < identifiers.count }

    private var identifiers: [Int: String] {
        elements.reduce(into: [:]) { $0[$1.tag] = $1.identifier }
    }

    private var elements: [(tag: Int, name: String, identifier: String?)] {
        entities.flatMap { entity in
            [(entity.tag, entity.name, entity.identifier)]
                + entity.attributes.map { ($0.tag, $0.name, $0.identifier) }
                + entity.links.map { ($0.tag, $0.name, $0.identifier) }
        }
    }

    // MARK: As a model

    package var model: ManagedObjectModel {
        ManagedObjectModel(
            name: "Random",
            entities: entities.map { entity in
                EntityDescription(
                    name: entity.name, parentName: entity.parent.flatMap(self.entity)?.name,
                    attributes: entity.attributes.map {
                        AttributeDescription(
                            name: $0.name, type: $0.type, isOptional: $0.isOptional,
                            defaultValue: $0.isOptional ? nil : ModelDraft.value($0.type),
                            derivationExpression: derivation($0), renamingIdentifier: $0.identifier)
                    },
                    relationships: entity.links.map {
                        RelationshipDescription(
                            name: $0.name, destinationName: self.entity($0.destination)?.name ?? "",
                            isToMany: $0.isToMany, isOrdered: $0.isOrdered, isOptional: true,
                            renamingIdentifier: $0.identifier)
                    },
                    renamingIdentifier: entity.identifier)
            })
    }

    private func derivation(_ attribute: Attribute) -> String? {
        guard let source = attribute.source.flatMap({ names[$0] }) else { return nil }
        return attribute.change.isEmpty ? source : "\(attribute.change):(\(source))"
    }

    package func entity(_ tag: Int) -> Entity? { entities.first { $0.tag == tag } }

    package func lineage(_ entity: Entity) -> [Entity] {
        [entity] + (entity.parent.flatMap(self.entity).map(lineage) ?? [])
    }

    private func hasChildren(_ entity: Entity) -> Bool { entities.contains { $0.parent == entity.tag } }

    // MARK: Edits

    private mutating func newTag() -> Int {
        lastTag += 1
        return lastTag
    }

    /// A name at any place in the order of names; or a name that another element had in an earlier version, or gave up when it
    /// was renamed.
    private mutating func name(_ kind: Character, using random: inout some RandomNumberGenerator) -> String {
        if Int.random(in: 0..<3, using: &random) == 0 {
            let (now, taken) = (names, Set(names.values))
            // With this name, a removed element would seem to be renamed or to be back.
            let lost = Set([lastNames, lastIdentifiers].flatMap { $0.filter { now[$0.key] == nil }.values })
            let free = usedNames.filter { $0.dropFirst().first == kind && !taken.contains($0) && !lost.contains($0) }
            let held = Set(lastNames.values).union(lastIdentifiers.values)
            if let name = free.sorted().randomElement(using: &random), !held.contains(name) || !hasMoved && kind != "r"
            {
                hasExchanged = hasExchanged || held.contains(name)
                return name
            }
        }
        return "\(["A", "K", "é", "z"].randomElement(using: &random) ?? "")\(kind)\(newTag())"
    }

    /// Sometimes the name of an entity that was removed since the last version. Only an entity with a renaming identifier may
    /// get the name.
    private func removedEntityName(besides name: String, using random: inout some RandomNumberGenerator) -> String? {
        guard !hasMoved, Bool.random(using: &random) else { return nil }
        let (now, taken) = (names, Set(names.values))
        return lastNames.filter { tag, gone in
            gone.dropFirst().first == "E" && now[tag] == nil && !taken.contains(gone) && lastIdentifiers[tag] != name
        }.values.sorted().randomElement(using: &random)
    }

    /// The renaming identifier of an element that gets another name: its name in the last version, or its older identifier. Nil
    /// for a new element, and for an element that gets its last name back.
    private func identifier(
        _ tag: Int, _ identifier: String?, _ name: String, using random: inout some RandomNumberGenerator
    ) -> String? {
        guard let last = lastNames[tag] else { return nil }
        let chosen = Bool.random(using: &random) ? identifier ?? last : last
        return last == name ? nil : chosen == name ? last : chosen
    }

    /// Removes an identifier from elements that have it since an earlier version. Their identifier is then their present name.
    private mutating func dropIdentifiers(equalTo identifier: String?) {
        guard let identifier else { return }
        for index in entities.indices {
            let entity = entities[index]
            if entity.identifier == identifier, entity.name == lastNames[entity.tag] {
                entities[index].identifier = entity.name
            }
            for (position, attribute) in entity.attributes.enumerated()
            where attribute.identifier == identifier && attribute.name == lastNames[attribute.tag] {
                entities[index].attributes[position].identifier = attribute.name
            }
        }
    }

    /// Whether another element has the name or identifier that this element had in the last version. If this element were
    /// removed, the other element would seem to be this one.
    private func isNameTaken(_ tag: Int) -> Bool {
        let last = [lastNames[tag], lastIdentifiers[tag]].compactMap(\.self)
        return names.contains { $0.key != tag && last.contains($0.value) }
    }

    private mutating func addEntity(using random: inout some RandomNumberGenerator) {
        var entity = Entity(tag: newTag(), name: name("E", using: &random))
        entity.parent = Bool.random(using: &random) ? entities.randomElement(using: &random)?.tag : nil
        entities.append(entity)
    }

    /// Makes one edit that a migration can follow. Some edits do nothing.
    ///
    /// - Parameter earlierDrafts: The versions that stores may have been made for.
    package mutating func edit(using random: inout some RandomNumberGenerator, of earlierDrafts: [ModelDraft]) {
        guard let index = entities.indices.randomElement(using: &random) else { return }
        let tag = entities[index].tag
        switch Int.random(in: 0..<18, using: &random) {
        case 16, 17: editSource(using: &random)
        case 0: addEntity(using: &random)
        case 1: removeEntity(index)
        case 2:
            var name = name("E", using: &random)
            var identifier = identifier(tag, entities[index].identifier, name, using: &random)
            if let last = lastNames[tag], let free = removedEntityName(besides: last, using: &random) {
                (name, identifier, hasExchanged) = (free, last, true)
            }
            dropIdentifiers(equalTo: identifier)
            entities[index].identifier = identifier
            entities[index].name = name
        case 3:
            // An entity without parent and children gets a parent; an entity without children loses its parent.
            let before = earlierDrafts.compactMap { old in old.entity(tag).map { (old, $0) } }
            guard !hasExchanged, !hasChildren(entities[index]), before.allSatisfy({ !$0.hasChildren($1) }) else {
                return
            }
            hasMoved = true
            if entities[index].parent != nil {
                let own = Set(entities[index].attributes.map(\.tag))
                guard entities[index].attributes.compactMap(\.source).allSatisfy(own.contains) else { return }
                entities[index].parent = nil
            } else if before.allSatisfy({ $1.parent == nil }) {
                entities[index].parent = entities.filter { $0.tag != tag }.randomElement(using: &random)?.tag
            }
        case 4, 5, 6: entities[index].attributes.append(Attribute(tag: newTag(), name: name("a", using: &random)))
        case 7...9: editAttribute(index, using: &random)
        case 10, 11:
            guard let destination = entities.randomElement(using: &random)?.tag else { return }
            entities[index].links.append(
                Link(
                    tag: newTag(), name: name("r", using: &random), destination: destination,
                    isToMany: Bool.random(using: &random)))
        case 12: derive(index, using: &random)
        default: editLink(index, using: &random)
        }
    }

    private mutating func removeEntity(_ index: Int) {
        guard entities.count > 2, !hasChildren(entities[index]) else { return }
        let entity = entities[index]
        let links = entities.flatMap(\.links).filter { $0.destination == entity.tag } + entity.links
        let tags = [entity.tag] + entity.attributes.map(\.tag) + links.map(\.tag)
        guard !tags.contains(where: isNameTaken) else { return }
        let tag = entities.remove(at: index).tag
        for index in entities.indices { entities[index].links.removeAll { $0.destination == tag } }
    }

    /// Adds a derived attribute, or changes the derivation of one.
    private mutating func derive(_ index: Int, using random: inout some RandomNumberGenerator) {
        let texts = lineage(entities[index]).flatMap(\.attributes).filter { $0.type == .string && $0.source == nil }
        guard let source = texts.randomElement(using: &random)?.tag else { return }
        let derived = entities[index].attributes.indices.filter { entities[index].attributes[$0].source != nil }
        var position = entities[index].attributes.count
        if Bool.random(using: &random), let one = derived.randomElement(using: &random) {
            position = one
        } else {
            var attribute = Attribute(tag: newTag(), name: name("a", using: &random))
            attribute.type = .string
            entities[index].attributes.append(attribute)
        }
        entities[index].attributes[position].source = source
        entities[index].attributes[position].change =
            ["", "lowercase", "uppercase"].randomElement(using: &random) ?? ""
    }

    /// Changes whether the source of a derived attribute is required. A required attribute gets values.
    private mutating func editSource(using random: inout some RandomNumberGenerator) {
        let sources = Set(entities.flatMap(\.attributes).compactMap(\.source)).sorted()
        guard let source = sources.randomElement(using: &random) else { return }
        for index in entities.indices {
            for position in entities[index].attributes.indices where entities[index].attributes[position].tag == source
            {
                entities[index].attributes[position].isOptional.toggle()
            }
        }
    }

    private mutating func editAttribute(_ index: Int, using random: inout some RandomNumberGenerator) {
        guard let position = entities[index].attributes.indices.randomElement(using: &random) else { return }
        let attribute = entities[index].attributes[position]
        let isSource = entities.contains { $0.attributes.contains { $0.source == attribute.tag } }
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            if !isSource && !isNameTaken(attribute.tag) { entities[index].attributes.remove(at: position) }
        case 1:
            if attribute.source == nil { entities[index].attributes[position].isOptional.toggle() }
        case 2, 3:
            let name = name("a", using: &random)
            let identifier = identifier(attribute.tag, attribute.identifier, name, using: &random)
            dropIdentifiers(equalTo: identifier)
            entities[index].attributes[position].identifier = identifier
            entities[index].attributes[position].name = name
        case 4, 5:
            if let type = ModelDraft.widerTypes(attribute.type).randomElement(using: &random) {
                entities[index].attributes[position].type = type
            }
        default:
            // The attribute moves to the parent.
            guard let parent = entities.firstIndex(where: { $0.tag == entities[index].parent }) else { return }
            let inherited = lineage(entities[parent]).flatMap(\.attributes).map(\.tag)
            guard !hasExchanged, attribute.source.map(inherited.contains) ?? true else { return }
            hasMoved = true
            entities[parent].attributes.append(entities[index].attributes.remove(at: position))
        }
    }

    private mutating func editLink(_ index: Int, using random: inout some RandomNumberGenerator) {
        guard let position = entities[index].links.indices.randomElement(using: &random) else { return }
        let link = entities[index].links[position]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: if !isNameTaken(link.tag) { entities[index].links.remove(at: position) }
        case 1: entities[index].links[position].isToMany = true
        case 2: entities[index].links[position].isOrdered.toggle()
        default:
            let name = name("r", using: &random)
            entities[index].links[position].identifier = identifier(link.tag, link.identifier, name, using: &random)
            entities[index].links[position].name = name
        }
    }
}
