internal import ManagedModel

/// The plan for the struct of a composite, with a property for each attribute.
struct CompositePlan {
    var composite: CompositeDescription
    /// The struct's identifier, not yet escaped.
    var name: String
    var list: PropertyList
}

extension ModelPlan {
    /// The composites that the properties of generated entities need, sorted by name.
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

    private func compositePlan(for composite: CompositeDescription) -> CompositePlan? {
        guard let name = names.structs[composite.name] else { return nil }
        var scope = NameScope(taken: names.all)
        let list = propertyList(of: composite.attributes, in: &scope) { index in
            let leaves = Array(composite.attributes.prefix(index))
            return model.columns(of: EntityDescription(name: "", attributes: leaves)).count
        }
        return CompositePlan(composite: composite, name: name, list: list)
    }
}
