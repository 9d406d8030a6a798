package import ManagedModel
internal import ModelMigration
internal import RowStore

/// Some links of to-one relationships cannot be copied from a column of the row's old table. These links are first collected in
/// a separate table. Each new row then finds its link in that table.
extension MigrationStatements {
    /// The relationships that have a column in the new model, and get at least some of their links from other tables.
    package var lookedUpLinks: [RelationshipName] {
        plan.links.filter { name, sources in
            new.storage(of: name) == .column
                && (isMirrored(name)
                    || sources.contains {
                        $0.isReversed || old.storage(of: $0.relationship) != .column
                            || old.secondColumn(of: $0.relationship) != nil
                    })
        }.map(\.key).sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
    }

    /// Returns whether a relationship has become its own inverse, so that each old link counts for both ends.
    func isMirrored(_ name: RelationshipName) -> Bool {
        guard new.layout.isSymmetric(name) else { return false }
        return (plan.links[name] ?? []).contains { source in
            old.format == ManagedObjectModel.firstStoreFormat
                || !old.layout.isSymmetric(source.relationship)
        }
    }

    /// Returns the statements that collect the links of a to-one relationship.
    ///
    /// The first format stored the links of a one-to-one relationship twice, in a column on each side. The two columns could
    /// differ. The links of the side that still has a column take precedence. Then, links of the other side are added if they
    /// are missing. If several objects would have the same partner, the object with the lowest key gets the partner.
    ///
    /// - Parameters:
    ///   - table: The name of the table to make, as SQL.
    ///   - index: A free name for the index of the table, as SQL.
    ///   - tableNames: The current names of the old store's renamed tables, by their old names, as SQL.
    package func collect(
        _ link: RelationshipName, into table: String, index: String, _ tableNames: [String: String] = [:]
    ) -> [String] {
        let type = dialect.type(.integer)
        var sql = [
            "CREATE TABLE \(table) (owner \(type) PRIMARY KEY, linked \(type), linked_entity \(type), "
                + "position \(type))",
            "CREATE INDEX \(index) ON \(table) (linked)",
        ]
        let sources = plan.links[link] ?? []
        sql += insertions(of: linkSelects(link, sources, tableNames), into: table, onlyFree: false)
        let isFirstFormat = old.format == ManagedObjectModel.firstStoreFormat
        if isFirstFormat, isOneToOne(link), sources.count == 1 { sql.append(deletionOfConflicts(of: link, in: table)) }
        sql += insertions(
            of: linkSelects(link, secondSources(of: sources), tableNames), into: table, onlyFree: true)
        if isMirrored(link) {
            sql += insertions(
                of: linkSelects(link, sources, tableNames).map(LinkTable.reversed), into: table, onlyFree: true)
        }
        return sql
    }

    /// - Parameter onlyFree: Whether to leave out links to an object that already has a partner.
    private func insertions(of selects: [String], into table: String, onlyFree: Bool) -> [String] {
        selects.chunks(ofSize: MigrationStatements.termLimit).map { links in
            "INSERT INTO \(table) SELECT source, destination, destination_entity, source_position "
                + "FROM (\(links.joined(separator: " UNION ALL "))) AS links WHERE "
                + (onlyFree
                    ? "NOT EXISTS (SELECT 1 FROM \(table) AS other WHERE other.linked = links.destination)" : "true")
                + " ORDER BY source, destination ON CONFLICT DO NOTHING"
        }
    }

    /// Returns the columns with the second copy of the links. Only the first format stored the links of a one-to-one
    /// relationship twice.
    func secondSources(of sources: [LinkSource]) -> [LinkSource] {
        sources.compactMap { source in
            old.secondColumn(of: source.relationship).map {
                LinkSource(relationship: $0, isReversed: !source.isReversed)
            }
        }
    }

    private func deletionOfConflicts(of link: RelationshipName, in table: String) -> String {
        var conflicts = ["other.linked = link.linked"]
        if new.layout.isSymmetric(link) {
            // The relationship is its own inverse, so each link counts for both ends.
            conflicts += [
                "other.linked = link.owner AND other.owner <> link.linked",
                "other.owner = link.linked AND other.linked <> link.owner",
            ]
        }
        let conditions = conflicts.map {
            "EXISTS (SELECT 1 FROM \(table) AS other WHERE other.owner < link.owner AND \($0))"
        }
        return "DELETE FROM \(table) WHERE owner IN (SELECT owner FROM \(table) AS link WHERE "
            + conditions.joined(separator: " OR ") + ")"
    }

    private func isOneToOne(_ name: RelationshipName) -> Bool {
        let model = new.layout.model
        guard let relationship = model.relationship(name), !relationship.isToMany else { return false }
        return model.storedInverse(of: relationship)?.isToMany == false
    }
}

