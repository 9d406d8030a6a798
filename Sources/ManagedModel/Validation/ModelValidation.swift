internal import DeclarationRules
internal import Foundation

extension ManagedObjectModel {
    /// Checks that the model is valid.
    ///
    /// ```swift
    /// try model.validate()
    /// ```
    ///
    /// In a valid model, names are unique, and inheritance and composites have no cycles. Every parent, destination, inverse,
    /// composite and constrained property exists. Each derived attribute has a type that fits its source, and each pattern is a
    /// regular expression.
    ///
    /// Models from `ModelReader` and from generated code are already checked. Call this method for a model that you build in
    /// code.
    ///
    /// - Throws: The first fault that is found.
    /// - Complexity: linear in the properties of the model, times the depth of inheritance.
    public func validate() throws(ModelError) {
        try validateShape()
        let validation = ModelValidation(model: self)
        try validation.checkDerivations()
        try validation.checkPatterns()
    }

    /// Checks everything except derivations and patterns, which affect no table. Use this method for the model of a
    /// store that an earlier release made.
    package func validateShape() throws(ModelError) {
        try validateStructure()
        let validation = ModelValidation(model: self)
        try validation.checkRelationships()
        try validation.checkConstraints()
    }

    /// Checks names, inheritance and sizes. These checks limit the cost of walking the model. The model reader calls
    /// this method, repairs relationships, and then calls ``validate()``.
    package func validateStructure() throws(ModelError) {
        if let classError {
            throw ModelError(
                .unknownReference, entity: classError.entityName, property: classError.propertyName, classError.message)
        }
        let validation = ModelValidation(model: self)
        try validation.checkNames()
        try validation.checkInheritance()
        try validation.checkSizes()
        try validation.checkRedefinitions()
    }
}

/// The checks of ``ManagedObjectModel/validate()``. Later checks rely on earlier checks.
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
                if lineage.count > ModelLimits.nestingLimit { throw tooDeep(entity) }
                continue
            }
            if lookup.entities[parentName] != nil {
                throw ModelError(
                    .inheritanceCycle, entity: last.name,
                    "Entity \(last.name) is its own ancestor. Give one entity of the cycle another parent, or no parent."
                )
            }
            throw ModelError(
                .unknownReference, entity: last.name,
                "Entity \(last.name) has the parent \(parentName), which does not exist. Add that entity, or name another parent."
            )
        }
    }

    private func tooDeep(_ entity: EntityDescription) -> ModelError {
        ModelError(
            .tooDeep, entity: entity.name,
            "Entity \(entity.name) has more than \(ModelLimits.nestingLimit) ancestors. Flatten the inheritance.")
    }

    func checkRelationships() throws(ModelError) {
        for entity in model.entities {
            for relationship in entity.relationships {
                let path = "\(entity.name).\(relationship.name)"
                guard lookup.entities[relationship.destinationName] != nil else {
                    throw ModelError(
                        .unknownReference, entity: entity.name, property: relationship.name,
                        "The destination of \(path) is \(relationship.destinationName), which does not exist. "
                            + "Add that entity, or name another destination.")
                }
                if let fault = lookup.inverseError(of: relationship, in: entity) {
                    throw ModelError(
                        fault.code, entity: entity.name, property: relationship.name,
                        "\(fault.sentence) Let both relationships name each other, or let neither name an inverse.")
                }
            }
        }
    }
}

extension ModelValidation {
    func checkNames() throws(ModelError) {
        try checkUnique(model.entities.map(\.name), kind: "entities")
        try checkUnique(model.composites.map(\.name), kind: "composites")
        try checkUnique(model.fetchRequests.map(\.name), kind: "fetch requests")
        try checkUnique(model.configurations.map(\.name), kind: "configurations")
        for composite in model.composites {
            try checkProperties(composite.attributes.map(\.name), of: composite.name)
        }
        for entity in model.entities {
            try checkProperties(propertyNames(of: entity), of: entity.name)
        }
    }

