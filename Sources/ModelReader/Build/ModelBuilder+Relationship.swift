internal import ManagedModel

extension ModelBuilder {
    mutating func relationship(
        _ element: MarkupElement, in owner: String
    ) throws(ModelReaderError) -> RelationshipDescription {
        let name = try required("name", of: element)
        lines.note(element.line, of: name, in: owner)
        let isToMany = flag("toMany", of: element)
        let isOrdered = flag("ordered", of: element)
        if isOrdered, !isToMany { log.warn(element.line, "\(name) is to-one and cannot be ordered.") }
        return RelationshipDescription(
            name: name,
            destinationName: try required("destinationEntity", of: element),
            inverseName: inverseName(of: element, path: PropertyPath(owner: owner, property: name)),
            isToMany: isToMany,
            isOrdered: isOrdered && isToMany,
            isOptional: flag("optional", of: element),
            isTransient: flag("transient", of: element),
            minimumCount: try count("minCount", of: element) ?? 0,
            maximumCount: try maximumCount(of: element, isToMany: isToMany),
            deleteRule: deleteRule(of: element),
            versionHashModifier: element.filled("versionHashModifier"),
            renamingIdentifier: element.filled("elementID"),
            userInfo: userInfo(of: element))
    }

    /// Generators write -1 for no limit.
    private mutating func maximumCount(
        of element: MarkupElement, isToMany: Bool
    ) throws(ModelReaderError) -> Int {
        let count = try count("maxCount", of: element, from: -1)
        guard !isToMany else { return max(0, count ?? 0) }
        if let count, count > 1 {
            log.warn(element.line, "\(element["name"] ?? "") is to-one: maxCount=\"\(count)\" is ignored.")
        }
        return 1
    }

    private mutating func inverseName(of element: MarkupElement, path: PropertyPath) -> String? {
        let name = element.filled("inverseName")
        let entity = element.filled("inverseEntity")
        if (name == nil) != (entity == nil) {
            let known = name == nil ? "inverseEntity" : "inverseName"
            let missing = name == nil ? "inverseName" : "inverseEntity"
            log.warn(element.line, "\(path.property) has an \(known) but no \(missing).")
        }
        if name != nil { inverseEntities[path] = entity }
        return name
    }

    private mutating func deleteRule(of element: MarkupElement) -> DeleteRule {
        guard let word = element.filled("deletionRule") else { return .nullify }
        if let rule = DeleteRule(rawValue: word) { return rule }
        log.warn(element.line, "deletionRule=\"\(word)\" is unknown. Nullify is assumed.")
        return .nullify
    }
}
