internal import ManagedModel
internal import RowStore

extension StoreMigration {
    /// Queries for the links of a relationship of the new model, in its numbers.
    ///
    /// - Parameter tableNames: The names that tables of the old store have now, where they have others.
    func linkSelects(_ name: RelationshipName, _ tableNames: [String: String] = [:]) -> [String] {
        guard let relationship = RelationshipSide(schema.layout.model, name).relationship else { return [] }
        let sources = numbers(under: name.entity)
        let destinations = numbers(under: relationship.destinationName)
        return (plan.links[name] ?? []).flatMap { link in
            oldSchema.linkTables(of: link.relationship).compactMap { table in
                (link.isReversed ? table.reversed : table)
                    .select(sources, destinations, from: tableNames[table.name] ?? table.name)
            }
        }
    }

    /// The relationships that have a column and get their links from other tables.
    var lookedUpLinks: [RelationshipName] {
        plan.links.filter { name, sources in
            sources.contains(where: \.isReversed)
                && RelationshipSide(schema.layout.model, name).relationship?.isToMany == false
        }.map(\.key).sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
    }

    /// Whether the pairs of a join table stay as they are.
    func isKept(_ join: JoinTable) -> Bool {
        guard let sources = plan.links[join.relationship], sources.count == 1, let source = sources.first,
            !source.isReversed, let old = oldSchema.joins.first(where: { $0.relationship == source.relationship }),
            old.createSQL == join.createSQL,
            let destination = RelationshipSide(schema.layout.model, join.relationship).relationship?.destinationName,
            let oldOne = RelationshipSide(oldSchema.layout.model, old.relationship).relationship
        else { return false }
        return isKept(old.relationship.entity, join.relationship.entity, old.holdsSourceEntity)
            && isKept(oldOne.destinationName, destination, old.holdsDestinationEntity)
    }

    /// Whether all entities under the old one are still under the new one, and have their numbers if those are stored.
    private func isKept(_ oldName: String, _ newName: String, _ holdsNumbers: Bool) -> Bool {
        let numbers = numbers(under: newName)
        return oldSchema.family(oldName).allSatisfy { number in
            numbers[number].map { !holdsNumbers || $0 == number } ?? false
        }
    }

    /// Fills a join table.
    func fill(_ join: JoinTable, _ tableNames: [String: String]) throws(DataSourceError) {
        var columns = [("\"source\"", "source"), ("\"destination\"", "destination")]
        if join.holdsSourceEntity { columns.append(("\"source.entity\"", "source_entity")) }
        if join.holdsDestinationEntity { columns.append(("\"destination.entity\"", "destination_entity")) }
        if join.holdsDestinationPosition { columns.append(("\"destination.position\"", "destination_position")) }
        if join.holdsSourcePosition { columns.append(("\"source.position\"", "source_position")) }
        for select in linkSelects(join.relationship, tableNames) {
            // The same pair can come twice from relationships that moved up into one.
            try probe.connection.run(
                "INSERT OR IGNORE INTO \(join.name.quoted) (\(columns.map(\.0).joined(separator: ", "))) "
                    + "SELECT \(columns.map(\.1).joined(separator: ", ")) FROM (\(select))")
        }
    }
}
