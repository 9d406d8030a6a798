extension ModelValidation {
    /// Checks that what is derived from other attributes of an object has their type, and is not derived from itself.
    ///
    /// Derivations along relationships are not checked.
    func checkDerivations() throws(ModelError) {
        for entity in model.entities where entity.attributes.contains(where: { $0.derivationExpression != nil }) {
            let columns = model.columns(of: entity)
            var sources: [String: String] = [:]
            for attribute in entity.attributes {
                if let source = try source(of: attribute, entity, columns) { sources[attribute.name] = source }
            }
            for name in sources.keys.sorted() {
                var (next, steps) = (sources[name], 0)
                while let source = next, steps <= sources.count {
                    if source == name { throw derivedFromItself(name, entity) }
                    next = sources[source]
                    steps += 1
                }
            }
        }
    }

    /// The name of the attribute from which one is derived; nil if it is derived from something else, or not at all.
    private func source(
        of attribute: AttributeDescription, _ entity: EntityDescription, _ columns: [ColumnDescription]
    ) throws(ModelError) -> String? {
        guard let text = attribute.derivationExpression, let expression = DerivationExpression(text) else { return nil }
        let path: String
        var type = attribute.type
        switch expression {
        case .now:
            if attribute.type == .date { return nil }
            throw invalid(attribute, entity, "the moment of the save, but is no date. Make it a Date")
        case .copy(let name): path = name
        case .changed(let name, let change):
            path = name
            type = .string
            if attribute.type != .string {
                throw invalid(attribute, entity, "\(change.rawValue):(\(name)), but is no string. Make it a String")
            }
        }
        guard let source = columns.first(where: { $0.name == path })?.attribute else {
            let first = path.split(separator: ".").first.map(String.init) ?? ""
            // It leads along a relationship, or is a function.
            if !path.unicodeScalars.allSatisfy({ $0 != "@" && $0 != ":" && $0 != "(" }) { return nil }
            if lookup.relationship(named: first, of: entity) != nil { return nil }
            throw invalid(
                attribute, entity,
                "\(path), but \(entity.name) has no such attribute. Add it, or derive the value from another attribute")
        }
        if source.type != type {
            throw invalid(
                attribute, entity,
                "\(path), which is a \(source.type.rawValue) where a \(type.rawValue) is needed. Make both the same type"
            )
        }
        return path
    }

    private func invalid(
        _ attribute: AttributeDescription, _ entity: EntityDescription, _ complaint: String
    ) -> ModelError {
        ModelError(
            .invalidDerivation, entity: entity.name, property: attribute.name,
            "\(entity.name).\(attribute.name) is derived from \(complaint), or make it a plain attribute that your code sets."
        )
    }

    private func derivedFromItself(_ name: String, _ entity: EntityDescription) -> ModelError {
        ModelError(
            .invalidDerivation, entity: entity.name, property: name,
            "\(entity.name).\(name) is derived from itself. Derive it from another attribute.")
    }
}
