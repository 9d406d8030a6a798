internal import RowStore

extension ListState {
    /// A list whose rows have not been read.
    static func unread(_ query: ListQuery) -> ListState {
        ListState(query, RowStorage(EmptyCollection()), isComplete: true, asOf: -1)
    }

    /// Reads the rows of a list, including saves that are not committed.
    static func read(
        _ query: ListQuery, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> ListState {
        let all = try RowTail.read(query, after: query.start, most: query.mostHeld, root, layout)
        return ListState(query, RowStorage(all.rows), isComplete: all.isLast, asOf: all.asOf)
    }
}

extension RowTail {
    /// Reads the first rows of a list after a place, including saves that are not committed.
    static func read(
        _ query: ListQuery, after place: ListedRow?, most: Int, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> RowTail {
        var rows = query.rows(after: place)
        if query.test == nil && most < .max { rows.limit = most }
        let (found, asOf) = try query.read(rows, root, layout)
        var listed = found
        if let place, query.order.isComputed { listed.removeAll { !query.order.precedes(place, $0) } }
        if let test = query.test {
            listed = []
            for row in found where try test.accepts(row, rows.budget) { listed.append(row) }
        }
        let isLast = listed.count < most
        return RowTail(isLast ? listed : Array(listed.prefix(most)), isLast: isLast, asOf: asOf)
    }
}

extension ListQuery {
    /// The present rows with those keys, and the save up to which they were read; nil for rows that the list does not show.
    func rows(
        _ keys: Set<Int64>, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [Int64: ListedRow?], asOf: Int64) {
        var rows: [Int64: ListedRow?] = [:]
        for key in keys { rows[key] = .some(nil) }
        let isKept = RowPredicate.isMember(.key, ValueList(keys.map { .integer($0) }, .natural))
        var query = RowQuery(entity: entity, predicate: keys.isEmpty ? .constant(false) : isKept, budget: QueryBudget())
        query.joined = joined
        query.returnsJoined = true
        query.isOrdered = false
        let (found, asOf) = try root.rows.joinedRows(query, family, layout)
        for (entity, stored) in found { rows[stored.key] = .some(try listed(entity, stored, query.budget)) }
        return (rows, asOf)
    }

    /// The query for a store, which cannot sort by a computed section, and so cannot use a place in that order either.
    fileprivate func rows(after place: ListedRow?) -> RowQuery {
        var all = RowQuery(entity: entity, predicate: predicate, sort: order.sort)
        all.joined = joined
        all.returnsJoined = true
        all.leavesValuesApart = !columnsApart.isEmpty
        guard let place, !order.isComputed else { return all }
        return all.following(order.place(place))
    }

    /// The rows in the order of the list.
    fileprivate func read(
        _ rows: RowQuery, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [ListedRow], asOf: Int64) {
        if !joined.isEmpty {
            let (found, asOf) = try root.rows.joinedRows(rows, family, layout)
            let listed = try found.map { (row) throws(DataSourceError) in try order.listed(row.entity, row.stored) }
            return (order.isComputed ? listed.sorted(by: order.precedes) : listed, asOf)
        }
        if let entity = family.first, family.count == 1 {
            let (found, asOf) = try root.rows.rows(rows.of(entity: entity), layout.entities[entity])
            let listed = try found.map { (row) throws(DataSourceError) in try order.listed(entity, row) }
            return (order.isComputed ? listed.sorted(by: order.precedes) : listed, asOf)
        }
        let (found, asOf) = try root.rows.firstRows(rows, ofEntities: family, layout)
        var listed: [ListedRow] = []
        for (entity, rows) in found { for row in rows { listed.append(try order.listed(entity, row)) } }
        listed.sort(by: order.precedes)
        return (listed, asOf)
    }
}
