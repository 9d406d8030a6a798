internal import ManagedModel
internal import ModelMigration
internal import RowStore

extension MigrationStatements {
    /// Checks that no object loses data.
    ///
    /// - Throws: `notMigratable`, which names the data that would be lost, and the number of objects that have the data.
    func checkLosses(_ connection: some SQLConnection) throws(DataSourceError) {
        var losses: [String] = []
        for loss in plan.losses {
            var count = 0
            for query in countQueries(loss) { count += try connection.number(query) }
            if count > 0 { losses.append(loss.words(objectCount: count)) }
        }
        guard !losses.isEmpty else { return }
        throw DataSourceError(
            notMigratable:
                "A migration would lose data: \(losses.joined(separator: "; ")). Open the store with an app whose model has this "
                + "data, or with the policy .migrate(otherwise:) to drop it.")
    }

    /// Returns queries whose sum is the number of objects that have the data of a loss.
    private func countQueries(_ loss: MigrationLoss) -> [String] {
        switch loss.origin {
        case .objects(let entity):
            return old.table(entity).map { ["SELECT count(*) FROM \($0.name)"] } ?? []
        case .values(let entities, let column):
            return entities.compactMap { old.table($0) }.map {
                "SELECT count(*) FROM \($0.name) WHERE \($0.expressions[column]) IS NOT NULL"
            }
        case .links(let name, let ends):
            return links(name, ends).map { ["SELECT count(DISTINCT source) FROM \($0)"] } ?? []
        case .order(let name, let ends):
            // A single link has no order.
            return links(name, [ends]).map {
                [
                    "SELECT count(*) FROM (SELECT source FROM \($0) GROUP BY source, source_entity "
                        + "HAVING count(destination_position) > 1) AS owners"
                ]
            } ?? []
        }
    }

    /// Returns the links of a relationship between some objects, as a table of a query; nil if there can be none.
    private func links(_ name: RelationshipName, _ ends: [MigrationLoss.Ends]) -> String? {
        let selects = ends.flatMap { ends in
            old.linkTables(of: name).compactMap { table in
                table.select(
                    indexes(ends.sources), indexes(ends.destinations), from: table.name, dialect.type(.integer))
            }
        }
        let parts = selects.chunks(ofSize: MigrationStatements.termLimit).map { part in
            "SELECT * FROM (\(part.joined(separator: " UNION ALL "))) AS part"
        }
        return parts.isEmpty ? nil : "(\(parts.joined(separator: " UNION ALL "))) AS links"
    }

    /// Maps the old index of each entity to itself.
    private func indexes(_ entities: [String]) -> [Int: Int] {
        entities.reduce(into: [:]) { indexes, name in
            if let index = old.layout.entity(named: name)?.index { indexes[index] = index }
        }
    }
}
