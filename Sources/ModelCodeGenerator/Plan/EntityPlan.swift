internal import ManagedModel

/// The plan for the generated code of one entity.
struct EntityPlan {
    /// The class of the library that is the superclass of all classes.
    static let rootClassName = "ManagedObject"

    var entity: EntityDescription
    /// The identifier of the class, not yet escaped; nil if the entity has no class of its own.
    var className: String?
    var superclassName = Self.rootClassName
    /// The properties that the class or the extension declares.
    var list: PropertyList
    var relationships = RelationshipList()
    /// The properties that the generated code for the ancestors declares.
    var inherited: [PropertyPlan]
    var inheritedRelationships: [RelationshipPlan] = []
    /// The ancestors whose properties the author writes. The generator does not know the key paths of these properties.
    var manualAncestors: [String]
    /// The names of all attributes and relationships of the entity, including inherited ones and those without a property.
    var propertyNames: [String] = []
    /// Whether the entity is the destination of a to-one relationship.
    var isDestination = false
    /// The names of all properties of the class, including inherited ones.
    var members: Set<String> {
        Set((inherited + list.properties).map(\.name))
            .union((inheritedRelationships + relationships.relationships).map(\.name))
    }
    /// The reason why no code is generated, although the model requests code.
    var omissionReason: String?

    var generation: CodeGeneration { entity.codeGeneration }
}

extension ModelPlan {
    /// Plans the ancestors from the root down, so that an inherited property has the same name in every class.
    func entityPlan(for entity: EntityDescription) -> EntityPlan {
        var plan = EntityPlan(
            entity: entity, className: names.classes[entity.name],
            list: PropertyList(), inherited: [], manualAncestors: [])
        // Ancestors without a class. The next class below them declares their properties.
        var ancestorsWithoutClass: [EntityDescription] = []
        for ancestor in model.lineage(of: entity).dropFirst().reversed() {
            guard let className = names.classes[ancestor.name] else {
                ancestorsWithoutClass.append(ancestor)
                continue
            }
            plan.superclassName = className
            if ancestor.codeGeneration == .manual {
                plan.manualAncestors.append(ancestor.name)
            } else {
                let (list, relationships) = properties(of: ancestorsWithoutClass + [ancestor], after: plan)
                plan.inherited += list.properties
                plan.inheritedRelationships += relationships.relationships
            }
            ancestorsWithoutClass = []
        }
        if entity.codeGeneration != .manual {
            (plan.list, plan.relationships) = properties(of: ancestorsWithoutClass + [entity], after: plan)
        }
        plan.propertyNames = model.lineage(of: entity).reversed().flatMap { entity in
            entity.attributes.map(\.name) + entity.relationships.map(\.name)
        }
        plan.isDestination = destinations.contains(entity.name)
        return plan
    }

    private func properties(
        of entities: [EntityDescription], after plan: EntityPlan
    ) -> (PropertyList, RelationshipList) {
        let inherited = plan.inherited.map(\.name) + plan.inheritedRelationships.map(\.name)
        var scope = NameScope(taken: typeNames, inherited)
        let list = entities.map { entity in
            var list = propertyList(of: entity.attributes, in: &scope) { index in
                var truncated = entity
                truncated.attributes = Array(entity.attributes.prefix(index))
                truncated.relationships = []
                return model.columns(of: truncated).count
            }
            let calculated = calculatedAttributes(of: entity)
            for index in list.properties.indices {
                list.properties[index].isCalculated = calculated.contains(list.properties[index].attributeName)
            }
            return list
        }.reduce(PropertyList(), +)
        return (list, relationshipList(of: entities, in: &scope))
    }

    /// The names of the attributes that are derived from related objects.
    private func calculatedAttributes(of entity: EntityDescription) -> Set<String> {
        let derived = entity.attributes.filter { $0.derivationExpression != nil }
        if derived.isEmpty { return [] }
        let relationships = Set(model.lineage(of: entity).flatMap(\.relationships).map(\.name))
        return Set(
            derived.filter { attribute in
                guard case .path(let path) = attribute.derivationExpression.flatMap({ DerivationExpression($0) }) else {
                    return false
                }
                return path.first.map(relationships.contains) ?? false
            }.map(\.name))
    }
}

/// The plan for one property of a class or of a composite's struct.
struct PropertyPlan {
    /// The name of the attribute and of its column.
    var attributeName: String
    /// The identifier, not yet escaped.
    var name: String
    var type: PropertyType
    /// The index of the column, or of a composite's first leaf. Inside a composite, indexes count from the first leaf of the
    /// composite.
    var column: Int
    var isReadOnly: Bool
    /// Whether the value is derived from other objects, and calculated when it is read.
    var isCalculated = false
    /// Doc comments about facts that the declaration does not show.
    var notes: [String]
}

