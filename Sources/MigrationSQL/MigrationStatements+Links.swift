internal import ManagedModel
internal import ModelMigration
internal import RowStore

extension MigrationStatements {
    /// Queries for the links of a relationship of the new model, with its entity numbers.
    ///
    /// - Parameter tableNames: The present names of tables of the old store that were renamed, as SQL.
    func linkSelects(_ name: RelationshipName, _ tableNames: [String: String] = [:]) -> [String] {
        linkSelects(name, plan.links[name] ?? [], tableNames)
    }

    /// - Parameter links: The links of the old model that it gets.
    func linkSelects(_ name: RelationshipName, _ links: [LinkSource], _ tableNames: [String: String]) -> [String] {
        guard let relationship = new.layout.model.relationship(name) else { return [] }
        let sources = numbers(under: name.entity)
        let destinations = numbers(under: relationship.destinationName)
        return links.flatMap { link in
            old.linkTables(of: link.relationship).compactMap { table in
                (link.isReversed ? table.reversed : table)
                    .select(
                        sources, destinations, from: tableNames[table.name] ?? table.name, dialect.type(.integer))
            }
        }
    }

    /// Whether the pairs of a join table stay unchanged.
    package func isKept(_ join: StoredJoin) -> Bool {
        guard let sources = plan.links[join.relationship], sources.count == 1, let source = sources.first,
            !source.isReversed, let kept = old.joins.first(where: { $0.relationship == source.relationship }),
            kept.createSQL.hasBytes(of: join.createSQL), !isMirrored(join.relationship),
            let destination = new.layout.model.relationship(join.relationship)?.destinationName,
            let oldOne = old.layout.model.relationship(kept.relationship)
        else { return false }
        return isKept(kept.relationship.entity, join.relationship.entity, kept.source.entity != nil)
            && isKept(oldOne.destinationName, destination, kept.destination.entity != nil)
    }

    /// Whether all entities below the old one are still below the new one, and have the same numbers if these are stored.
    private func isKept(_ oldName: String, _ newName: String, _ holdsNumbers: Bool) -> Bool {
        let numbers = numbers(under: newName)
        return old.family(oldName).allSatisfy { number in
            numbers[number].map { !holdsNumbers || $0 == number } ?? false
        }
    }

    /// Fills a table of links; nil if it stays empty.
    ///
    /// - Parameters:
    ///   - tableNames: The present names of tables of the old store that were renamed, as SQL.
    ///   - firstKey: The key of the first link.
    package func fill(
        _ join: StoredJoin, _ tableNames: [String: String] = [:], firstKey: Int64
    ) -> String? {
        let sources = plan.links[join.relationship] ?? []
        let selects = linkSelects(join.relationship, sources + secondSources(of: sources), tableNames)
        guard !selects.isEmpty else { return nil }
        // Each link of a relationship that is its own inverse counts from both ends. An end's own value takes precedence.
        let isSymmetric = new.layout.isSymmetric(join.relationship)
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
        var links = selects.map { "SELECT *, 0 AS is_mirrored FROM (\($0)) AS link" }
        if isSymmetric { links += selects.map { "SELECT *, 1 FROM (\(LinkTable.reversed($0))) AS link" } }
        // The same pair can come twice from relationships that moved up into one.
        return "INSERT INTO \(join.name) (\(StoredTable.key), \(columns.map(\.0).joined(separator: ", "))) "
            + "SELECT \(firstKey - 1) + row_number() OVER (ORDER BY source, destination), "
            + "\(columns.map(\.1).joined(separator: ", ")) FROM (\(links.joined(separator: " UNION ALL "))) AS links "
            + "GROUP BY source, destination"
    }
}
