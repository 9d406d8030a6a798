extension ManagedObjectModel {
    /// Checks that the model is valid: names are unique, inheritance and composites have no cycles, every parent, destination,
    /// inverse, composite and constrained property exists, what is derived from another attribute has its type, and patterns are
    /// regular expressions.
    ///
    /// Models from `ModelReader` and from generated code have been checked; call this for a model made in code.
    ///
    /// - Throws: the first fault found, in the order of the model.
    /// - Complexity: linear in the properties of the model, times the depth of inheritance.
    public func validate() throws(ModelError) {
        try validateShape()
        let validation = ModelValidation(model: self)
        try validation.checkDerivations()
        try validation.checkPatterns()
    }

    /// ``validate()`` without what determines no table, for the model of a store that an earlier release has made.
    package func validateShape() throws(ModelError) {
        try validateStructure()
        let validation = ModelValidation(model: self)
        try validation.checkRelationships()
        try validation.checkConstraints()
    }

    /// The part of ``validate()`` that limits the cost of walking the model. A reader that has to repair relationships does so
    /// between this part and the rest.
    package func validateStructure() throws(ModelError) {
        let validation = ModelValidation(model: self)
        try validation.checkNames()
        try validation.checkInheritance()
        try validation.checkSizes()
        try validation.checkRedefinitions()
    }
}

/// The rules of ``ManagedObjectModel/validate()``. Later rules rely on earlier ones.
struct ModelValidation {
    let model: ManagedObjectModel
    let lookup: ModelLookup

    init(model: ManagedObjectModel) {
        self.model = model
        lookup = ModelLookup(model)
    }

    func checkInheritance() throws(ModelError) {
        for entity in model.entities {
            let lineage = lookup.lineage(of: entity)
            guard let parentName = lineage.last?.parentName, let last = lineage.last else {
                if lineage.count > ModelLimits.nesting { throw tooDeep(entity) }
                continue
            }
            if lookup.entities[parentName] != nil {
                throw ModelError(
                    .inheritanceCycle, entity: last.name,
                    "Entity \(last.name) is its own ancestor. Give one entity of the cycle another parent, or none.")
            }
            throw ModelError(
                .unknownReference, entity: last.name,
                "Entity \(last.name) has the parent \(parentName), which does not exist. Add it or name another.")
        }
    }

    private func tooDeep(_ entity: EntityDescription) -> ModelError {
        ModelError(
            .tooDeep, entity: entity.name,
            "Entity \(entity.name) has more than \(ModelLimits.nesting) ancestors. Flatten the inheritance.")
    }

    func checkRelationships() throws(ModelError) {
        for entity in model.entities {
            for relationship in entity.relationships {
                let path = "\(entity.name).\(relationship.name)"
                guard lookup.entities[relationship.destinationName] != nil else {
                    throw ModelError(
                        .unknownReference, entity: entity.name, property: relationship.name,
                        "The destination of \(path) is \(relationship.destinationName), which does not exist. "
                            + "Add the entity or name another.")
                }
                if let fault = lookup.inverseFault(of: relationship, in: entity) {
                    throw ModelError(
                        fault.code, entity: entity.name, property: relationship.name,
                        "\(fault.sentence) Make both name each other, or neither.")
                }
            }
        }
    }
}
