internal import ManagedModel
internal import RowStore

/// Links of to-one relationships that a row doesn't simply keep from its old table. They are first collected in a table of
/// their own, in which each row finds its link.
extension StoreMigration {
    /// The relationships that have a column and get their links from other tables, or also from others.
    var lookedUpLinks: [RelationshipName] {
        plan.links.filter { name, sources in
            schema.storage(of: name) == .column
                && (isMirrored(name)
                    || sources.contains {
                        $0.isReversed || oldSchema.storage(of: $0.relationship) != .column
                            || oldSchema.secondColumn(of: $0.relationship) != nil
                    })
        }.map(\.key).sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
    }

    /// Whether a relationship has become its own inverse, so that each link counts from both ends.
    func isMirrored(_ name: RelationshipName) -> Bool {
        guard schema.layout.isSymmetric(name) else { return false }
        return (plan.links[name] ?? []).contains { source in
            oldSchema.format == ManagedObjectModel.firstStoreFormat
                || !oldSchema.layout.isSymmetric(source.relationship)
        }
    }

    /// Collects the links of a to-one relationship.
    ///
    /// In the first format, the two columns of a one-to-one relationship could differ. The links of the side that has the
    /// column now take precedence; links that only the other side has are added. If several objects would have the same
    /// partner, the one with the lowest key gets it.
    ///
    /// - Parameter index: A name that no other index has.
    func collect(
        _ link: RelationshipName, into table: String, index: String, _ tableNames: [String: String]
    ) throws(DataSourceError) {
        let (connection, name, index) = (probe.connection, table.quoted, index.quoted)
        try connection.run(
            "CREATE TABLE \(name) (owner INTEGER PRIMARY KEY, linked INTEGER, linked_entity INTEGER, position INTEGER)")
        try connection.run("CREATE INDEX \(index) ON \(name) (linked)")
        let sources = plan.links[link] ?? []
        try insert(linkSelects(link, sources, tableNames), into: name, onlyFree: false)
        let isFirstFormat = oldSchema.format == ManagedObjectModel.firstStoreFormat
        if isFirstFormat, isOneToOne(link), sources.count == 1 {
            try dropRivals(of: link, in: name)
        }
        try insert(linkSelects(link, secondSources(of: sources), tableNames), into: name, onlyFree: true)
        if isMirrored(link) {
            try insert(linkSelects(link, sources, tableNames).map(LinkTable.reversed), into: name, onlyFree: true)
        }
        try connection.run("DROP INDEX \(index)")
    }

    /// - Parameter onlyFree: Whether objects that already have a partner get no other one.
    private func insert(_ selects: [String], into table: String, onlyFree: Bool) throws(DataSourceError) {
        // As many as SQLite accepts in one query.
        for start in stride(from: 0, to: selects.count, by: StoreMigration.entityLimit) {
            let links = selects[start..<min(selects.count, start + StoreMigration.entityLimit)]
            try probe.connection.run(
                "INSERT OR IGNORE INTO \(table) SELECT source, destination, destination_entity, source_position "
                    + "FROM (\(links.joined(separator: " UNION ALL ")))"
                    + (onlyFree ? " WHERE destination NOT IN (SELECT linked FROM \(table))" : "")
                    + " ORDER BY source, destination")
        }
    }

    /// The other columns that the first format had for the same links.
    func secondSources(of sources: [LinkSource]) -> [LinkSource] {
        sources.compactMap { source in
            oldSchema.secondColumn(of: source.relationship).map {
                LinkSource(relationship: $0, isReversed: !source.isReversed)
            }
        }
    }

    private func dropRivals(of link: RelationshipName, in table: String) throws(DataSourceError) {
        var rivals = ["other.linked = link.linked"]
        if schema.layout.isSymmetric(link) {
            // Both ends count.
            rivals += [
                "other.linked = link.owner AND other.owner <> link.linked",
                "other.owner = link.linked AND other.linked <> link.owner",
            ]
        }
        let tests = rivals.map { "EXISTS (SELECT 1 FROM \(table) AS other WHERE other.owner < link.owner AND \($0))" }
        try probe.connection.run(
            "DELETE FROM \(table) WHERE owner IN (SELECT owner FROM \(table) AS link WHERE "
                + tests.joined(separator: " OR ") + ")")
    }

    private func isOneToOne(_ name: RelationshipName) -> Bool {
        let model = schema.layout.model
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
            + "source_position AS destination_position FROM (\(select))"
    }
}

extension StoreSchema {
    /// The inverse of a one-to-one relationship whose links the first format had in a second column.
    func secondColumn(of name: RelationshipName) -> RelationshipName? {
        guard format == ManagedObjectModel.firstStoreFormat else { return nil }
        let side = RelationshipSide(layout.model, name)
        guard let relationship = side.relationship, !relationship.isToMany, let inverse = side.inverse, inverse != name,
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
