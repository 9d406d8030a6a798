internal import ManagedModel
internal import ModelMigration
package import RowStore

extension MigrationStatements {
    /// Checks the conditions of the plan.
    ///
    /// - Returns: The requirements of the new model that some objects violate. These objects are carried over anyway.
    /// - Throws: `notMigratable` with the message of every violated condition that prevents the migration.
    func checkConditions(_ connection: some SQLConnection) throws(DataSourceError) -> [String] {
        var (problems, unmet): ([String], [String]) = ([], [])
        for condition in plan.conditions {
            guard let query = query(condition.kind), !problems.contains(condition.problem) else { continue }
            guard let found = try connection.values(query.sql, query.values).first else { continue }
            if condition.preventsMigration {
                problems.append(problem(condition, found))
            } else {
                unmet.append(condition.problem)
            }
        }
        guard problems.isEmpty else { throw DataSourceError(notMigratable: problems.joined(separator: " ")) }
        return unmet
    }

    /// Returns a query that returns a row if the condition is violated. Returns nil if the condition is always met.
    private func query(_ condition: MigrationCondition.Kind) -> SQLStatement? {
        switch condition {
        case .isEmpty(let name):
            return old.table(name).map { SQLStatement("SELECT 1 FROM \($0.name) LIMIT 1") }
        case .hasValues(let name, let column):
            return old.table(name).map {
                SQLStatement("SELECT 1 FROM \($0.name) WHERE \($0.expressions[column]) IS NULL LIMIT 1")
            }
        case .hasAtMostOneDestination(let name):
            let selects = linkSelects(name)
            guard !selects.isEmpty else { return nil }
            return SQLStatement(
                "SELECT 1 FROM (\(selects.joined(separator: " UNION ALL "))) AS links GROUP BY source "
                    + "HAVING count(*) > 1 LIMIT 1")
        case .hasDistinctDestinations(let name):
            return exclusivenessSQL(name).map { SQLStatement($0) }
        case .hasCount(let name, let bounds):
            return countSQL(name, bounds).map { SQLStatement($0) }
        case .isUnique(let columns):
            return uniquenessQuery(columns)
        case .isExact(let column):
            guard let table = old.table(column.entity) else { return nil }
            let expression = table.expressions[column.column]
            return SQLStatement(
                "SELECT \(StoredTable.key), count(*) OVER (), \(expression) FROM \(table.name) "
                    + "WHERE \(expression) IS NOT NULL AND \(dialect.widened(expression, column.widening)) IS NULL "
                    + "ORDER BY \(StoredTable.key) LIMIT 1")
        }
    }

    /// - Parameter found: The row that the condition's query has returned.
    private func problem(_ condition: MigrationCondition, _ found: [RowValue]) -> String {
        guard case .isExact(let column) = condition.kind, found.count == 3, case .integer(let key) = found[0],
            case .integer(let count) = found[1]
        else { return condition.problem }
        let number: Int64? = if case .integer(let number) = found[2] { number } else { nil }
        return column.problem(number, key: key, count: Int(count))
    }

    private func exclusivenessSQL(_ name: RelationshipName) -> String? {
        let links = linkSelects(name).joined(separator: " UNION ALL ")
        guard !links.isEmpty else { return nil }
        guard new.layout.isSymmetric(name) else {
            return "SELECT 1 FROM (\(links)) AS links GROUP BY destination HAVING count(*) > 1 LIMIT 1"
        }
        // The relationship is its own inverse, so each link counts for both ends.
        return "WITH links AS (\(links)) SELECT 1 FROM (SELECT source, destination FROM links UNION "
            + "SELECT destination, source FROM links) AS ends GROUP BY source HAVING count(*) > 1 LIMIT 1"
    }

    /// Returns a query that returns a row if an object would have too few or too many destinations. Returns nil if there can be
    /// no such object.
    private func countSQL(_ name: RelationshipName, _ bounds: LinkBounds) -> String? {
        let owners = numbers(under: name.entity).keys.sorted().compactMap { old.tables[$0] }
            .map { "SELECT \(StoredTable.key) AS owner FROM \($0.name)" }
        guard !owners.isEmpty else { return nil }
        var conditions: [String] = []
        if !bounds.isOptional { conditions.append("number IS NULL") }
        if bounds.minimum > 1 { conditions.append("number < \(bounds.minimum)") }
        if bounds.maximum > 0 { conditions.append("number > \(bounds.maximum)") }
        let links = allLinkSelects(name)
        let counts =
            links.isEmpty
            ? "SELECT CAST(NULL AS \(dialect.type(.integer))) AS source, 0 AS number WHERE 1 = 0"
            : "SELECT source, count(DISTINCT destination) AS number FROM (\(links.joined(separator: " UNION ALL "))) AS links "
                + "GROUP BY source"
        return "SELECT 1 FROM (\(owners.joined(separator: " UNION ALL "))) AS owners LEFT JOIN (\(counts)) AS counts "
            + "ON counts.source = owners.owner WHERE \(conditions.joined(separator: " OR ")) LIMIT 1"
    }

