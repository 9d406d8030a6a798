package import ManagedModel
internal import ModelMigration
internal import RowStore

/// Links of to-one relationships that a row doesn't simply keep from its old table. They are first collected in a table of
/// their own, in which each row finds its link.
extension MigrationStatements {
    /// The relationships that have a column and get their links from other tables, or also from others.
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

    /// Whether a relationship has become its own inverse, so that each link counts from both ends.
    func isMirrored(_ name: RelationshipName) -> Bool {
        guard new.layout.isSymmetric(name) else { return false }
        return (plan.links[name] ?? []).contains { source in
            old.format == ManagedObjectModel.firstStoreFormat
                || !old.layout.isSymmetric(source.relationship)
        }
    }

    /// The statements that collect the links of a to-one relationship.
    ///
    /// In the first format, the two columns of a one-to-one relationship could differ. The links of the side that has the
    /// column now take precedence; links that only the other side has are added. If several objects would have the same
    /// partner, the one with the lowest key gets it.
    ///
    /// - Parameters:
    ///   - table: The name of the table to make, as SQL.
    ///   - index: The name of its index, as SQL, which nothing else has.
    ///   - tableNames: The present names of tables of the old store that were renamed, as SQL.
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
        if isFirstFormat, isOneToOne(link), sources.count == 1 { sql.append(deletionOfRivals(of: link, in: table)) }
        sql += insertions(
            of: linkSelects(link, secondSources(of: sources), tableNames), into: table, onlyFree: true)
        if isMirrored(link) {
            sql += insertions(
                of: linkSelects(link, sources, tableNames).map(LinkTable.reversed), into: table, onlyFree: true)
        }
        return sql
    }

    /// - Parameter onlyFree: Whether objects that already have a partner get no other one.
    private func insertions(of selects: [String], into table: String, onlyFree: Bool) -> [String] {
        stride(from: 0, to: selects.count, by: MigrationStatements.termLimit).map { start in
            let links = selects[start..<min(selects.count, start + MigrationStatements.termLimit)]
            return "INSERT INTO \(table) SELECT source, destination, destination_entity, source_position "
                + "FROM (\(links.joined(separator: " UNION ALL "))) AS links WHERE "
                + (onlyFree
                    ? "NOT EXISTS (SELECT 1 FROM \(table) AS other WHERE other.linked = links.destination)" : "true")
                + " ORDER BY source, destination ON CONFLICT DO NOTHING"
        }
    }

    /// The other columns that the first format had for the same links.
    func secondSources(of sources: [LinkSource]) -> [LinkSource] {
        sources.compactMap { source in
            old.secondColumn(of: source.relationship).map {
                LinkSource(relationship: $0, isReversed: !source.isReversed)
            }
        }
    }

    private func deletionOfRivals(of link: RelationshipName, in table: String) -> String {
        var rivals = ["other.linked = link.linked"]
        if new.layout.isSymmetric(link) {
            // Both ends count.
            rivals += [
                "other.linked = link.owner AND other.owner <> link.linked",
                "other.owner = link.linked AND other.linked <> link.owner",
            ]
        }
        let tests = rivals.map { "EXISTS (SELECT 1 FROM \(table) AS other WHERE other.owner < link.owner AND \($0))" }
        return "DELETE FROM \(table) WHERE owner IN (SELECT owner FROM \(table) AS link WHERE "
            + tests.joined(separator: " OR ") + ")"
    }

    private func isOneToOne(_ name: RelationshipName) -> Bool {
        let model = new.layout.model
        guard let relationship = model.relationship(name), !relationship.isToMany else { return false }
        return model.storedInverse(of: relationship)?.isToMany == false
    }
}

extension LinkTable {
    /// A query for links with their ends exchanged.
    static func reversed(_ select: String) -> String {
        // The columns, in the order of every such query.
        "SELECT destination AS source, destination_entity AS source_entity, source AS destination, "
            + "source_entity AS destination_entity, destination_position AS source_position, "
            + "source_position AS destination_position FROM (\(select)) AS link"
    }
}

extension StoredModel {
    /// The inverse of a one-to-one relationship whose links the first format had in a second column.
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
    /// Whether a relationship is its own inverse.
    func isSymmetric(_ name: RelationshipName) -> Bool {
        model.relationship(name).flatMap(model.inverse) == name
    }
}
