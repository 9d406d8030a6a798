internal import ManagedModel
internal import RowStore

extension StoreMigration {
    /// Queries for the links of a relationship of the new model, with its entity numbers.
    ///
    /// - Parameter tableNames: The present names of tables of the old store that were renamed.
    func linkSelects(_ name: RelationshipName, _ tableNames: [String: String] = [:]) -> [String] {
        linkSelects(name, plan.links[name] ?? [], tableNames)
    }

    /// - Parameter links: The links of the old model that it gets.
    func linkSelects(_ name: RelationshipName, _ links: [LinkSource], _ tableNames: [String: String]) -> [String] {
        guard let relationship = RelationshipSide(schema.layout.model, name).relationship else { return [] }
        let sources = numbers(under: name.entity)
        let destinations = numbers(under: relationship.destinationName)
        return links.flatMap { link in
            oldSchema.linkTables(of: link.relationship).compactMap { table in
                (link.isReversed ? table.reversed : table)
                    .select(sources, destinations, from: tableNames[table.name] ?? table.name)
            }
        }
    }

    /// Whether the pairs of a join table stay unchanged.
    func isKept(_ join: JoinTable) -> Bool {
        guard let sources = plan.links[join.relationship], sources.count == 1, let source = sources.first,
            !source.isReversed, let old = oldSchema.joins.first(where: { $0.relationship == source.relationship }),
            old.createSQL == join.createSQL, !isMirrored(join.relationship),
            let destination = RelationshipSide(schema.layout.model, join.relationship).relationship?.destinationName,
            let oldOne = RelationshipSide(oldSchema.layout.model, old.relationship).relationship
        else { return false }
        return isKept(old.relationship.entity, join.relationship.entity, old.source.entity != nil)
            && isKept(oldOne.destinationName, destination, old.destination.entity != nil)
    }

    /// Whether all entities below the old one are still below the new one, and have the same numbers if these are stored.
    private func isKept(_ oldName: String, _ newName: String, _ holdsNumbers: Bool) -> Bool {
        let numbers = numbers(under: newName)
        return oldSchema.family(oldName).allSatisfy { number in
            numbers[number].map { !holdsNumbers || $0 == number } ?? false
        }
    }

    /// Fills a join table.
    ///
    /// - Parameter firstKey: The key of the first link.
    /// - Returns: How many links it has.
    func fill(
        _ join: JoinTable, _ tableNames: [String: String], firstKey: Int64
    ) throws(DataSourceError) -> Int64 {
        let sources = plan.links[join.relationship] ?? []
        let selects = linkSelects(join.relationship, sources + secondSources(of: sources), tableNames)
        guard !selects.isEmpty else { return 0 }
        // Each link of a relationship that is its own inverse counts from both ends. An end's own value takes precedence.
        let isSymmetric = schema.layout.isSymmetric(join.relationship)
        func place(_ name: String, ownLink: Int) -> String {
            guard isSymmetric else { return "max(\(name))" }
            let terms = [ownLink, 1 - ownLink].map { "max(CASE is_mirrored WHEN \($0) THEN \(name) END)" }
            return "coalesce(\(terms.joined(separator: ", ")))"
        }
        var columns = [(join.source.key, "source"), (join.destination.key, "destination")]
        if let entity = join.source.entity { columns.append((entity, "max(source_entity)")) }
        if let entity = join.destination.entity { columns.append((entity, "max(destination_entity)")) }
        if let column = join.destination.position {
            columns.append((column, place("destination_position", ownLink: 0)))
        }
        if let column = join.source.position { columns.append((column, place("source_position", ownLink: 1))) }
        var links = selects.map { "SELECT *, 0 AS is_mirrored FROM (\($0))" }
        if isSymmetric { links += selects.map { "SELECT *, 1 FROM (\(LinkTable.reversed($0)))" } }
        // The same pair can come twice from relationships that moved up into one.
        try probe.connection.run(
            "INSERT INTO \(join.name.quoted) (\(EntityTable.keyName.quoted), "
                + "\(columns.map(\.0.quoted).joined(separator: ", "))) "
                + "SELECT \(firstKey - 1) + row_number() OVER (ORDER BY source, destination), "
                + "\(columns.map(\.1).joined(separator: ", ")) FROM (\(links.joined(separator: " UNION ALL "))) "
                + "GROUP BY source, destination")
        let count = try probe.connection.values("SELECT count(*) FROM \(join.name.quoted)").first?.first
        return if case .integer(let count) = count { count } else { 0 }
    }
}
