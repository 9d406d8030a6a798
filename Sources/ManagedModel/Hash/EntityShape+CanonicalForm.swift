extension EntityShape {
    /// One line for each fact. Names are quoted, so that different shapes never have the same lines.
    func canonicalForm(parentHash: ModelHash?) -> String {
        var lines = ["entity \(name.quotedWord) schema \(ManagedObjectModel.schemaFormat)"]
        if let parentName {
            lines.append("  parent \(parentName.quotedWord) \(parentHash.map(\.description) ?? "unknown")")
        }
        if isAbstract { lines.append("  abstract") }
        if let versionHashModifier { lines.append("  modifier \(versionHashModifier.quotedWord)") }
        lines += attributes.map { "  attribute \($0.form())" }
        lines += relationships.map { "  relationship \($0.form())" }
        lines += uniquenessConstraints.map { "  unique \($0.map(\.quotedWord).joined(separator: " "))" }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension AttributeShape {
    /// - Parameter extras: Words that the canonical form leaves out.
    package func form(with extras: [String] = []) -> String {
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
    /// - Parameter extras: Words that the canonical form leaves out.
    package func form(with extras: [String] = []) -> String {
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
