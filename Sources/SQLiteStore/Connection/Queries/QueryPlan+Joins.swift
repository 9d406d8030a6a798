internal import RowStore

/// Joined columns, in the codes of a shape.
extension QueryPlan {
    /// Adds the codes of a column: the key, one of the table's columns, or a joined one with everything that it consists of.
    ///
    /// - Returns: Whether SQL can express it.
    mutating func add(column: Int, _ depth: Int) -> Bool {
        guard JoinedColumn.isJoined(column) else {
            shape.add(column)
            return true
        }
        let scope = scopes[scopes.count - 1]
        let joined = scope.joined[JoinedColumn.index(column)]
        if joined.related == nil {
            shape.add(QueryShape.outer)
            scopes.removeLast()
            defer { scopes.append(scope) }
            if case .outer(let column) = joined.source { return add(column: column, depth) }
            shape.add(QueryShape.key)
            return true
        }
        guard depth < QueryPlan.nestingLimit, let related = joined.related else { return false }
        shape.add(QueryShape.joined)
        switch joined.source {
        case .outer, .outerKey: return false
        case .key:
            shape.add(joined: .value)
            return add(related, column: QueryShape.key, depth)
        case .value(_, let column):
            shape.add(joined: .value)
            return add(related, column: column, depth)
        case .exists:
            shape.add(joined: .exists)
            return add(related, column: nil, depth)
        case .aggregate(_, _, nil):
            shape.add(joined: .count)
            return add(related, column: nil, depth)
        case .aggregate(_, let function, let column):
            guard let aggregate = RowAggregate(function, joined.calculation) else { return false }
            shape.add(joined: .aggregate)
            shape.add(aggregate.code)
            return add(related, column: column, depth)
        }
    }

    /// How many levels of the parser's stack a query of related rows uses in a predicate.
    private static let levels = 4
    /// The most entities whose tables one query joins, and the longest shape: with many sub-entities it grows with each
    /// relationship.
    private static let (mostEntities, mostCodes) = (100, 4000)

    mutating func encode(_ test: RelatedTest, isNegated: Bool, depth: Int) -> Bool {
        shape.add(.isRelated)
        shape.add(isNegated != test.isNegated ? 1 : 0)
        return add(test.related, column: nil, depth)
    }

    private mutating func add(_ related: RelatedRows, column: Int?, _ depth: Int) -> Bool {
        switch related.link {
        case .destination(let column): shape.add(Int(QueryShape.Link.destination.rawValue), column)
        case .source(let column): shape.add(Int(QueryShape.Link.source.rawValue), column)
        case .pairs(let layout, let own, let other):
            shape.add(Int(QueryShape.Link.pairs.rawValue), layout, own, other)
        }
        shape.add(related.family.count)
        guard related.family.count <= QueryPlan.mostEntities else { return false }
        let depth = depth + QueryPlan.levels
        for entity in related.family {
            guard shape.codes.count < QueryPlan.mostCodes, let table = schema.tables[entity] else { return false }
            shape.add(entity)
            scopes.append(Scope(table: table, joined: related.joined))
            defer { scopes.removeLast() }
            guard encode(related.predicate, isNegated: false, depth: depth) else { return false }
            if let column, !add(column: column, depth) { return false }
        }
        return true
    }

    /// Adds the joined columns that the rows must have.
    ///
    /// - Returns: Whether SQL can express them.
    mutating func encodeSelected(_ query: RowQuery) -> Bool {
        if shape.isCount { return !isJoinedHere }
        var columns = (query.columns ?? []) + shape.sort.map(\.column)
        if query.returnsJoined { columns += query.joined.enumerated().map { $1.number(at: $0) } }
        let wanted = Set(columns).filter(JoinedColumn.isJoined).sorted()
        shape.joined = wanted
        return !isJoinedHere && wanted.allSatisfy { add(column: $0, 0) }
    }
}

extension QueryShape {
    fileprivate mutating func add(joined: Joined) {
        add(Int(joined.rawValue))
    }
}
