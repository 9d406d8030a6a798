internal import DeclarationRules

extension ModelValidation {
    /// Checks that the source of each derived attribute exists and has a compatible type, and that no attribute is derived
    /// from itself.
    func checkDerivations() throws(ModelError) {
        let hasDerivedLeaves = model.composites.contains { $0.attributes.contains { $0.derivationExpression != nil } }
        for entity in model.entities
        where entity.attributes.contains(where: {
            $0.derivationExpression != nil || hasDerivedLeaves && $0.type == .composite
        }) {
            let columns = model.columns(of: entity)
            var sources: [String: String] = [:]
            for attribute in entity.attributes + derivedLeaves(of: entity, columns) {
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
            try checkConstraintsExcludeDerivedAttributes(entity)
        }
    }

    /// The derived leaves of the entity's own composites. Each leaf has the name of its column.
    private func derivedLeaves(of entity: EntityDescription, _ columns: [ColumnDescription]) -> [AttributeDescription] {
        let composites = Set(entity.attributes.filter { $0.type == .composite }.map(\.name))
        return columns.compactMap { column in
            guard var leaf = column.attribute, leaf.derivationExpression != nil, leaf.name != column.name,
                let first = column.name.parts(separatedBy: ".").first, composites.contains(first)
            else { return nil }
            leaf.name = column.name
            return leaf
        }
    }

    /// The name of the source, if the source is an attribute of the same object; otherwise nil.
    private func source(
        of attribute: AttributeDescription, _ entity: EntityDescription, _ columns: [ColumnDescription]
    ) throws(ModelError) -> String? {
        guard let text = attribute.derivationExpression else { return nil }
        let path: [String]
        var type = attribute.type
        switch DerivationExpression(text) {
        case .now:
            if attribute.type == .date { return nil }
            throw invalid(attribute, entity, "the moment of the save, but is not a date. Use the type Date")
        case .path(let keys): path = keys
        case .transformed(let keys, let change):
            path = keys
            type = .string
            let expression = "\(change.rawValue):(\(keys.joined(separator: ".")))"
            if attribute.type != .string {
                throw invalid(attribute, entity, "\(expression), but is not a string. Use the type String")
            }
            if startsWithRelationship(keys, entity) {
                throw invalid(
                    attribute, entity,
                    "\(expression), which transforms a string of another object. Derive the attribute from \(keys.joined(separator: ".")) without a function"
                )
            }
        case nil:
            throw invalid(
                attribute, entity,
                "\(text), \(DerivationExpression.problem)"
            )
        }
        if startsWithRelationship(path, entity) {
            try checkRelatedSource(path, of: attribute, entity)
            return nil
        }
        let name = path.joined(separator: ".")
        guard let source = columns.first(where: { $0.name == name })?.attribute else {
            throw invalid(
                attribute, entity,
                "\(name), but \(entity.name) has no such attribute. Add that attribute, or use another attribute")
        }
        try checkSource(source, entity, of: attribute, entity)
        if source.type != type { throw invalid(attribute, entity, wrongType(name, source.type, type)) }
        return name
    }

    // MARK: Sources in other objects

    private func startsWithRelationship(_ path: [String], _ entity: EntityDescription) -> Bool {
        path.first.map { lookup.relationship(named: $0, of: entity) != nil } ?? false
    }

    /// Checks a key path that begins with a relationship and ends in an attribute or in an aggregate.
    private func checkRelatedSource(
        _ path: [String], of attribute: AttributeDescription, _ entity: EntityDescription
    ) throws(ModelError) {
        let text = path.joined(separator: ".")
        if attribute.name.unicodeScalars.contains(".") {
            throw invalid(
                attribute, entity,
                "\(text), but an attribute in a composite cannot be derived from other objects. Derive an attribute outside of composites"
            )
        }
        let (owner, aggregate, keys) = try resolveRelationships(of: path, of: attribute, entity)
        let name = keys.joined(separator: ".")
        if aggregate == "@count" {
            guard keys.isEmpty else {
                throw invalid(attribute, entity, "\(text), but no key can follow @count. Remove the keys after @count")
            }
            if attribute.type.isInteger { return }
            throw invalid(attribute, entity, "\(text), which is a whole number. Give the attribute the type Integer 64")
        }
        guard let source = model.columns(of: owner).first(where: { $0.name == name })?.attribute else {
            throw invalid(
                attribute, entity,
                "\(text), but \(owner.name) has no attribute \(name). Add that attribute, or derive the value from another attribute"
            )
        }
        try checkSource(source, owner, of: attribute, entity)
        let fits = source.type.results(of: aggregate)
        guard let type = fits.first else {
            throw invalid(
                attribute, entity,
                "\(text), which cannot be calculated from a \(source.type.rawValue) of another object. Use another attribute of that object"
            )
        }
        if !fits.contains(attribute.type) { throw invalid(attribute, entity, wrongType(text, type, attribute.type)) }
    }

    /// Follows the relationships of a key path. Returns the last destination, the aggregate (if a relationship is to-many) and
    /// the remaining keys.
    private func resolveRelationships(
        of path: [String], of attribute: AttributeDescription, _ entity: EntityDescription
    ) throws(ModelError) -> (owner: EntityDescription, aggregate: String?, keys: ArraySlice<String>) {
        let text = path.joined(separator: ".")
        var (owner, keys) = (entity, path[...])
        var aggregate: String?
        while aggregate != "@count", let key = keys.first,
            let relationship = lookup.relationship(named: key, of: owner),
            let destination = lookup.entities[relationship.destinationName]
        {
            keys = keys.dropFirst()
            if relationship.isTransient {
                throw invalid(
                    attribute, entity,
                    "\(text), but \(owner.name).\(key) is transient, so its links are not stored. Make the relationship persistent"
                )
            }
            owner = destination
            guard relationship.isToMany else { continue }
            guard aggregate == nil, let operation = keys.popFirst(),
                ["@count", "@sum", "@avg", "@min", "@max"].contains(operation)
            else {
                throw invalid(
                    attribute, entity,
                    "\(text), but \(key) leads to many objects. Use an aggregate: \(key).@count, or @sum, @avg, @min or @max as in \(key).@max.date"
                )
            }
            aggregate = operation
        }
        return (owner, aggregate, keys)
    }

    /// Checks that a source is stored, and is not itself derived from other objects.
    private func checkSource(
        _ source: AttributeDescription, _ owner: EntityDescription, of attribute: AttributeDescription,
        _ entity: EntityDescription
    ) throws(ModelError) {
        let name = "\(owner.name).\(source.name)"
        if source.isTransient {
            throw invalid(attribute, entity, "\(name), which is transient. Make \(name) persistent")
        }
        if isDerivedFromOtherObjects(source, owner) {
            throw invalid(
                attribute, entity,
                "\(name), which is derived from other objects, too. Derive both attributes from the same attribute of these objects"
            )
        }
    }

    private func isDerivedFromOtherObjects(_ attribute: AttributeDescription, _ entity: EntityDescription) -> Bool {
        guard let text = attribute.derivationExpression, case .path(let path) = DerivationExpression(text) else {
            return false
        }
        return startsWithRelationship(path, entity)
    }

    /// Checks that no uniqueness constraint covers an attribute that is derived from other objects. The value of such
    /// an attribute is calculated when it is read, so no index contains the value.
    private func checkConstraintsExcludeDerivedAttributes(_ entity: EntityDescription) throws(ModelError) {
        for attribute in entity.attributes where isDerivedFromOtherObjects(attribute, entity) {
            let isUnique = model.entities.contains { other in
                other.uniquenessConstraints.contains { $0.contains(attribute.name) }
                    && lookup.lineage(of: other).contains { $0.name == entity.name }
            }
            if isUnique {
                throw ModelError(
                    .invalidDerivation, entity: entity.name, property: attribute.name,
                    "\(entity.name).\(attribute.name) is derived from other objects and cannot be unique. Remove the attribute from the uniqueness constraint."
                )
            }
        }
    }

    // MARK: Errors

    private func wrongType(_ source: String, _ type: AttributeType, _ needed: AttributeType) -> String {
        "\(source), which has the type \(type.rawValue) instead of \(needed.rawValue). Give both the same type"
    }

    private func invalid(
        _ attribute: AttributeDescription, _ entity: EntityDescription, _ problem: String
    ) -> ModelError {
        ModelError(
            .invalidDerivation, entity: entity.name, property: attribute.name.parts(separatedBy: ".").first,
            "\(entity.name).\(attribute.name) is derived from \(problem), or remove the derivation and set the attribute in code."
        )
    }

    private func derivedFromItself(_ name: String, _ entity: EntityDescription) -> ModelError {
        ModelError(
            .invalidDerivation, entity: entity.name, property: name,
            "\(entity.name).\(name) is derived from itself. Derive the value from another attribute.")
    }
}

extension AttributeType {
    fileprivate var isInteger: Bool { [.integer16, .integer32, .integer64].contains(self) }

    /// Whether the library treats values of the type as opaque, and never compares them.
    fileprivate var isOpaque: Bool { [.binary, .transformable, .composite, .undefined, .objectID].contains(self) }

    /// The possible types of an attribute that is derived from values of this type. The preferred type comes first.
    fileprivate func results(of aggregate: String?) -> [AttributeType] {
        switch (aggregate, self) {
        case (nil, _): isOpaque ? [] : [self]
        case ("@min", _), ("@max", _): isOpaque || self == .uuid ? [] : [self]
        case ("@avg", .integer16), ("@avg", .integer32), ("@avg", .integer64): [.double, .float]
        case (_, .integer16), (_, .integer32), (_, .integer64): [.integer64, .integer32, .integer16]
        case (_, .double), (_, .float): [.double, .float]
        case (_, .decimal): [.decimal]
        default: []
        }
    }
}
