package import ManagedModel

/// Writes a model as Swift files: a class with `@StoredEntity` for each entity, a struct with `@StoredComposite` for
/// each composite, and a model that lists these types.
///
/// A model that is read from these files has the same hash.
package struct ModelSourceWriter {
    private let model: ManagedObjectModel
    private let plan: ModelPlan
    private let composites: [CompositePlan]
    private let removals: [String]
    /// The positions of the entities in the plan, by their names.
    private let positions: [String: Int]

    package init(_ model: ManagedObjectModel) {
        let writable = WritableModel(model)
        removals = writable.losses
        let model = writable.model
        self.model = model
        plan = ModelPlan(for: model)
        composites = model.composites.compactMap(plan.compositePlan)
        positions = Dictionary(plan.entities.enumerated().map { ($1.entity.name, $0) }) { first, _ in first }
    }

    /// A Swift file.
    package struct File: Sendable {
        package let name: String
        package let text: String
    }

    /// The files. The file with the model is the first.
    package var files: [File] {
        var scope = NameScope(taken: plan.names.all)
        let plain = Identifier.upperCamelCase(model.name)
        let name = scope.claim(plain.hasSuffix("Model") ? plain : plain + "Model")
        return [File(name: "\(name).swift", text: file(write))]
            + plan.entities.compactMap { entity in
                guard let name = entity.className else { return nil }
                return File(name: "\(name).swift", text: file { write(entity, named: name, to: &$0) })
            }
            + composites.map { composite in
                File(name: "\(composite.name).swift", text: file { write(composite, to: &$0) })
            }
    }

    /// The parts of the model that the Swift files do not contain, each described in one sentence.
    package var losses: [String] {
        let parts = composites.flatMap { composite in
            let omissions = composite.list.omissions.map { (name: $0.propertyName, reason: $0.reason) }
            let derived = unwritable(composite.composite.attributes, composite.list)
            return (omissions + derived).map { "\(composite.composite.name).\($0.name) is left out: \($0.reason)." }
        }
        let properties = plan.entities.flatMap { entity in
            unwritable(entity.entity.attributes, entity.list).map {
                "\(entity.entity.name).\($0.name) has no property: \($0.reason)."
            }
        }
        let relationships = plan.entities.flatMap { entity in
            entity.entity.relationships.filter { !$0.hasPossibleCount }.map {
                "\(entity.entity.name).\($0.name) and its inverse have no properties: no number of objects is between its counts."
            }
        }
        return removals + parts + properties + relationships
    }

    /// The derived attributes that cannot be written as properties because of their type, with the reason.
    private func unwritable(_ attributes: [AttributeDescription], _ list: PropertyList) -> [(
        name: String, reason: String
    )] {
        let derived = Dictionary(
            attributes.filter { $0.derivationExpression != nil }.map { ($0.name, $0.type) }, uniquingKeysWith: { $1 })
        return list.properties.compactMap { property in
            guard let type = derived[property.attributeName], !property.type.isPlain || type == .transformable else {
                return nil
            }
            return (property.attributeName, "a property with the type \(property.type.spelling) cannot be derived")
        }
    }

    /// The source of the argument `earlierVersions` of a model in Swift, on one line.
    package static func argument(for versions: [EarlierVersion]) -> String {
        "earlierVersions: \(Literal.list(versions.map { Literal.earlierVersion($0) }).inline)"
    }

    private func file(_ write: (inout SourceWriter) -> Void) -> String {
        var text = SourceWriter()
        text.line("import CoreDataSource")
        text.line("import Foundation")
        text.line()
        write(&text)
        return text.text
    }

    // MARK: The model

    private func write(to text: inout SourceWriter) {
        text.block("nonisolated extension ManagedObjectModel {") { text in
            text.documentation(["The model `\(model.name)`."])
            var scope = NameScope(taken: plan.names.all)
            let member = scope.claim(ReservedNames.member(Identifier.lowerCamelCase(model.name)))
            let call = Literal.call(
                "ManagedObjectModel",
                [
                    ("", .string(model.name)),
                    ("version", model.version == model.name ? nil : .string(model.version)),
                    ("configurations", .list(model.configurations, of: Literal.configuration)),
                    ("fetchRequests", .list(model.fetchRequests, of: Literal.fetchRequest)),
                    ("versionIdentifier", model.versionIdentifier.isEmpty ? nil : .string(model.versionIdentifier)),
                    ("earlierVersions", .list(model.earlierVersions, of: Literal.earlierVersion)),
                ])
            text.block("static let \(Identifier.escaped(member)) = \(call.rendered(depth: 0, used: 60)) {") { text in
                for entity in plan.entities {
                    if let name = entity.className { text.line("\(Identifier.escaped(name)).self") }
                }
                for composite in composites { text.line("\(Identifier.escaped(composite.name)).self") }
            }
        }
    }

    // MARK: Classes

    private func write(_ entity: EntityPlan, named name: String, to text: inout SourceWriter) {
        let unwritable = Set(self.unwritable(entity.entity.attributes, entity.list).map { $0.name })
        let omitted = unwritable.union(entity.list.omissions.map(\.propertyName))
        let properties = relationshipProperties(of: entity)
        let own = entity.entity.relationships
        let others = own.filter { relationship in !properties.contains { $0.relationship.name == relationship.name } }
        let unique = singleConstraints(of: entity)
        let types = TypeReferences(members: entity.members)
        let arguments = Literal.call(
            "@StoredEntity",
            [
                ("", entity.entity.name == name ? nil : .string(entity.entity.name)),
                ("isAbstract", Literal.flag(entity.entity.isAbstract)),
                ("unique", .list(unique.others, of: { .list($0.map { .string($0) }) })),
                ("indexes", .list(entity.entity.indexes, of: Literal.index)),
                ("renamedFrom", Literal.string(entity.entity.renamingIdentifier)),
                ("hashModifier", Literal.string(entity.entity.versionHashModifier)),
                ("userInfo", Literal.userInfo(entity.entity.userInfo)),
                (
                    "attributes",
                    .list(entity.entity.attributes.filter { omitted.contains($0.name) }, of: Literal.sourceAttribute)
                ),
                ("relationships", .list(others, of: Literal.relationship)),
                ("fetchedProperties", .list(entity.entity.fetchedProperties, of: Literal.fetchedProperty)),
            ])
        let rendered = arguments.rendered(depth: 0, used: 0)
        text.line(rendered == "@StoredEntity()" ? "@StoredEntity" : rendered)
        text.block("nonisolated class \(Identifier.escaped(name)): \(Identifier.escaped(entity.superclassName)) {") {
            text in
            for attribute in entity.entity.attributes {
                guard !omitted.contains(attribute.name),
                    let property = entity.list.properties.first(where: { $0.attributeName == attribute.name })
                else { continue }
                let isUnique = unique.single.contains(attribute.name)
                AttributeSourceText(attribute: attribute, property: property, types: types, isUnique: isUnique)
                    .write(to: &text)
            }
            for property in properties { property.write(to: &text) }
        }
        guard let requests = plan.fetchRequests[entity.entity.name] else { return }
        text.line()
        FetchRequestText(className: name, plans: requests, access: .internal, types: types).write(to: &text)
    }

    /// Divides constraints into the properties with a constraint of their own, and all other constraints.
    private func singleConstraints(of entity: EntityPlan) -> (single: Set<String>, others: [[String]]) {
        let transient = Set(entity.entity.attributes.filter(\.isTransient).map(\.name))
        let properties = entity.list.properties.filter {
            $0.type.accessor != .composite && !transient.contains($0.attributeName)
        }.map(\.attributeName)
        var single: Set<String> = []
        let others = entity.entity.uniquenessConstraints.filter { constraint in
            constraint.count != 1 || !properties.contains(constraint[0]) || !single.insert(constraint[0]).inserted
        }
        return (single, others)
    }

    /// The relationships that get a property. A relationship gets no property in two cases: its counts are not a valid
    /// range, or its inverse gets no property. In the second case, the compiler could not check the inverse.
    private func relationshipProperties(of entity: EntityPlan) -> [RelationshipSourceText] {
        entity.entity.relationships.compactMap { relationship in
            guard relationship.hasPossibleCount,
                let property = entity.relationships.relationships.first(where: {
                    $0.relationshipName == relationship.name
                })
            else { return nil }
            guard let inverseName = relationship.inverseName else {
                return RelationshipSourceText(relationship: relationship, plan: property, inverse: nil)
            }
            guard let inverse = propertyName(of: inverseName, inEntityNamed: relationship.destinationName) else {
                return nil
            }
            return RelationshipSourceText(relationship: relationship, plan: property, inverse: inverse)
        }
    }

    private func propertyName(of relationship: String, inEntityNamed name: String) -> String? {
        guard let destination = positions[name].map({ plan.entities[$0] }),
            hasPossibleCount(relationship, inEntityNamed: name)
        else { return nil }
        let known = destination.inheritedRelationships + destination.relationships.relationships
        return known.first { $0.relationshipName == relationship }?.name
    }

    /// Whether the counts of a relationship are a valid range. The entity or one of its ancestors declares the
    /// relationship.
    private func hasPossibleCount(_ relationship: String, inEntityNamed name: String) -> Bool {
        var next: String? = name
        var seen: Set<String> = []
        while let name = next, seen.insert(name).inserted,
            let entity = positions[name].map({ plan.entities[$0].entity })
        {
            if let own = entity.relationships.first(where: { $0.name == relationship }) { return own.hasPossibleCount }
            next = entity.parentName
        }
        return true
    }

    private func write(_ composite: CompositePlan, to text: inout SourceWriter) {
        let name = composite.composite.name
        text.line(name == composite.name ? "@StoredComposite" : "@StoredComposite(\(StringLiteral.of(name)))")
        let unwritable = Set(self.unwritable(composite.composite.attributes, composite.list).map { $0.name })
        let types = TypeReferences(members: Set(composite.list.properties.map(\.name)))
        text.block("nonisolated struct \(Identifier.escaped(composite.name)) {") { text in
            for attribute in composite.composite.attributes where !unwritable.contains(attribute.name) {
                guard let property = composite.list.properties.first(where: { $0.attributeName == attribute.name })
                else {
                    continue
                }
                AttributeSourceText(attribute: attribute, property: property, types: types, macro: "StoredPart")
                    .write(to: &text)
            }
        }
    }
}
