extension ModelValidation {
    /// Every constraint has elements, and all of them have columns: attributes, leaves of composites, and to-one relationships.
    func checkConstraints() throws(ModelError) {
        for entity in model.entities where !entity.uniquenessConstraints.isEmpty {
            let attributes = lookup.lineage(of: entity).flatMap(\.attributes)
            let byName = Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            for constraint in entity.uniquenessConstraints {
                guard !constraint.isEmpty else {
                    throw ModelError(
                        .unknownReference, entity: entity.name,
                        "A uniqueness constraint of \(entity.name) is empty. Add an attribute to it or remove it.")
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
