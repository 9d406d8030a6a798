internal import ManagedModel

extension ModelBuilder {
    mutating func entity(_ element: MarkupElement) throws(ModelReaderError) -> EntityDescription {
        let name = try required("name", of: element)
        lines.note(element.line, of: name)
        var entity = EntityDescription(
            name: name,
            className: element.filled("representedClassName").flatMap { $0 == "NSManagedObject" ? nil : $0 },
            parentName: element.filled("parentEntity"),
            isAbstract: flag("isAbstract", of: element),
            uniquenessConstraints: try constraints(of: element),
            userInfo: userInfo(of: element),
            versionHashModifier: element.filled("versionHashModifier"),
            renamingIdentifier: element.filled("elementID"),
            codeGeneration: codeGeneration(of: element))
        for child in element.children(named: "attribute") {
            entity.attributes.append(try attribute(child, in: name))
        }
        for child in element.children(named: "relationship") {
            entity.relationships.append(try relationship(child, in: name))
        }
        for child in element.children(named: "fetchedProperty") {
            entity.fetchedProperties.append(try fetchedProperty(child, in: name))
        }
        entity.indexes = try indexes(of: element)
        return entity
    }

    private mutating func codeGeneration(of element: MarkupElement) -> CodeGeneration {
        guard let word = element.filled("codeGenerationType") else { return .manual }
        if let codeGeneration = CodeGeneration(rawValue: word) { return codeGeneration }
        log.warn(element.line, "codeGenerationType=\"\(word)\" is unknown. No code is generated.")
        return .manual
    }

    private mutating func constraints(of element: MarkupElement) throws(ModelReaderError) -> [[String]] {
        var constraints: [[String]] = []
        for list in element.children(named: "uniquenessConstraints") {
            for constraint in list.children(named: "uniquenessConstraint") {
                var names: [String] = []
                for part in constraint.children(named: "constraint") { names.append(try required("value", of: part)) }
                guard !names.isEmpty else {
                    log.warn(constraint.line, "A uniqueness constraint names no attribute. It is ignored.")
                    continue
                }
                constraints.append(names)
            }
        }
        return constraints
    }
}