extension LinkTable {
    /// Returns a query for the same links with source and destination exchanged.
    static func reversed(_ select: String) -> String {
        // The columns must have the same order as in `select`, because UNION ALL combines the queries.
        "SELECT destination AS source, destination_entity AS source_entity, source AS destination, "
            + "source_entity AS destination_entity, destination_position AS source_position, "
            + "source_position AS destination_position FROM (\(select)) AS link"
    }
}

extension StoredModel {
    /// Returns the inverse of a one-to-one relationship, if the inverse's column stores the same links. This is the case only
    /// in the first format; returns nil in later formats.
    func secondColumn(of name: RelationshipName) -> RelationshipName? {
        guard format == ManagedObjectModel.firstStoreFormat else { return nil }
        guard let relationship = layout.model.relationship(name), !relationship.isToMany,
            let inverse = layout.model.inverse(of: relationship), inverse != name,
            layout.model.storedInverse(of: relationship)?.isToMany == false
        else { return nil }
        return inverse
    }
}

extension ModelLayout {
    /// Returns whether a relationship is its own inverse.
    func isSymmetric(_ name: RelationshipName) -> Bool {
        model.relationship(name).flatMap(model.inverse) == name
    }
}

extension MigrationStatements {
    /// Returns queries for the links of a relationship in the new model, with the entity indexes of the new model.
    ///
    /// - Parameter tableNames: The current names of the old store's renamed tables, by their old names, as SQL.
    func linkSelects(_ name: RelationshipName, _ tableNames: [String: String] = [:]) -> [String] {
        linkSelects(name, plan.links[name] ?? [], tableNames)
    }

    /// - Parameter links: The old relationships that contribute links to the new relationship.
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

    /// Returns whether a join table can be kept unchanged, with all its links.
    package func isKept(_ join: StoredJoin) -> Bool {
        guard let sources = plan.links[join.relationship], sources.count == 1, let source = sources.first,
            !source.isReversed, let kept = old.joins.first(where: { $0.relationship == source.relationship }),
            kept.createSQL.hasBytes(of: join.createSQL), !isMirrored(join.relationship),
            let destination = new.layout.model.relationship(join.relationship)?.destinationName,
            let oldRelationship = old.layout.model.relationship(kept.relationship)
        else { return false }
        return isKept(kept.relationship.entity, join.relationship.entity, kept.source.entity != nil)
            && isKept(oldRelationship.destinationName, destination, kept.destination.entity != nil)
    }

    /// Returns whether the old entity's whole family is in the new entity's family. If the table stores indexes of entities,
    /// the indexes must be the same.
    private func isKept(_ oldName: String, _ newName: String, _ storesNumbers: Bool) -> Bool {
        let numbers = numbers(under: newName)
        return old.family(oldName).allSatisfy { number in
            numbers[number].map { !storesNumbers || $0 == number } ?? false
        }
    }

    /// Returns the statement that fills a join table; nil if the table stays empty.
    ///
    /// - Parameters:
    ///   - tableNames: The current names of the old store's renamed tables, by their old names, as SQL.
    ///   - firstKey: The key of the first link. Each further link gets the next key.
    package func fill(
        _ join: StoredJoin, _ tableNames: [String: String] = [:], firstKey: Int64
    ) -> String? {
        let sources = plan.links[join.relationship] ?? []
        let selects = linkSelects(join.relationship, sources + secondSources(of: sources), tableNames)
        guard !selects.isEmpty else { return nil }
        // If the relationship is its own inverse, each link counts for both ends. For each end, the position that is stored in
        // its own link takes precedence.
        let isSymmetric = new.layout.isSymmetric(join.relationship)
        func position(_ name: String, ownLink: Int) -> String {
            guard isSymmetric else { return "max(\(name))" }
            let expressions = [ownLink, 1 - ownLink].map { "max(CASE is_mirrored WHEN \($0) THEN \(name) END)" }
            return "coalesce(\(expressions.joined(separator: ", ")))"
        }
        var columns = [(join.source.key, "source"), (join.destination.key, "destination")]
        if let entity = join.source.entity { columns.append((entity, "max(source_entity)")) }
        if let entity = join.destination.entity { columns.append((entity, "max(destination_entity)")) }
        if let column = join.destination.position {
            columns.append((column, position("destination_position", ownLink: 0)))
        }
        if let column = join.source.position { columns.append((column, position("source_position", ownLink: 1))) }
        var links = selects.map { "SELECT *, 0 AS is_mirrored FROM (\($0)) AS link" }
        if isSymmetric { links += selects.map { "SELECT *, 1 FROM (\(LinkTable.reversed($0))) AS link" } }
        // If several old relationships became one relationship of a parent entity, they can contain the same link. So insert
        // only one row for each group of equal links.
        return "INSERT INTO \(join.name) (\(StoredTable.key), \(columns.map(\.0).joined(separator: ", "))) "
            + "SELECT \(firstKey - 1) + row_number() OVER (ORDER BY source, destination), "
            + "\(columns.map(\.1).joined(separator: ", ")) FROM (\(links.joined(separator: " UNION ALL "))) AS links "
            + "GROUP BY source, destination"
    }
}