    /// Checks that no entity redefines a property of an ancestor, because both properties would need the same column.
    func checkRedefinitions() throws(ModelError) {
        let names = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, Set(propertyNames(of: $0))) })
        for entity in model.entities {
            for ancestor in lookup.lineage(of: entity).dropFirst() {
                guard let inherited = names[ancestor.name],
                    let name = propertyNames(of: entity).first(where: inherited.contains)
                else { continue }
                throw ModelError(
                    .duplicateName, entity: entity.name, property: name,
                    "\(entity.name).\(name) is already a property of its ancestor \(ancestor.name). Rename one of the two."
                )
            }
        }
    }

    private func propertyNames(of entity: EntityDescription) -> [String] {
        entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
    }

    private func checkUnique(_ names: [String], kind: String) throws(ModelError) {
        var seen: Set<String> = []
        for name in names {
            guard !name.isEmpty else {
                throw ModelError(.invalidName, "One of the \(kind) has no name. Name all \(kind).")
            }
            guard seen.insert(name).inserted else {
                throw ModelError(
                    .duplicateName, entity: name, "Two \(kind) are called \(name). Rename or remove one of the two.")
            }
        }
    }

    private func checkProperties(_ names: [String], of owner: String) throws(ModelError) {
        var seen: Set<String> = []
        for name in names {
            guard !name.isEmpty else {
                throw ModelError(.invalidName, entity: owner, "A property of \(owner) has no name. Name the property.")
            }
            // A name has no dot, because a dot separates the keys of a key path and the parts of a column's name.
            guard !name.unicodeScalars.contains(".") else {
                throw ModelError(
                    .invalidName, entity: owner, property: name,
                    "The name of the property \(name) of \(owner) contains a dot. Rename the property.")
            }
            guard seen.insert(name).inserted else {
                throw ModelError(
                    .duplicateName, entity: owner, property: name,
                    "\(owner) has two properties called \(name). Rename or remove one of the two.")
            }
        }
    }
}

extension ModelValidation {
    /// Checks that every constraint has elements, and that every element has a column. An element can be an attribute, a leaf
    /// of a composite, or a to-one relationship.
    func checkConstraints() throws(ModelError) {
        for entity in model.entities where !entity.uniquenessConstraints.isEmpty {
            let attributes = lookup.lineage(of: entity).flatMap(\.attributes)
            let byName = Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            for constraint in entity.uniquenessConstraints {
                guard !constraint.isEmpty else {
                    throw ModelError(
                        .unknownReference, entity: entity.name,
                        "A uniqueness constraint of \(entity.name) is empty. Add an attribute to the constraint, or remove the constraint."
                    )
                }
                for name in constraint {
                    try checkColumn(name, in: byName, of: entity)
                }
            }
        }
    }

    private func checkColumn(
        _ path: String, in attributes: [String: AttributeDescription], of entity: EntityDescription
    ) throws(ModelError) {
        var names = path.parts(separatedBy: ".")[...]
        var attribute = names.popFirst().flatMap { attributes[$0] }
        var isTransient = attribute?.isTransient ?? false
        while let name = names.popFirst() {
            let composite = attribute?.compositeName.flatMap { lookup.composites[$0] }
            attribute = composite?.attributes.first { $0.name == name }
            isTransient = isTransient || attribute?.isTransient ?? false
        }
        let fault: String
        switch attribute {
        case nil:
            guard let relationship = lookup.relationship(named: path, of: entity) else {
                fault = "which does not exist"
                break
            }
            if !relationship.isToMany, !relationship.isTransient { return }
            fault = relationship.isToMany ? "which is to-many" : "which is transient"
        case let found? where found.type == .composite: fault = "which is a composite"
        case _? where isTransient: fault = "which is transient"
        default: return
        }
        throw ModelError(
            .unknownReference, entity: entity.name, property: path,
            "A uniqueness constraint of \(entity.name) names \(path), \(fault). Use a property that has a column.")
    }
}

extension ModelValidation {
    func checkPatterns() throws(ModelError) {
        for entity in model.entities { try checkPatterns(entity.attributes, of: entity.name) }
        for composite in model.composites { try checkPatterns(composite.attributes, of: composite.name) }
    }

    private func checkPatterns(_ attributes: [AttributeDescription], of name: String) throws(ModelError) {
        for attribute in attributes {
            guard let pattern = attribute.pattern, !pattern.isEmpty else { continue }
            if let problem = PatternRule.problem(aboutPattern: pattern) {
                throw ModelError(
                    .invalidPattern, entity: name, property: attribute.name,
                    "The pattern \(pattern) of \(name).\(attribute.name) \(problem)")
            }
        }
    }
}
