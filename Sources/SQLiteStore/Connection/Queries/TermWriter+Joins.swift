internal import RowStore

/// Joined columns.
extension TermWriter {
    /// The related rows of one entity: the beginning and the end of a query for them.
    private struct Source {
        /// `FROM` and `WHERE`.
        let sql: String
        /// The key of the related row, or the place of its owner's key.
        let end: String
        let column: String?
    }

    /// The owner's side of the comparison with a related row, and the rows.
    private mutating func sources(
        isCorrelated: Bool, hasColumn: Bool
    ) -> (owner: String, sources: [Source]) {
        let link = QueryShape.Link(rawValue: Int32(next())) ?? .destination
        let details = (0..<(link == .pairs ? 3 : 1)).map { _ in next() }
        depth += 1
        defer { depth -= 1 }
        let owner = qualified(link == .destination ? table.terms[details[0]] : EntityTable.keyName.quoted)
        var sources: [Source] = []
        for _ in 0..<next() {
            guard let related = schema.tables[next()] else { continue }
            queries += 1
            let name = "t\(queries)"
            scopes.append((related, name))
            defer { scopes.removeLast() }
            let key = "\(name).\(EntityTable.keyName.quoted)"
            var from = " FROM \(related.name.quoted) AS \(name)"
            var end = key
            switch link {
            case .destination: break
            case .source: end = "\(name).\(related.terms[details[0]])"
            case .pairs:
                guard let pairs = schema.tables[details[0]] else { continue }
                let join = "j\(queries)"
                from =
                    " FROM \(pairs.name.quoted) AS \(join) JOIN \(related.name.quoted) AS \(name) ON \(key) = "
                    + "\(join).\(pairs.terms[details[2]])"
                end = "\(join).\(pairs.terms[details[1]])"
            }
            let test = (isCorrelated ? ["\(end) = \(owner)"] : []) + [term()].filter { $0 != "1" }
            let sql = from + (test.isEmpty ? "" : " WHERE " + test.map { "(\($0))" }.joined(separator: " AND "))
            sources.append(Source(sql: sql, end: end, column: hasColumn ? column() : nil))
        }
        return (owner, sources)
    }

    /// Whether the row is among those that have a related row.
    mutating func relatedTest() -> String {
        let isNegated = next() == 1
        let (owner, sources) = sources(isCorrelated: false, hasColumn: false)
        let selects = sources.map { "SELECT \($0.end)\($0.sql)" }
        let test = selects.isEmpty ? "0" : "\(owner) IN (\(selects.joined(separator: " UNION ALL ")))"
        return isNegated ? "(\(test)) IS NOT TRUE" : test
    }

    mutating func joinedColumn() -> String {
        let kind = QueryShape.Joined(rawValue: Int32(next())) ?? .exists
        let aggregate = kind == .aggregate ? RowAggregate(code: next()) : nil
        let (_, sources) = sources(isCorrelated: true, hasColumn: kind == .value || kind == .aggregate)
        let selects = sources.map { source in
            let result = kind == .count || kind == .exists ? "1 AS v" : (source.column ?? "NULL") + " AS v"
            return "SELECT \(result)\(source.sql)"
        }
        let all = selects.isEmpty ? "SELECT NULL AS v WHERE 0" : selects.joined(separator: " UNION ALL ")
        switch kind {
        case .value: return "(\(all))"
        case .exists: return "EXISTS (\(all))"
        case .count: return "(SELECT count(*) FROM (\(all)))"
        case .aggregate: return "(SELECT \(aggregate?.name ?? "count")(v) FROM (\(all)))"
        }
    }
}
