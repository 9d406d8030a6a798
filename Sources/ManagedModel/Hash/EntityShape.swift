/// The declarations of one entity that determine its table. Inherited properties are not included.
///
/// The canonical form and the difference of two models are both built from shapes, so both cover the same properties.
package struct EntityShape: Hashable {
    package var name: String
    package var parentName: String?
    package var isAbstract: Bool
    package var versionHashModifier: String?
    /// Sorted by path.
    package var attributes: [AttributeShape]
    /// Sorted by name.
    package var relationships: [RelationshipShape]
    /// Without duplicates. The names within each constraint are sorted, and so are the constraints.
    package var uniquenessConstraints: [[String]]

    package init(of entity: EntityDescription, in lookup: ModelLookup) {
        name = entity.name
        parentName = entity.parentName
        isAbstract = entity.isAbstract
        versionHashModifier = entity.versionHashModifier
        attributes =
            entity.attributes.flatMap { AttributeShape.leaves(of: $0, in: lookup) }
            .sorted { $0.path.precedes($1.path) }
        relationships =
            entity.relationships.filter { !$0.isTransient }.map(RelationshipShape.init)
            .sorted { [$0.name].precedes([$1.name]) }
        uniquenessConstraints =
            Set(
                entity.uniquenessConstraints.map { constraint in
                    Set(constraint).sorted { [$0].precedes([$1]) }
                }
            )
            .sorted { $0.precedes($1) }
    }
}

/// The shape of a stored attribute, or of one leaf of a composite.
package struct AttributeShape: Hashable {
    /// The names of the enclosing composite attributes, outermost first, then the attribute's own name.
    package var path: [String]
    package var type: AttributeType
    package var isOptional: Bool
    package var derivationExpression: String?
    /// One element for each attribute along ``path``.
    package var versionHashModifiers: [String?]

    package init(
        path: [String], type: AttributeType, isOptional: Bool, derivationExpression: String?,
        versionHashModifiers: [String?]
    ) {
        self.path = path
        self.type = type
        self.isOptional = isOptional
        self.derivationExpression = derivationExpression
        self.versionHashModifiers = versionHashModifiers
    }

    package static func leaves(of attribute: AttributeDescription, in lookup: ModelLookup) -> [AttributeShape] {
        leaves(of: attribute, under: nil, composites: [], in: lookup)
    }

    private static func leaves(
        of attribute: AttributeDescription, under outer: AttributeShape?, composites: [String], in lookup: ModelLookup
    ) -> [AttributeShape] {
        guard !attribute.isTransient else { return [] }
        let shape = AttributeShape(
            path: (outer?.path ?? []) + [attribute.name],
            type: attribute.type,
            // An absent composite has no leaf values, so every leaf of an optional composite is optional.
            isOptional: attribute.isOptional || outer?.isOptional ?? false,
            derivationExpression: attribute.derivationExpression,
            versionHashModifiers: (outer?.versionHashModifiers ?? []) + [attribute.versionHashModifier]
        )
        guard attribute.type == .composite, let name = attribute.compositeName else { return [shape] }
        guard !composites.contains(name), let composite = lookup.composites[name] else { return [] }
        return composite.attributes.flatMap {
            leaves(of: $0, under: shape, composites: composites + [name], in: lookup)
        }
    }
}

/// The shape of a stored relationship. The shape has no delete rule, because the rule does not change the table.
package struct RelationshipShape: Hashable {
    package var name: String
    package var destinationName: String
    package var inverseName: String?
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional: Bool
    /// Always 0 for a to-one relationship, because ``isOptional`` is enough.
    package var minimumCount: Int
    /// 0 for no limit. Always 0 for a to-one relationship.
    package var maximumCount: Int
    package var versionHashModifier: String?

    /// Sets the counts of a to-one relationship to 0. Old and new tools write different counts for the same model, and
    /// the hash must not depend on the tool.
    package init(_ relationship: RelationshipDescription) {
        name = relationship.name
        destinationName = relationship.destinationName
        inverseName = relationship.inverseName
        isToMany = relationship.isToMany
        isOrdered = relationship.isToMany && relationship.isOrdered
        isOptional = relationship.isOptional
        minimumCount = relationship.isToMany ? max(0, relationship.minimumCount) : 0
        maximumCount = relationship.isToMany ? max(0, relationship.maximumCount) : 0
        versionHashModifier = relationship.versionHashModifier
    }
}

extension [String] {
    /// Whether the array sorts before the other array. Compares UTF-8 bytes, because their order is the same on every machine
    /// and in every Unicode version.
    package func precedes(_ other: [String]) -> Bool {
        for (one, other) in zip(self, other) where !one.utf8.elementsEqual(other.utf8) {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return count < other.count
    }
}

extension EntityShape {
    /// The shape as a string, together with the hash of the parent. The string has a line for each property and each
    /// constraint. Names are quoted, so that different shapes never have equal forms.
    func canonicalForm(parentHash: ModelHash?) -> String {
        var lines = ["entity \(name.quotedWord) schema \(ManagedObjectModel.schemaFormat)"]
        if let parentName {
            lines.append("  parent \(parentName.quotedWord) \(parentHash.map(\.description) ?? "unknown")")
        }
        if isAbstract { lines.append("  abstract") }
        if let versionHashModifier { lines.append("  modifier \(versionHashModifier.quotedWord)") }
        lines += attributes.map { "  attribute \($0.canonicalLine())" }
        lines += relationships.map { "  relationship \($0.canonicalLine())" }
        lines += uniquenessConstraints.map { "  unique \($0.map(\.quotedWord).joined(separator: " "))" }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension AttributeShape {
    /// - Parameter extras: Words to add to the line. The canonical form does not have these words.
    package func canonicalLine(with extras: [String] = []) -> String {
        var words = [
            path.map(\.quotedWord).joined(separator: "."), type.rawValue, isOptional ? "optional" : "required",
        ]
        if let derivationExpression { words.append("derived \(derivationExpression.quotedWord)") }
        words += extras
        if versionHashModifiers.contains(where: { $0 != nil }) {
            words.append("modifier \(versionHashModifiers.modifierWords)")
        }
        return words.joined(separator: " ")
    }
}

extension RelationshipShape {
    /// - Parameter extras: Words to add to the line. The canonical form does not have these words.
    package func canonicalLine(with extras: [String] = []) -> String {
        var words = [name.quotedWord, isToMany ? "to many" : "to one", destinationName.quotedWord]
        if let inverseName { words.append("inverse \(inverseName.quotedWord)") }
        if isOrdered { words.append("ordered") }
        words.append(isOptional ? "optional" : "required")
        if isToMany { words.append("count \(minimumCount) \(maximumCount)") }
        words += extras
        if let versionHashModifier { words.append("modifier \(versionHashModifier.quotedWord)") }
        return words.joined(separator: " ")
    }
}

extension [String?] {
    package var modifierWords: String {
        map { $0?.quotedWord ?? "none" }.joined(separator: " ")
    }
}
