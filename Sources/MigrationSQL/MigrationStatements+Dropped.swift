internal import ManagedModel
package import RowStore

extension MigrationStatements {
    /// What a store drops while other rows stay.
    ///
    /// - Parameter count: Runs a query that gives one number.
    package func dropped(
        _ count: (_ sql: String) throws(DataSourceError) -> Int
    ) throws(DataSourceError) -> StoreStartup.Dropped {
        var dropped = StoreStartup.Dropped()
        for case let table? in old.tables where table.layout.links == nil && numbers[table.layout.index] == nil {
            let found = try count("SELECT count(*) FROM \(table.name)")
            if found > 0 { dropped.objects[table.layout.name] = found }
        }
        // The first format had links in other tables.
        guard old.format == ManagedObjectModel.storeFormat else { return dropped }
        for case let table? in old.tables {
            for (name, test) in droppedLinkTests(table) {
                let found = try count("SELECT count(*) FROM \(table.name) WHERE \(test)")
                if found > 0 { dropped.links[name, default: 0] += found }
            }
        }
        return dropped
    }

    /// Which rows of a table link an object that stays to one that is dropped, by the relationship.
    private func droppedLinkTests(_ table: StoredTable) -> [(name: String, test: String)] {
        let isPair = table.layout.links != nil
        guard isPair || numbers[table.layout.index] != nil else { return [] }
        let tests = old.linkColumns(table.layout).compactMap { name, column, family -> (name: String, test: String)? in
            let ends = family.filter { numbers[$0] == nil }.compactMap { old.tables[$0] }
            guard !ends.isEmpty else { return nil }
            let tests = stride(from: 0, to: ends.count, by: MigrationStatements.termLimit).map { start in
                let keys = ends[start...].prefix(MigrationStatements.termLimit).map {
                    "SELECT \(StoredTable.key) FROM \($0.name)"
                }
                return "\(table.terms[column]) IN (\(keys.joined(separator: " UNION ALL ")))"
            }
            return (name, tests.joined(separator: " OR "))
        }
        // A pair of two objects that are dropped is no loss of one that stays.
        guard isPair, tests.count == 2 else { return tests }
        return [(tests[0].name, "(\(tests[0].test)) <> (\(tests[1].test))")]
    }
}
