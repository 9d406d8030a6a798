internal import ManagedModel
internal import RowStore

extension StoreMigration {
    /// Checks the conditions that the models alone cannot decide. It writes nothing.
    ///
    /// - Throws: `notMigratable` with every condition that does not hold.
    func checkConditions() throws(DataSourceError) {
        var complaints: [String] = []
        for condition in plan.conditions {
            guard let sql = sql(condition.kind), !complaints.contains(condition.complaint) else { continue }
            guard let found = try probe.connection.values(sql.text, sql.values).first else { continue }
            complaints.append(complaint(condition, found))
        }
        guard complaints.isEmpty else { throw DataSourceError(notMigratable: complaints.joined(separator: " ")) }
    }

    /// A query that returns a row if the condition does not hold; nil if it always holds.
    private func sql(_ condition: MigrationCondition.Kind) -> (text: String, values: [RowValue])? {
        switch condition {
        case .isEmpty(let name):
            guard let table = oldTable(name) else { return nil }
            return ("SELECT 1 FROM \(table.name.quoted) LIMIT 1", [])
        case .hasValues(let name, let column):
            guard let table = oldTable(name) else { return nil }
            return ("SELECT 1 FROM \(table.name.quoted) WHERE \(table.terms[column]) IS NULL LIMIT 1", [])
        case .isSingle(let name):
            let selects = linkSelects(name)
            guard !selects.isEmpty else { return nil }
            return (
                "SELECT 1 FROM (\(selects.joined(separator: " UNION ALL "))) GROUP BY source HAVING count(*) > 1 "
                    + "LIMIT 1", []
            )
        case .isExclusive(let name):
            return exclusivenessSQL(name).map { ($0, []) }
        case .isUnique(let columns):
            return uniquenessSQL(columns)
        case .isExact(let column):
            guard let table = oldTable(column.entity) else { return nil }
            let term = table.terms[column.column]
            return (
                "SELECT * FROM (SELECT min(\(EntityTable.keyName.quoted)) AS first, count(*) AS number, \(term) "
                    + "FROM \(table.name.quoted) "
                    + "WHERE \(term) IS NOT NULL AND \(column.widening.sql(term)) IS NULL) WHERE number > 0", []
            )
        }
    }

    /// - Parameter found: The row that the condition's query returned.
    private func complaint(_ condition: MigrationCondition, _ found: [RowValue]) -> String {
        guard case .isExact(let column) = condition.kind, found.count == 3, case .integer(let key) = found[0],
            case .integer(let count) = found[1]
        else { return condition.complaint }
        let number: Int64? = if case .integer(let number) = found[2] { number } else { nil }
        return column.complaint(number, key: key, count: Int(count))
    }

    private func oldTable(_ name: String) -> EntityTable? {
        oldSchema.layout.entity(named: name).flatMap { oldSchema.tables[$0.index] }
    }

    private func exclusivenessSQL(_ name: RelationshipName) -> String? {
        let links = linkSelects(name).joined(separator: " UNION ALL ")
        guard !links.isEmpty else { return nil }
        guard schema.layout.isSymmetric(name) else {
            return "SELECT 1 FROM (\(links)) GROUP BY destination HAVING count(*) > 1 LIMIT 1"
        }
        // Each link counts from both ends.
        return "WITH links AS (\(links)) SELECT 1 FROM (SELECT source, destination FROM links UNION "
            + "SELECT destination, source FROM links) GROUP BY source HAVING count(*) > 1 LIMIT 1"
    }

    /// Links from other tables are left out: building the index finds them.
    private func uniquenessSQL(_ columns: [String: [Int]]) -> (text: String, values: [RowValue])? {
        let lookedUp = Dictionary(uniqueKeysWithValues: lookedUpLinks.map { ($0, "") })
        var values: [RowValue] = []
        var selects: [String] = []
        for entity in plan.entities {
            guard let positions = columns[entity.newName],
                let copy = RowCopy(entity, self, lookups: lookedUp, firstParameter: values.count + 1)
            else { continue }
            let terms = positions.map { copy.terms[$0] ?? "NULL" }
            guard !terms.contains(where: { $0.hasPrefix("(SELECT ") }) else { return nil }
            let list = terms.enumerated().map { "\($1) AS c\($0)" }
            selects.append("SELECT \(list.joined(separator: ", ")) FROM \(copy.old.name.quoted)")
            values += copy.values
        }
        guard let count = columns.values.first?.count, count > 0, !selects.isEmpty else { return nil }
        let names = (0..<count).map { "c\($0)" }
        return (
            "SELECT 1 FROM (\(selects.joined(separator: " UNION ALL "))) WHERE "
                + names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
                + " GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1", values
        )
    }
}
