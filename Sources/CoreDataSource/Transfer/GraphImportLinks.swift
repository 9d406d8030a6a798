internal import RowStore

/// Collects the links of a graph until all objects of the graph exist.
struct GraphImportLinks {
    private struct Link {
        let object: ManagedObject
        /// The keys of the destination objects.
        let keys: [JSONValue]
        let location: String
    }

    private var groups: [EntityRelationship: [Link]] = [:]

    /// Adds the links of an object's relationship.
    mutating func add(_ object: ManagedObject, relationship index: Int, json: JSONValue, at location: String) throws {
        let isToMany = object.layout.relationships[index].isToMany
        let keys: [JSONValue]
        switch json {
        case .null: keys = []
        case .array(let elements) where isToMany: keys = elements
        case .array, .object:
            throw GraphImportLinks.invalidLinkError(location, "must be the key of one object, or null")
        default:
            if isToMany { throw GraphImportLinks.invalidLinkError(location, "must be a list of keys") }
            keys = [json]
        }
        let group = EntityRelationship(entity: object.layout.index, relationship: index)
        groups[group, default: []].append(Link(object: object, keys: keys, location: location))
    }

    /// Sets all links, and checks that they do not contradict each other.
    func apply(_ contexts: [PrivateContext], _ layout: ModelLayout, _ keys: TransferKeys) throws {
        // Set to-many relationships first, because their lists can be ordered. The to-one links of their inverses then already
        // exist, so setting them does not change the order.
        let sorted = groups.sorted { lhs, rhs in
            let isToMany = [lhs, rhs].map {
                layout.entities[$0.key.entity].relationships[$0.key.relationship].isToMany
            }
            if isToMany[0] != isToMany[1] { return isToMany[0] }
            return (lhs.key.entity, lhs.key.relationship) < (rhs.key.entity, rhs.key.relationship)
        }
        let paths = Set(groups.keys.map { layout.entities[$0.entity].relationships[$0.relationship].path })
        var checked: [(relationship: Int, [(link: Link, ends: [LinkEnd])])] = []
        for (group, links) in sorted {
            let relationship = layout.entities[group.entity].relationships[group.relationship]
            guard let context = links[0].object.context as? PrivateContext else { continue }
            // The key column is not needed if no link of the group has a destination.
            let named = links.first { !$0.keys.isEmpty }
            let column = try named.map { try keys.destination(relationship, layout, $0.location) } ?? 0
            try preload(links, of: relationship, column: column, in: context)
            if named != nil {
                try checkNoDuplicate(links, of: relationship, column: column, layout: layout, in: context)
            }
            FetchGroup.gather(links.map(\.object))
            var ends: [(link: Link, ends: [LinkEnd])] = []
            // Links can contradict each other in two cases: a destination can have only one source, or the graph
            // contains both sides of the relationship.
            let canContradict =
                relationship.inverse.map { inverse in
                    paths.contains(inverse) || layout.model.relationship(inverse)?.isToMany == false
                } ?? false
            for (index, link) in links.enumerated() {
                try checkCancellation(index)
                let others = try destinations(of: link, by: relationship, column: column, in: context)
                let editor = LinkEditor(context, link.object, group.relationship)
                if relationship.isToMany { editor.set(others) } else { editor.set(others.first) }
                if canContradict { ends.append((link, others.map { LinkEnd($0) })) }
            }
            if canContradict { checked.append((group.relationship, ends)) }
        }
        for context in contexts { try context.checkRefusal() }
        for (relationship, links) in checked { try check(links, relationship) }
    }

    private func destinations(
        of link: Link, by relationship: RelationshipLayout, column: Int, in context: PrivateContext
    ) throws -> [ManagedObject] {
        var destinations: Set<LinkEnd> = []
        return try link.keys.enumerated().map { index, key in
            let location = relationship.isToMany ? "\(link.location)[\(index)]" : link.location
            guard let value = value(key, of: relationship, column: column, in: context) else {
                let attribute = context.bindings[relationship.destination].layout.columns[column].attribute
                throw GraphImportLinks.invalidLinkError(
                    location, AttributeCoding.problem(key, attribute?.type ?? .string))
            }
            for entity in relationship.destinationFamily {
                guard let other = try context.findObject(for: value, column, in: entity) else { continue }
                guard destinations.insert(LinkEnd(other)).inserted else {
                    throw GraphImportLinks.invalidLinkError(location, "is listed twice. List each object once")
                }
                return other
            }
            let name = relationship.description.destinationName
            throw GraphImportLinks.invalidLinkError(
                location,
                "leads to a \(name) that is neither in the graph nor in the store. Add the object, or remove the link",
                entity: name)
        }
    }

    private func value(
        _ key: JSONValue, of relationship: RelationshipLayout, column: Int, in context: PrivateContext
    ) -> RowValue? {
        let destination = context.bindings[relationship.destination].layout
        guard key != .null, let attribute = destination.columns[column].attribute else { return nil }
        return AttributeCoding.value(key, attribute.type)
    }

    /// Reads the destinations of all links together.
    private func preload(
        _ links: [Link], of relationship: RelationshipLayout, column: Int, in context: PrivateContext
    ) throws {
        let values = links.lazy.flatMap(\.keys).compactMap { value($0, of: relationship, column: column, in: context) }
        for entity in relationship.destinationFamily {
            guard let editor = context.editor(ofEntity: entity) as? PrivateContext, editor.bindings[entity].isOwned,
                !editor.bindings[entity].hasAllRows
            else { continue }
            try editor.reading { () throws(DataSourceError) in
                try editor.preload(editor.bindings[entity], column, values)
            }
        }
    }

    /// Throws if a link leads to a key that two objects have. This can happen only if the key has no uniqueness constraint.
    private func checkNoDuplicate(
        _ links: [Link], of relationship: RelationshipLayout, column: Int, layout: ModelLayout,
        in context: PrivateContext
    ) throws {
        let destination = layout.entities[relationship.destination]
        guard !TransferKeys.isUnique(column, destination), let attribute = destination.columns[column].attribute else {
            return
        }
        let values = Set(
            links.lazy.flatMap(\.keys).compactMap { value($0, of: relationship, column: column, in: context) })
        guard let duplicate = try context.duplicate(of: Array(values), column, in: relationship.destinationFamily)
        else {
            return
        }
        let json = try AttributeCoding.json(duplicate.row, column, as: attribute, in: duplicate.layout)
        let location = links.first { $0.keys.contains(json) }?.location ?? relationship.name
        throw TransferKeys.duplicateError(location, json, of: destination, column: column)
    }

    /// Throws if the links differ from the graph after all links were set.
    private func check(_ links: [(link: Link, ends: [LinkEnd])], _ relationship: Int) throws {
        FetchGroup.gather(links.map(\.link.object))
        for (link, wanted) in links {
            guard let context = link.object.context as? PrivateContext else { continue }
            let ends = try context.relatedObjects(of: link.object, at: relationship).map { LinkEnd($0) }
            let isOrdered = link.object.layout.relationships[relationship].description.isOrdered
            guard isOrdered ? ends == wanted : Set(ends) == Set(wanted) else {
                throw GraphImportLinks.invalidLinkError(
                    link.location,
                    "contradicts other links in the graph. Write each link on one side, and give a to-one relationship at most one object"
                )
            }
        }
    }

    private static func invalidLinkError(_ location: String, _ problem: String, entity: String? = nil)
        -> DataSourceError
    {
        DataSourceError(.invalidGraph, "\(location) \(problem).", entityName: entity)
    }
}
