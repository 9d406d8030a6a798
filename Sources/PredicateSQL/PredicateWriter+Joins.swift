internal import RowStore

/// Writes predicates about related rows as subqueries.
extension PredicateWriter {
    /// The number of levels that a subquery for related rows adds to the parser's stack.
    private static let queryLevels = 4
    /// The largest number of entities whose tables one query combines.
    private static let maxEntities = 100

    /// The tables with the related rows of one entity.
    private struct Source {
        let from: String
        /// SQL to compare with the owner: the key of the related row if the owner stores this key; otherwise the owner's key,
        /// as the related row or the link stores it.
        let end: String
    }

    /// The values to select from the related rows: the ends of links, the constant 1, the key, or a column.
    private enum Selection {
        case ends, one, key
        case column(Int)
    }

    /// A predicate that is true if a row has a related row; nil if SQL cannot express it.
    mutating func existence(of related: RelatedRows, isNegated: Bool, level: Int) -> SQLPredicate? {
        let mark = parameters.count
        guard let (owner, queries) = self.queries(related, dialect.listsOwners ? .ends : .one, level: level) else {
            truncate(to: mark)
            return nil
        }
        if dialect.listsOwners, !queries.isEmpty {
            let sql = "\(owner) IN (\(queries.joined(separator: " UNION ALL ")))"
            return SQLPredicate(isNegated ? "(\(sql)) IS NOT TRUE" : sql)
        }
        let parts = queries.map { SQLPredicate("\(isNegated ? "NOT " : "")EXISTS (\($0))") }
        return PredicateWriter.joined(parts, isAnd: isNegated)
    }

    /// SQL for the value of a joined column; nil if SQL cannot express it.
    mutating func joined(_ joined: JoinedColumn, level: Int) -> String? {
        switch joined.source {
        case .outer(let column): return inOuterScope { $0.column(column, level: level) }
        case .outerKey: return inOuterScope { $0.key }
        case .key(let related): return union(related, .key, .integer, level: level).map(dialect.value)
        case .value(let related, let column):
            return union(related, .column(column), joined.kind.storage, level: level).map(dialect.value)
        case .exists(let related): return union(related, .one, .integer, level: level).map(dialect.existence)
        case .aggregate(let related, _, nil):
            return union(related, .one, .integer, level: level).map { dialect.aggregate("count(*)", of: $0) }
        case .aggregate(let related, let function, let column?):
            guard let name = dialect.aggregateName(function, joined.calculation) else { return nil }
            return union(related, .column(column), joined.kind.storage, level: level)
                .map { dialect.aggregate("\(name)(v)", of: $0) }
        }
    }

    /// Calls the closure as if the table that directly encloses the innermost table were the innermost table.
    private mutating func inOuterScope(_ write: (inout PredicateWriter) -> String?) -> String? {
        let inner = scopes.removeLast()
        defer { scopes.append(inner) }
        return write(&self)
    }

    /// One query that selects a value from all related rows.
    private mutating func union(
        _ related: RelatedRows, _ selection: Selection, _ storage: ColumnStorage, level: Int
    ) -> String? {
        guard level < limits.nesting, let (_, queries) = self.queries(related, selection, level: level) else {
            return nil
        }
        if queries.isEmpty { return "SELECT \(dialect.null(storage)) AS v WHERE \(SQLPredicate.constant(false).sql)" }
        return queries.joined(separator: " UNION ALL ")
    }

    /// The owner's column, and a query for the related rows of each entity. A query that does not select the ends of the rows
    /// compares the ends with the owner's column. Nil if SQL cannot express the queries.
    private mutating func queries(
        _ related: RelatedRows, _ selection: Selection, level: Int
    ) -> (owner: String, queries: [String])? {
        guard related.family.count <= PredicateWriter.maxEntities else { return nil }
        let wasQualified = isQualified
        isQualified = true
        defer { isQualified = wasQualified }
        var owner = key
        if case .destination(let number) = related.link {
            guard let column = self.column(number, level: level) else { return nil }
            owner = column
        }
        var queries: [String] = []
        for entity in related.family {
            guard tableCount < limits.tables, predicateCount < limits.predicates, let table = tables[entity],
                let source = enter(related, table)
            else { return nil }
            defer { scopes.removeLast() }
            let written = predicate(related.predicate, level: level + PredicateWriter.queryLevels)
            guard written.isExact else { return nil }
            if written.isNever { continue }
            guard let selected = selected(selection, source, level: level + PredicateWriter.queryLevels) else {
                return nil
            }
            var parts = written.isAlways ? [] : ["(\(written.sql))"]
            if case .ends = selection {} else { parts.insert("(\(source.end) = \(owner))", at: 0) }
            let clause = parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND ")
            queries.append("SELECT \(selected) FROM \(source.from)\(clause)")
        }
        return (owner, queries)
    }

    private mutating func selected(_ selection: Selection, _ source: Source, level: Int) -> String? {
        switch selection {
        case .ends: source.end
        case .one: "1 AS v"
        case .key: "\(key) AS v"
        case .column(let column): self.column(column, level: level).map { "\($0) AS v" }
        }
    }

    /// Makes the related rows of one entity the innermost table.
    private mutating func enter(_ related: RelatedRows, _ table: QueryTable) -> Source? {
        tableCount += 1
        let alias = "t\(tableCount)"
        let key = "\(alias).\(table.key)"
        let from = "\(table.name) AS \(alias)"
        let source: Source
        switch related.link {
        case .destination: source = Source(from: from, end: key)
        case .source(let column):
            guard let name = table.columns[column] else { return nil }
            source = Source(from: from, end: "\(alias).\(name)")
        case .pairs(let layout, let own, let other):
            guard let pairs = tables[layout], let own = pairs.columns[own], let other = pairs.columns[other] else {
                return nil
            }
            let links = "j\(tableCount)"
            source = Source(
                from: "\(pairs.name) AS \(links) JOIN \(from) ON \(key) = \(links).\(other)", end: "\(links).\(own)")
        }
        relatedTables.append(
            RelatedTable(number: tableCount, outer: scope.alias, entity: table.layout.index, related))
        scopes.append(Scope(table: table, alias: alias, joined: related.joined))
        return source
    }
}