    /// Returns queries for all links of a relationship, including the links that the inverse's column stores.
    private func allLinkSelects(_ name: RelationshipName) -> [String] {
        if case .inverseColumn(let inverse) = new.layout.model.linkStorage(of: name) {
            return allLinkSelects(inverse).map(LinkTable.reversed)
        }
        let sources = plan.links[name] ?? []
        let selects = linkSelects(name, sources + secondSources(of: sources), [:])
        return new.layout.isSymmetric(name) ? selects + selects.map(LinkTable.reversed) : selects
    }

    /// Returns a query that returns a row if two objects have equal values in the columns. Returns nil if links of a column
    /// must be looked up in other tables. Such links are checked later, when the unique index is built.
    private func uniquenessQuery(_ columns: [String: [Int]]) -> SQLStatement? {
        let lookedUp = Dictionary(uniqueKeysWithValues: lookedUpLinks.map { ($0, "") })
        var values: [RowValue] = []
        var selects: [String] = []
        for entity in plan.entities {
            guard let positions = columns[entity.newName],
                let copy = RowCopy(
                    entity, self, lookups: lookedUp, columns: Set(positions), firstParameter: values.count + 1)
            else { continue }
            let expressions = positions.map { copy.expressions[$0] ?? StoredTable.missing }
            guard !expressions.contains(where: { $0.hasPrefix("(SELECT ") }) else { return nil }
            selects.append(select(expressions, positions, from: copy.old.name, copy.new))
            values += copy.values
        }
        return duplicatesSQL(selects, columns.values.first?.count ?? 0).map { SQLStatement($0, values) }
    }

    /// Returns a message and a query for each constraint with strings that were derived after the copy of the rows. The query
    /// reads the new tables, and returns a row if the constraint is violated.
    package func derivedConditions(_ copies: [RowCopy]) -> [(problem: String, sql: String)] {
        let derived = Dictionary(uniqueKeysWithValues: copies.map { ($0.new.layout.name, $0.missingStrings) })
        return plan.conditions.compactMap { condition in
            guard case .isUnique(let columns) = condition.kind,
                columns.contains(where: { name, positions in positions.contains { derived[name]?[$0] != nil } })
            else { return nil }
            let selects = columns.sorted { $0.key < $1.key }.compactMap { name, positions in
                new.table(name).map { table in
                    select(positions.map { table.expressions[$0] }, positions, from: table.name, table)
                }
            }
            return duplicatesSQL(selects, columns.values.first?.count ?? 0).map { (condition.problem, $0) }
        }
    }

    private func select(_ expressions: [String], _ positions: [Int], from name: String, _ table: StoredTable) -> String
    {
        let list = zip(expressions, positions).enumerated().map { number, column in
            // Without the cast, PostgreSQL would give a column of NULLs the type TEXT.
            let type = dialect.type(table.layout.columns[column.1].storage)
            return (column.0 == StoredTable.missing ? "CAST(NULL AS \(type))" : column.0) + " AS c\(number)"
        }
        return "SELECT \(list.joined(separator: ", ")) FROM \(name)"
    }

    /// Returns a query that returns a row if the queries have two rows with the same values. Rows with NULL do not count.
    private func duplicatesSQL(_ selects: [String], _ count: Int) -> String? {
        guard count > 0, !selects.isEmpty else { return nil }
        let names = (0..<count).map { "c\($0)" }
        return "SELECT 1 FROM (\(selects.joined(separator: " UNION ALL "))) AS objects WHERE "
            + names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            + " GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1"
    }
}

extension DataSourceError {
    /// Makes the error for rows that would violate a uniqueness constraint of the new model.
    package init(duplicatesInMigration: Void) {
        self.init(
            notMigratable:
                "Several objects have the same values in a uniqueness constraint of the new model. Change these objects before the migration."
        )
    }
}