/// The properties of an entity or a composite, and the attributes without a property.
struct PropertyList {
    var properties: [PropertyPlan] = []
    var omissions: [Omission] = []

    struct Omission {
        var propertyName: String
        var reason: String
        /// Whether the author chose the type of the attribute.
        var isOfChosenType = false
    }

    static func + (lhs: PropertyList, rhs: PropertyList) -> PropertyList {
        PropertyList(properties: lhs.properties + rhs.properties, omissions: lhs.omissions + rhs.omissions)
    }
}

extension PropertyPlan {
    /// - Parameter name: The property's identifier, not yet escaped.
    static func notes(on attribute: AttributeDescription, as name: String, type: PropertyType) -> [String] {
        var notes: [String] = []
        if name != attribute.name { notes.append("The attribute `\(attribute.name)`.") }
        if let expression = attribute.derivationExpression { notes.append("Derived: `\(expression)`.") }
        if attribute.isTransient { notes.append("Transient: not in the store.") }
        if attribute.type == .transformable, type.accessor == .attribute {
            notes.append("Transformable. Swift cannot name the type of the value, so the property is the stored bytes.")
        }
        return notes
    }
}

/// The plan for the property of a relationship.
struct RelationshipPlan {
    enum Kind {
        case toOne
        case toMany
        case ordered
    }

    /// The relationship's name in the model.
    var relationshipName: String
    /// The identifier, not yet escaped.
    var name: String
    /// The class of the destination, escaped.
    var destination: String
    var kind: Kind
    /// The index of the relationship in the entity. Inherited relationships come first.
    var index: Int
}

extension ModelPlan {
    /// Plans the relationships of entities. Each entity in the list is the parent of the next entity.
    func relationshipList(of entities: [EntityDescription], in scope: inout NameScope) -> RelationshipList {
        var list = RelationshipList()
        for entity in entities {
            let inherited = model.lineage(of: entity).dropFirst().reduce(0) { $0 + $1.relationships.count }
            var stored: [(index: Int, relationship: RelationshipDescription)] = []
            for (index, relationship) in entity.relationships.enumerated() {
                if model.linkStorage(of: RelationshipName(entity: entity.name, name: relationship.name)) == .none {
                    list.omissions.append(
                        .init(
                            propertyName: relationship.name,
                            reason: "a transient to-many relationship is not stored"))
                } else {
                    stored.append((inherited + index, relationship))
                }
            }
            let claims = stored.map { entry in
                let name = ReservedNames.member(Identifier.sanitized(entry.relationship.name))
                return (name, name == entry.relationship.name)
            }
            for (entry, name) in zip(stored, scope.claim(each: claims)) {
                let relationship = entry.relationship
                list.relationships.append(
                    RelationshipPlan(
                        relationshipName: relationship.name, name: name,
                        destination: names.classes[relationship.destinationName].map(Identifier.escaped)
                            ?? EntityPlan.rootClassName,
                        kind: relationship.isToMany ? relationship.isOrdered ? .ordered : .toMany : .toOne,
                        index: entry.index))
            }
        }
        return list
    }
}

/// The properties of relationships, and the relationships without a property.
struct RelationshipList {
    var relationships: [RelationshipPlan] = []
    var omissions: [PropertyList.Omission] = []
}

/// The plan for the struct of a composite.
struct CompositePlan {
    var composite: CompositeDescription
    /// The struct's identifier, not yet escaped.
    var name: String
    var list: PropertyList
}

extension ModelPlan {
    /// The plans of the composites that generated properties use, sorted by name.
    func compositePlans(for entities: [EntityPlan]) -> [CompositePlan] {
        let plans = model.composites.compactMap(compositePlan)
        var needed: Set<String> = []
        var waiting = entities.flatMap(\.list.properties)
        while let property = waiting.popLast() {
            guard property.type.accessor == .composite, needed.insert(property.type.name).inserted else { continue }
            waiting += plans.first { Identifier.escaped($0.name) == property.type.name }?.list.properties ?? []
        }
        return plans.filter { needed.contains(Identifier.escaped($0.name)) }
    }

    func compositePlan(for composite: CompositeDescription) -> CompositePlan? {
        guard let name = names.structs[composite.name] else { return nil }
        var scope = NameScope(taken: typeNames)
        let list = propertyList(of: composite.attributes, in: &scope) { index in
            let leaves = Array(composite.attributes.prefix(index))
            return model.columns(of: EntityDescription(name: "", attributes: leaves)).count
        }
        return CompositePlan(composite: composite, name: name, list: list)
    }
}
