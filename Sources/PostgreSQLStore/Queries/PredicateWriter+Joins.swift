internal import RowStore

/// Joined columns: queries of the related rows inside the query.
extension PredicateWriter {
    /// The most tables in one statement: with many sub-entities they multiply with each relationship.
    private static let tableLimit = 100

    /// The related rows of one entity.
    private struct Source {
        /// The expression for each of them.
        let value: String
        /// `FROM` and `WHERE`.
        let sql: String

        var select: String { "SELECT \(value)\(sql)" }
    }

    /// Whether a row has a related row, or has none.
    ///
    /// - Returns: Nil if a server cannot decide that.
    mutating func relatedTerm(_ test: RelatedMatcher, isNegated: Bool, depth: Int) -> SQLTerm? {
        let mark = parameters.count
        guard let sources = sources(test.related, nil, depth: depth) else {
            takeBack(to: mark)
            return nil
        }
        let isNone = isNegated != test.isNegated
        let tests = sources.map { "\(isNone ? "NOT " : "")EXISTS (\($0.select))" }
        if tests.count < 2 { return tests.first.map { SQLTerm(sql: $0) } ?? .constant(isNone) }
        return SQLTerm(sql: "(" + tests.joined(separator: isNone ? " AND " : " OR ") + ")")
    }

    /// The SQL for a joined column of the innermost table.
    ///
    /// - Returns: Nil if a server cannot calculate it.
    mutating func joinedColumn(_ column: Int, depth: Int) -> String? {
        let joined = scope.joined[JoinedColumn.index(column)]
        switch joined.source {
        case .outer(let column): return outside { $0.column(column, depth: depth) }
        case .outerKey: return outside { $0.key }
        case .key(let related): return first(sources(related, .key, depth: depth), .integer)
        case .value(let related, let column):
            return first(sources(related, .column(column), depth: depth), joined.kind.storage)
        case .exists(let related):
            guard let all = sources(related, nil, depth: depth) else { return nil }
            let tests = all.map { "EXISTS (\($0.select))" }.joined(separator: " OR ")
            return "(CASE WHEN \(tests.isEmpty ? SQLTerm.neverSQL : tests) THEN 1 ELSE 0 END)::bigint"
        case .aggregate(let related, _, nil):
            return aggregate("count", sources(related, nil, depth: depth), ofNone: "0::bigint")
        case .aggregate(let related, let function, let column?):
            // Sums could overflow there, and only this side adds reals exactly.
            guard function == .min || function == .max, joined.calculation.isOrderedThere else { return nil }
            return aggregate(
                function.rawValue, sources(related, .column(column), depth: depth),
                ofNone: "NULL::\(joined.kind.storage.castName)")
        }
    }

    /// Writes an expression for the row from which a relationship led here.
    private mutating func outside(_ write: (inout PredicateWriter) -> String?) -> String? {
        let inner = scopes.removeLast()
        defer { scopes.append(inner) }
        return write(&self)
    }

    private func first(_ sources: [Source]?, _ storage: ColumnStorage) -> String? {
        guard let sources else { return nil }
        if sources.isEmpty { return "NULL::\(storage.castName)" }
        // A server refuses more than one, which only another program can have written.
        return "(" + sources.map(\.select).joined(separator: " UNION ALL ") + " LIMIT 1)"
    }

    private mutating func aggregate(_ name: String, _ sources: [Source]?, ofNone none: String) -> String? {
        guard let sources else { return nil }
        if sources.isEmpty { return none }
        if sources.count == 1 { return "(SELECT \(name)(\(sources[0].value))\(sources[0].sql))" }
        let all = sources.map { "SELECT \($0.value) AS v\($0.sql)" }.joined(separator: " UNION ALL ")
        let alias = claimAlias()
        return "(SELECT \(name)(\(alias).v) FROM (\(all)) AS \(alias))"
    }

    /// - Parameter wanted: The expression for each related row.
    /// - Returns: Nil if a server cannot find these rows.
    private mutating func sources(
        _ related: RelatedRows, _ wanted: RowExpression?, depth: Int
    ) -> [Source]? {
        var sources: [Source] = []
        for entity in related.family {
            guard aliasCount < PredicateWriter.tableLimit, let table = tables[entity],
                let (from, isLinked) = link(related.link, table)
            else { return nil }
            scopes.append(Scope(table: table, alias: from.alias, joined: related.joined))
            defer { scopes.removeLast() }
            let test = term(related.predicate, depth: depth + 1)
            let value = wanted.map { self.value($0, depth: depth + 1)?.sql } ?? "1"
            guard test.isExact, let value else { return nil }
            if test.isNever { continue }
            sources.append(
                Source(
                    value: value, sql: " FROM \(from.sql) WHERE \(isLinked)" + (test.isAlways ? "" : " AND \(test.sql)")
                ))
        }
        return sources
    }

    /// The related rows of one entity, and how to find them from a row of the innermost table.
    private mutating func link(
        _ link: RelatedRows.Link, _ table: QueryTable
    ) -> (from: (sql: String, alias: String), isLinked: String)? {
        let alias = claimAlias()
        let from = "\(table.name) AS \(alias)"
        switch link {
        case .destination(let column):
            guard let name = scope.table.columns[column] else { return nil }
            return ((from, alias), "\(alias).\(table.key) = \(scope.alias).\(name)")
        case .source(let column):
            guard let name = table.columns[column] else { return nil }
            return ((from, alias), "\(alias).\(name) = \(key)")
        case .pairs(let layout, let own, let other):
            guard let pairs = tables[layout], let own = pairs.columns[own], let other = pairs.columns[other] else {
                return nil
            }
            let links = claimAlias()
            let join = "\(pairs.name) AS \(links) JOIN \(from) ON \(alias).\(table.key) = \(links).\(other)"
            return ((join, alias), "\(links).\(own) = \(key)")
        }
    }
}

extension ValueKind {
    /// Whether a server finds the same least and greatest values as this side.
    fileprivate var isOrderedThere: Bool {
        self != .decimal && storage != .blob
    }
}
