extension EntityShape {
    /// One line per fact. Names are quoted, so that no two shapes give the same text.
    func canonicalForm(parentHash: ModelHash?) -> String {
        var lines = ["entity \(name.quoted) schema \(ManagedObjectModel.schemaFormat)"]
        if let parentName {
            lines.append("  parent \(parentName.quoted) \(parentHash.map(\.description) ?? "unknown")")
        }
        if isAbstract { lines.append("  abstract") }
        if let versionHashModifier { lines.append("  modifier \(versionHashModifier.quoted)") }
        lines += attributes.map { "  attribute \($0.canonicalForm)" }
        lines += relationships.map { "  relationship \($0.canonicalForm)" }
        lines += uniquenessConstraints.map { "  unique \($0.map(\.quoted).joined(separator: " "))" }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension AttributeShape {
    fileprivate var canonicalForm: String {
        var words = [path.map(\.quoted).joined(separator: "."), type.rawValue, isOptional ? "optional" : "required"]
        if let derivationExpression { words.append("derived \(derivationExpression.quoted)") }
        if versionHashModifiers.contains(where: { $0 != nil }) {
            words.append("modifier \(versionHashModifiers.modifierWords)")
        }
        return words.joined(separator: " ")
    }
}

extension RelationshipShape {
    fileprivate var canonicalForm: String {
        var words = [name.quoted, isToMany ? "to many" : "to one", destinationName.quoted]
        if let inverseName { words.append("inverse \(inverseName.quoted)") }
        if isOrdered { words.append("ordered") }
        words.append(isOptional ? "optional" : "required")
        if isToMany { words.append("count \(minimumCount) \(maximumCount)") }
        if let versionHashModifier { words.append("modifier \(versionHashModifier.quoted)") }
        return words.joined(separator: " ")
    }
}

extension [String?] {
    var modifierWords: String {
        map { $0?.quoted ?? "none" }.joined(separator: " ")
    }
}

extension String {
    /// The text in quotes, on one line; two texts that differ stay different.
    var quoted: String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\", "\"": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
