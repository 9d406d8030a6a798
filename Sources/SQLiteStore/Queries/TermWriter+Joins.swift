internal import RowStore

/// Joined columns.
extension TermWriter {
    /// How many levels of the parser's stack a query of related rows uses in a predicate.
    private static let levels = 4
    /// The most entities whose tables one query joins, and the most terms: with many sub-entities they grow with each
    /// relationship.
    private static let (mostEntities, mostTerms) = (100, 1000)

    /// The related rows of one entity: the beginning and the end of a query for them.
    private struct Source {
        /// `FROM` and `WHERE`.
        let sql: String
        /// The key of the related row, or the place of its owner's key.
        let end: String
        let column: String?
    }

    /// What a joined column has of the related rows.
    private enum Joined {
        case value(Int)
        case exists
        case count
        case aggregate(RowAggregate, Int)

        var column: Int? {
            switch self {
            case .value(let column), .aggregate(_, let column): column
            case .exists, .count: nil
            }
        }
    }

    /// A column: the key, one of the table's columns, or a joined one; nil if SQL cannot express it.
    mutating func column(_ column: Int, _ level: Int) -> String? {
        guard JoinedColumn.isJoined(column) else {
            return qualified(column == TermWriter.key ? EntityTable.quotedKey : scope.table.terms[column])
        }
        let joined = scope.joined[JoinedColumn.index(column)]
        guard let related = joined.related else {
            let inner = scopes.removeLast()
            defer { scopes.append(inner) }
            if case .outer(let column) = joined.source { return self.column(column, level) }
            return qualified(EntityTable.quotedKey)
        }
        guard level < TermWriter.nestingLimit else { return nil }
        switch joined.source {
        case .outer, .outerKey: return nil
        case .key: return joinedColumn(related, .value(TermWriter.key), level)
        case .value(_, let column): return joinedColumn(related, .value(column), level)
        case .exists: return joinedColumn(related, .exists, level)
        case .aggregate(_, _, nil): return joinedColumn(related, .count, level)
        case .aggregate(_, let function, let column?):
            guard let aggregate = RowAggregate(function, joined.calculation) else { return nil }
            return joinedColumn(related, .aggregate(aggregate, column), level)
        }
    }

    private mutating func joinedColumn(_ related: RelatedRows, _ joined: Joined, _ level: Int) -> String? {
        guard let (_, sources) = sources(related, isCorrelated: true, column: joined.column, level) else { return nil }
        let selects = sources.map { "SELECT \($0.column ?? "1") AS v\($0.sql)" }
        let all = selects.isEmpty ? "SELECT NULL AS v WHERE 0" : selects.joined(separator: " UNION ALL ")
        return switch joined {
        case .value: "(\(all))"
        case .exists: "EXISTS (\(all))"
        case .count: "(SELECT count(*) FROM (\(all)))"
        case .aggregate(let aggregate, _): "(SELECT \(aggregate.name)(v) FROM (\(all)))"
        }
    }

    /// Whether the row is among those that have a related row; nil if SQL cannot express it.
    mutating func term(_ test: RelatedMatcher, isNegated: Bool, level: Int) -> String? {
        guard let (owner, sources) = sources(test.related, isCorrelated: false, column: nil, level) else { return nil }
        let selects = sources.map { "SELECT \($0.end)\($0.sql)" }
        let term = selects.isEmpty ? "0" : "\(owner) IN (\(selects.joined(separator: " UNION ALL ")))"
        return isNegated != test.isNegated ? "(\(term)) IS NOT TRUE" : term
    }

    /// The owner's side of the comparison with a related row, and the rows; nil if SQL cannot express them.
    private mutating func sources(
        _ related: RelatedRows, isCorrelated: Bool, column: Int?, _ level: Int
    ) -> (owner: String, sources: [Source])? {
        guard related.family.count <= TermWriter.mostEntities else { return nil }
        depth += 1
        defer { depth -= 1 }
        let owner =
            if case .destination(let column) = related.link { qualified(scope.table.terms[column]) } else {
                qualified(EntityTable.quotedKey)
            }
        var sources: [Source] = []
        for entity in related.family {
            guard termCount < TermWriter.mostTerms, let table = schema.tables[entity],
                let source = source(
                    related, table, owner: isCorrelated ? owner : nil, column: column, level + TermWriter.levels)
            else { return nil }
            sources.append(source)
        }
        return (owner, sources)
    }

    /// - Parameter owner: What a row must lead to; nil for rows of all owners.
    private mutating func source(
        _ related: RelatedRows, _ table: EntityTable, owner: String?, column: Int?, _ level: Int
    ) -> Source? {
        queries += 1
        let name = "t\(queries)"
        scopes.append(Scope(table: table, joined: related.joined, name: name))
        defer { scopes.removeLast() }
        let key = "\(name).\(EntityTable.quotedKey)"
        var from = " FROM \(table.quotedName) AS \(name)"
        var end = key
        switch related.link {
        case .destination: break
        case .source(let column): end = "\(name).\(table.terms[column])"
        case .pairs(let layout, let own, let other):
            guard let pairs = schema.tables[layout] else { return nil }
            let join = "j\(queries)"
            from =
                " FROM \(pairs.name.quoted) AS \(join) JOIN \(table.quotedName) AS \(name) ON \(key) = "
                + "\(join).\(pairs.terms[other])"
            end = "\(join).\(pairs.terms[own])"
        }
        guard let test = term(related.predicate, level: level) else { return nil }
        let tests = (owner.map { ["\(end) = \($0)"] } ?? []) + (test == "1" ? [] : [test])
        let sql = from + (tests.isEmpty ? "" : " WHERE " + tests.map { "(\($0))" }.joined(separator: " AND "))
        guard let column else { return Source(sql: sql, end: end, column: nil) }
        guard let value = self.column(column, level) else { return nil }
        return Source(sql: sql, end: end, column: value)
    }
}
