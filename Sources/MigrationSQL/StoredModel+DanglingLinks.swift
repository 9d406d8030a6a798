internal import ManagedModel
package import RowStore

extension StoredModel {
    /// How many links lead to rows that are gone, by the relationship, as `Letter.topic`; relationships without such links are
    /// left out.
    ///
    /// - Parameter count: Runs a query that gives one number.
    package func danglingLinks(
        _ count: (_ sql: String) throws(DataSourceError) -> Int
    ) throws(DataSourceError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in tables.compactMap(\.self) {
            for (name, column, family) in linkColumns(table.layout) {
                let key = "link.\(table.terms[column])"
                let ends = family.compactMap { tables[$0]?.name }.map { end in
                    "NOT EXISTS (SELECT 1 FROM \(end) AS found WHERE found.\(StoredTable.key) = \(key))"
                }
                let tests = ["\(key) IS NOT NULL"] + ends
                let found = try count(
                    "SELECT count(*) FROM \(table.name) AS link WHERE \(tests.joined(separator: " AND "))")
                if found > 0 { counts[name, default: 0] += found }
            }
        }
        return counts
    }

    /// The columns of a table that lead to rows: the relationship, the column, and the entities of those rows.
    func linkColumns(_ entity: EntityLayout) -> [(name: String, column: Int, family: [Int])] {
        if let links = entity.links {
            guard let source = layout.entity(named: links.entity), let index = source.relationship(named: links.name)
            else { return [] }
            let pairs = entity.pairColumns(isReversed: false)
            let name = "\(links.entity).\(links.name)"
            return [
                (name, pairs.own.key, source.concreteFamily),
                (name, pairs.other.key, source.relationships[index].destinationFamily),
            ]
        }
        return entity.relationships.compactMap { relationship in
            guard case .column(let column) = relationship.storage, entity.columns[column.key].isStored else {
                return nil
            }
            return (
                "\(relationship.path.entity).\(relationship.name)", column.key, relationship.destinationFamily
            )
        }
    }
}
