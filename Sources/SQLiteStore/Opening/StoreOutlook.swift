internal import ManagedModel
internal import RowStore

/// Facts about a store that the next opening keeps.
package struct StoreOutlook: Sendable, Equatable {
    /// The format of the store if an earlier release wrote it; opening it upgrades its tables.
    package var olderFormat: Int64?
    /// The format of the stores that this release writes.
    package var format = StoreSchema.format
    /// How many links lead to objects that are gone, as after the delete rule No Action, by the relationship, as
    /// `Letter.topic`. They are not counted in a store of an older format.
    package var danglingLinks: [String: Int] = [:]
}

extension StoreForecast {
    /// Nil if there is no store, or if it would be reset.
    func outlook() throws(DataSourceError) -> StoreOutlook? {
        try look { (probe) throws(DataSourceError) in
            guard case .proceed(let found) = try StartupDecision(probe.found(), options.identity, .discard) else {
                return nil
            }
            guard found.format == schema.format else { return StoreOutlook(olderFormat: found.format) }
            return StoreOutlook(danglingLinks: try probe.danglingLinks(schema))
        } ?? nil
    }
}

extension StoreProbe {
    /// How many links of each relationship lead to a row that is gone.
    fileprivate func danglingLinks(_ schema: StoreSchema) throws(DataSourceError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in schema.tables.compactMap(\.self) {
            for (name, column, family) in schema.linkColumns(table) {
                let ends = family.compactMap { schema.tables[$0] }.map { end in
                    "NOT EXISTS (SELECT 1 FROM \(end.name.quoted) AS found WHERE found.\(EntityTable.keyName.quoted) = link.\(table.terms[column]))"
                }
                let tests = ["link.\(table.terms[column]) IS NOT NULL"] + ends
                let sql = "SELECT count(*) FROM \(table.name.quoted) AS link WHERE \(tests.joined(separator: " AND "))"
                if case .integer(let count) = try connection.values(sql).first?[0], count > 0 {
                    counts[name, default: 0] += Int(count)
                }
            }
        }
        return counts
    }
}

extension StoreSchema {
    /// The columns of a table that lead to rows: the relationship, the column, and the entities of those rows.
    fileprivate func linkColumns(_ table: EntityTable) -> [(name: String, column: Int, family: [Int])] {
        if let links = table.layout.links {
            guard let source = layout.entity(named: links.entity), let index = source.relationship(named: links.name)
            else { return [] }
            let pairs = table.layout.pairColumns(isReversed: false)
            let name = "\(links.entity).\(links.name)"
            return [
                (name, pairs.own.key, source.concreteFamily),
                (name, pairs.other.key, source.relationships[index].destinationFamily),
            ]
        }
        return table.layout.relationships.compactMap { relationship in
            guard case .column(let column) = relationship.storage, table.layout.columns[column.key].isStored else {
                return nil
            }
            return (
                "\(relationship.path.entity).\(relationship.name)", column.key, relationship.destinationFamily
            )
        }
    }
}
