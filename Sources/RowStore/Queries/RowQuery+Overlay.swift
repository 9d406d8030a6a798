/// Laying newer rows over the result of a query, as if they were stored.
extension RowQuery {
    /// The same query of another entity of the family.
    package func of(entity: Int) -> RowQuery {
        var query = self
        query.entity = entity
        return query
    }

    /// The same query for the rows after a place in its order.
    package func following(_ cursor: RowCursor) -> RowQuery {
        var query = self
        let place = RowPredicate.follows(cursor, sort)
        query.predicate = predicate == .constant(true) ? place : .and([predicate, place])
        return query
    }

    /// The same query for all whole rows that match, in any order and without joined columns.
    package var flat: RowQuery {
        var query = self
        query.joined = []
        query.returnsJoined = false
        query.sort = []
        query.isOrdered = false
        query.leavesValuesApart = false
        query.columns = nil
        return query.unlimited
    }

    /// The same query without limit and offset.
    package var unlimited: RowQuery {
        var query = self
        query.limit = nil
        query.offset = 0
        return query
    }

    /// The query for everything up to the end of the window, and that many more rows.
    package func widened(by spare: Int) -> RowQuery {
        var query = self
        query.limit = limit.map { $0 + offset + spare }
        query.offset = 0
        return query
    }

    /// The part of all matching rows within limit and offset.
    package func window<Element>(_ rows: [Element]) -> [Element] {
        if limit == nil && offset == 0 { return rows }
        return Array(rows.dropFirst(offset).prefix(limit ?? Int.max))
    }

    /// Rows of the store merged with other rows that match, which come in any order.
    package func merge(_ more: [StoredRow], into rows: [StoredRow], _ layout: EntityLayout) -> [StoredRow] {
        if more.isEmpty { return rows }
        guard isOrdered else { return rows + more }
        let more = more.sorted { $0.precedes($1, by: sort, layout) }
        var merged: [StoredRow] = []
        merged.reserveCapacity(rows.count + more.count)
        var next = more.startIndex
        for row in rows {
            while next < more.endIndex, more[next].precedes(row, by: sort, layout) {
                merged.append(more[next])
                next += 1
            }
            merged.append(row)
        }
        merged += more[next...]
        return merged
    }
}
