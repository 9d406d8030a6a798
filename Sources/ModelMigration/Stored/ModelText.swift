package import ManagedModel

extension ManagedObjectModel {
    /// The model in the form in which a store keeps it, so that a later version of the app can plan a migration of the rows.
    ///
    /// It is the canonical form together with what a migration needs and that form leaves out: renaming identifiers, composites
    /// as they are declared, transient relationships, the order of the entities, which determines their numbers, and the name of
    /// the configuration. The first line contains the hash of the rest.
    package var storedText: String {
        var body = configurationName.map { "configuration \($0.quotedWord)\n" } ?? ""
        for composite in composites {
            body += "composite \(composite.name.quotedWord)\n"
            body += composite.attributes.compactMap(\.storedLine).joined()
        }
        let lookup = ModelLookup(self)
        for entity in entities { body += entity.storedLines(lookup) }
        return ManagedObjectModel.storedHead(of: body) + "\n" + body
    }

    static func storedHead(of body: String) -> String {
        "stored model schema \(schemaFormat) hash \(ModelHash(hashing: body))"
    }
}

extension EntityDescription {
    fileprivate func storedLines(_ lookup: ModelLookup) -> String {
        var lines = [
            "entity \((["\(name.quotedWord)"] + renamingIdentifier.words(after: "from")).joined(separator: " "))"
        ]
        if let parentName { lines.append("  parent \(parentName.quotedWord)") }
        if isAbstract { lines.append("  abstract") }
        if let versionHashModifier { lines.append("  modifier \(versionHashModifier.quotedWord)") }
        let unique = EntityShape(of: self, in: lookup).uniquenessConstraints
        return lines.map { $0 + "\n" }.joined() + attributes.compactMap(\.storedLine).joined()
            + relationships.map(\.storedLine).joined()
            + unique.map { "  unique \($0.map(\.quotedWord).joined(separator: " "))\n" }.joined()
    }
}

extension AttributeDescription {
    /// Nil for a transient one, which no store has.
    fileprivate var storedLine: String? {
        guard !isTransient else { return nil }
        let shape = AttributeShape(
            path: [name], type: type, isOptional: isOptional, derivationExpression: derivationExpression,
            versionHashModifiers: [versionHashModifier])
        let extras = compositeName.words(after: "composite") + renamingIdentifier.words(after: "from")
        return "  attribute \(shape.form(with: extras))\n"
    }
}

extension RelationshipDescription {
    fileprivate var storedLine: String {
        let extras = (isTransient ? ["transient"] : []) + renamingIdentifier.words(after: "from")
        return "  relationship \(RelationshipShape(self).form(with: extras))\n"
    }
}

extension String? {
    fileprivate func words(after word: String) -> [String] {
        map { [word, $0.quotedWord] } ?? []
    }
}
