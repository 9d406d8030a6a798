package import ManagedModel

/// A model that is edited at random and knows of each of its parts which it was before.
package struct ModelDraft {
    package struct Attribute {
        package let tag: Int
        package var name: String
        package var identifier: String?
        package var isOptional = true
        package var type: AttributeType

        init(tag: Int, name: String) {
            self.tag = tag
            self.name = name
            type = ModelDraft.types[tag % ModelDraft.types.count]
        }
    }

    package struct Link {
        package let tag: Int
        package var name: String
        package var identifier: String?
        /// The tag of an entity.
        package let destination: Int
        package var isToMany: Bool
        package var isOrdered = false
    }

    package struct Entity {
        package let tag: Int
        package var name: String
        package var identifier: String?
        package var parent: Int?
        package var attributes: [Attribute] = []
        package var links: [Link] = []
    }

    package var entities: [Entity] = []
    private var lastTag = 0

    package init(using random: inout some RandomNumberGenerator) {
        for _ in 0..<4 { addEntity(using: &random) }
        for _ in 0..<12 { edit(using: &random, of: self) }
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
                            renamingIdentifier: $0.identifier)
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

    private static let types: [AttributeType] = [
        .integer64, .double, .string, .date, .decimal, .integer16, .float, .integer32,
    ]

    private static func value(_ type: AttributeType) -> AttributeValue {
        switch type {
        case .string: .string("it's")
        case .date: .date(1)
        case .double, .float: .double(0.5)
        default: .integer(5)
        }
    }

    /// The types that hold every small number of a type.
    private static func widerTypes(_ type: AttributeType) -> [AttributeType] {
        switch type {
        case .integer16: [.integer32, .integer64, .decimal, .double, .float]
        case .integer32: [.integer64, .decimal, .double]
        case .integer64: [.decimal, .double]
        case .float: [.double]
        default: []
        }
    }

    package func entity(_ tag: Int) -> Entity? { entities.first { $0.tag == tag } }

    /// The entity and its ancestors.
    package func lineage(_ entity: Entity) -> [Entity] {
        [entity] + (entity.parent.flatMap(self.entity).map(lineage) ?? [])
    }

    private func hasChildren(_ entity: Entity) -> Bool { entities.contains { $0.parent == entity.tag } }

    // MARK: Edits

    private mutating func tag() -> Int {
        lastTag += 1
        return lastTag
    }

    /// A name that comes anywhere among the others.
    private mutating func name(_ kind: String, using random: inout some RandomNumberGenerator) -> String {
        "\(["A", "K", "é", "z"].randomElement(using: &random) ?? "")\(kind)\(tag())"
    }

    private mutating func addEntity(using random: inout some RandomNumberGenerator) {
        var entity = Entity(tag: tag(), name: name("E", using: &random))
        entity.parent = Bool.random(using: &random) ? entities.randomElement(using: &random)?.tag : nil
        entities.append(entity)
    }

    /// One edit that a migration can follow; some do nothing.
    ///
    /// - Parameter old: What the store was made for.
    package mutating func edit(using random: inout some RandomNumberGenerator, of old: ModelDraft) {
        guard let index = entities.indices.randomElement(using: &random) else { return }
        let before = old.entity(entities[index].tag)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: addEntity(using: &random)
        case 1: removeEntity(index)
        case 2:
            let name = name("E", using: &random)
            entities[index].identifier = entities[index].identifier ?? before?.name
            entities[index].name = name
        case 3:
            // One that stands alone moves in; one without children moves out.
            guard !hasChildren(entities[index]), before.map({ !old.hasChildren($0) }) ?? true else { return }
            if entities[index].parent != nil {
                entities[index].parent = nil
            } else if before?.parent == nil {
                let tag = entities[index].tag
                entities[index].parent = entities.filter { $0.tag != tag }.randomElement(using: &random)?.tag
            }
        case 4, 5, 6: entities[index].attributes.append(Attribute(tag: tag(), name: name("a", using: &random)))
        case 7...9: editAttribute(index, using: &random, of: old)
        case 10, 11:
            guard let destination = entities.randomElement(using: &random)?.tag else { return }
            entities[index].links.append(
                Link(
                    tag: tag(), name: name("r", using: &random), destination: destination,
                    isToMany: Bool.random(using: &random)))
        default: editLink(index, using: &random, of: old)
        }
    }

    private mutating func removeEntity(_ index: Int) {
        guard entities.count > 2, !hasChildren(entities[index]) else { return }
        let tag = entities.remove(at: index).tag
        for index in entities.indices { entities[index].links.removeAll { $0.destination == tag } }
    }

    private mutating func editAttribute(
        _ index: Int, using random: inout some RandomNumberGenerator, of old: ModelDraft
    ) {
        guard let position = entities[index].attributes.indices.randomElement(using: &random) else { return }
        let attribute = entities[index].attributes[position]
        switch Int.random(in: 0..<6, using: &random) {
        case 0: entities[index].attributes.remove(at: position)
        case 1: entities[index].attributes[position].isOptional.toggle()
        case 3, 4:
            if let type = ModelDraft.widerTypes(attribute.type).randomElement(using: &random) {
                entities[index].attributes[position].type = type
            }
        case 2:
            let before = old.entities.flatMap(\.attributes).first { $0.tag == attribute.tag }
            entities[index].attributes[position].identifier = attribute.identifier ?? before?.name
            entities[index].attributes[position].name = name("a", using: &random)
        default:
            // It moves up.
            guard let parent = entities.firstIndex(where: { $0.tag == entities[index].parent }) else { return }
            entities[parent].attributes.append(entities[index].attributes.remove(at: position))
        }
    }

    private mutating func editLink(_ index: Int, using random: inout some RandomNumberGenerator, of old: ModelDraft) {
        guard let position = entities[index].links.indices.randomElement(using: &random) else { return }
        let link = entities[index].links[position]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: entities[index].links.remove(at: position)
        case 1: entities[index].links[position].isToMany = true
        case 2: entities[index].links[position].isOrdered.toggle()
        default:
            let before = old.entities.flatMap(\.links).first { $0.tag == link.tag }
            entities[index].links[position].identifier = link.identifier ?? before?.name
            entities[index].links[position].name = name("r", using: &random)
        }
    }
}
