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

    /// No entity may define a property of one of its ancestors again: both would need the same column.
    func checkRedefinitions() throws(ModelError) {
        let names = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, Set(propertyNames(of: $0))) })
        for entity in model.entities {
            for ancestor in lookup.lineage(of: entity).dropFirst() {
                guard let inherited = names[ancestor.name],
                    let name = propertyNames(of: entity).first(where: inherited.contains)
                else { continue }
                throw ModelError(
                    .duplicateName, entity: entity.name, property: name,
                    "\(entity.name).\(name) is already a property of its ancestor \(ancestor.name). Rename one of them."
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
                throw ModelError(.invalidName, "One of the \(kind) has no name. Give it a name.")
            }
            guard seen.insert(name).inserted else {
                throw ModelError(
                    .duplicateName, entity: name, "Two \(kind) are called \(name). Rename or remove one of them.")
            }
        }
    }

    private func checkProperties(_ names: [String], of owner: String) throws(ModelError) {
        var seen: Set<String> = []
        for name in names {
            guard !name.isEmpty else {
                throw ModelError(.invalidName, entity: owner, "A property of \(owner) has no name. Give it a name.")
            }
            // A dot separates the parts of a key path and of a composite's column.
            guard !name.unicodeScalars.contains(".") else {
                throw ModelError(
                    .invalidName, entity: owner, property: name,
                    "The name of the property \(name) of \(owner) contains a dot. Rename it.")
            }
            guard seen.insert(name).inserted else {
                throw ModelError(
                    .duplicateName, entity: owner, property: name,
                    "\(owner) has two properties called \(name). Rename or remove one of them.")
            }
        }
    }
}
