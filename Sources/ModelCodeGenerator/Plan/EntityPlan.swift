internal import ManagedModel

/// The plan for the code of one entity.
struct EntityPlan {
    var entity: EntityDescription
    /// The class's identifier, not yet escaped; nil if the entity has no class of its own.
    var className: String?
    var superclassName: String
    /// The properties that the class or the extension declares.
    var list: PropertyList
    var relationships = RelationshipList()
    /// The properties that generated code declares for the entity's ancestors.
    var inherited: [PropertyPlan]
    var inheritedRelationships: [RelationshipPlan] = []
    /// The ancestors whose properties the author writes, so that their key paths are not known here.
    var manualAncestors: [String]
    /// Whether a to-one relationship leads to objects of the class.
    var isDestination = false
    /// Why nothing is generated although the model asks for it.
    var omission: String?

    var generation: CodeGeneration { entity.codeGeneration }
}

extension ModelPlan {
    /// Walks the entity's lineage from the root down, so that an inherited property has the same name everywhere.
    func entityPlan(for entity: EntityDescription) -> EntityPlan {
        var plan = EntityPlan(
            entity: entity, className: names.classes[entity.name], superclassName: "ManagedObject",
            list: PropertyList(), inherited: [], manualAncestors: [])
        // The attributes of ancestors without a class; the next class below declares them.
        var orphans: [EntityDescription] = []
        for ancestor in model.lineage(of: entity).dropFirst().reversed() {
            guard let className = names.classes[ancestor.name] else {
                orphans.append(ancestor)
                continue
            }
            plan.superclassName = className
            if ancestor.codeGeneration == .manual {
                plan.manualAncestors.append(ancestor.name)
            } else {
                let (list, relationships) = properties(of: orphans + [ancestor], after: plan)
                plan.inherited += list.properties
                plan.inheritedRelationships += relationships.relationships
            }
            orphans = []
        }
        if entity.codeGeneration != .manual {
            (plan.list, plan.relationships) = properties(of: orphans + [entity], after: plan)
        }
        plan.isDestination = model.entities.contains { source in
            source.relationships.contains { !$0.isToMany && $0.destinationName == entity.name }
        }
        return plan
    }

    private func properties(
        of entities: [EntityDescription], after plan: EntityPlan
    ) -> (PropertyList, RelationshipList) {
        let inherited = plan.inherited.map(\.name) + plan.inheritedRelationships.map(\.name)
        var scope = NameScope(taken: names.all.union(inherited))
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

    /// The names of the attributes that are derived along relationships.
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
