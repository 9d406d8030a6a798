/// Answers a query with joined columns, for a store that cannot join. Uses several queries without joined columns. Each query
/// reads the related rows for many rows.
package struct Join<View: RowView> {
    let view: View
    let budget: QueryBudget

    /// The number of rows whose related rows are read by one query.
    private static var batchSize: Int { 1000 }

    package init(_ view: View, _ budget: QueryBudget) {
        self.view = view
        self.budget = budget
    }

    /// Returns the matching rows of several entities, in order and within limit and offset. Each row comes with its entity.
    package func rows(
        _ query: RowQuery, _ family: [Int]
    ) throws(DataSourceError) -> [(entity: Int, stored: StoredRow)] {
        let layout = view.layout.entities[query.entity]
        let predicate = try resolved(query.predicate, query.joined, layout)
        var baseQuery = query.baseQuery
        baseQuery.predicate = predicate.withoutJoined
        var found: [(entity: Int, stored: StoredRow)] = []
        for entity in family {
            let rows = try view.rows(baseQuery.of(entity: entity))
            for part in rows.chunks(ofSize: Self.batchSize) {
                for row in try addingJoinedColumns(Array(part), query.joined) {
                    try budget.countRow()
                    guard try predicate.evaluate(row, layout, budget) else { continue }
                    found.append((entity, row))
                }
            }
        }
        if query.isOrdered {
            found.sort { $0.stored.precedes($1.stored, by: query.sort, layout) }
        }
        return query.window(found)
    }

    // MARK: Columns

    /// Returns the rows with their joined columns.
    ///
    /// - Parameter outer: For each related row, the outer row that the relationship starts from. Empty if the rows are not
    ///   related rows.
    package func addingJoinedColumns(
        _ rows: [StoredRow], _ columns: [JoinedColumn], outer: [StoredRow] = []
    ) throws(DataSourceError) -> [StoredRow] {
        if columns.isEmpty || rows.isEmpty { return rows }
        var rows = rows
        for index in rows.indices { rows[index].joined = RowSnapshot(columnCount: columns.count) }
        for (position, column) in columns.enumerated() {
            let values: [RowValue]
            switch column.source {
            case .outer(let outerColumn): values = outer.map { $0.value(outerColumn, column.kind.storage) }
            case .outerKey: values = outer.map { RowValue.integer($0.key) }
            default: values = try relatedValues(rows, column)
            }
            for (index, value) in values.enumerated() { rows[index].joined?.setValue(value, position) }
        }
        return rows
    }

    private func relatedValues(_ owners: [StoredRow], _ column: JoinedColumn) throws(DataSourceError) -> [RowValue] {
        guard let related = column.related else { return [] }
        var values: [RowValue] = []
        values.reserveCapacity(owners.count)
        for part in owners.chunks(ofSize: Self.batchSize) {
            var groups: [[StoredRow]] = Array(repeating: [], count: part.count)
            try forEachRelated(related, of: Array(part)) { groups[$0].append($1) }
            for group in groups { values.append(column.value(of: group)) }
        }
        return values
    }

    /// Passes each matching related row to the body, with its joined columns and the index of its owner.
    private func forEachRelated(
        _ related: RelatedRows, of owners: [StoredRow], _ body: (Int, StoredRow) -> Void
    ) throws(DataSourceError) {
        var (ownerIndexes, rows): ([Int], [StoredRow]) = ([], [])
        for (ownerIndex, row) in try pairs(related, owners) {
            ownerIndexes.append(ownerIndex)
            rows.append(row)
        }
        let layout = view.layout.entities[related.destination]
        let addingJoinedColumns = try addingJoinedColumns(rows, related.joined, outer: ownerIndexes.map { owners[$0] })
        for (ownerIndex, row) in zip(ownerIndexes, addingJoinedColumns) {
            try budget.countRow()
            if try related.predicate.evaluate(row, layout, budget) { body(ownerIndex, row) }
        }
    }

    /// Returns all related rows, with the indexes of their owners.
    private func pairs(
        _ related: RelatedRows, _ owners: [StoredRow]
    ) throws(DataSourceError) -> [(owner: Int, row: StoredRow)] {
        var ends: [(owner: Int, key: Int64)] = []
        switch related.link {
        case .destination(let column):
            for (index, owner) in owners.enumerated() where !owner.row.isNull(column) {
                ends.append((index, owner.row.integer(column)))
            }
        case .source(let column):
            let indexes = indexesByKey(owners)
            var rows = try view.rows(related.family, .column(column), in: Array(indexes.keys), budget)
            if view.mayHaveDoubleLinks, related.isToOne { rows = firstOfEach(rows, column) }
            return rows.flatMap { row in (indexes[row.row.integer(column)] ?? []).map { ($0, row) } }
        case .pairs(let layout, let own, let other):
            let indexes = indexesByKey(owners)
            for link in try view.rows([layout], .column(own), in: Array(indexes.keys), budget) {
                for index in indexes[link.row.integer(own)] ?? [] { ends.append((index, link.row.integer(other))) }
            }
            if view.mayHaveDoubleLinks {
                var seen: Set<[Int64]> = []
                ends = ends.filter { seen.insert([Int64($0.owner), $0.key]).inserted }
            }
        }
        let keys = Set(ends.lazy.map(\.key))
        let rows = try view.rows(related.family, .key, in: Array(keys), budget)
        let byKey = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        return ends.compactMap { end in byKey[end.key].map { (end.owner, $0) } }
    }

    /// Returns the oldest row for each owner's key in the column. If several rows link to one owner, the owner's to-one
    /// relationship leads to this row.
    private func firstOfEach(_ rows: [StoredRow], _ column: Int) -> [StoredRow] {
        var first: [Int64: StoredRow] = [:]
        for row in rows {
            let owner = row.row.integer(column)
            if let other = first[owner], other.key < row.key { continue }
            first[owner] = row
        }
        return Array(first.values)
    }

    private func indexesByKey(_ owners: [StoredRow]) -> [Int64: [Int]] {
        Dictionary(grouping: owners.indices) { owners[$0].key }
    }

    // MARK: Predicates

    /// Returns the predicate with lists of keys in place of the predicates for related rows.
    private func resolved(
        _ predicate: RowPredicate, _ joined: [JoinedColumn], _ layout: EntityLayout
    ) throws(DataSourceError) -> RowPredicate {
        switch predicate {
        case .and(let parts): return .and(try resolved(parts, joined, layout))
        case .or(let parts): return .or(try resolved(parts, joined, layout))
        case .not(let inner): return .not(try resolved(inner, joined, layout))
        default:
            guard let (related, isNegated) = predicate.ofRelatedRows(joined, layout) else { return predicate }
            let members = try members(related)
            return isNegated ? .not(members) : members
        }
    }

    private func resolved(
        _ parts: [RowPredicate], _ joined: [JoinedColumn], _ layout: EntityLayout
    ) throws(DataSourceError) -> [RowPredicate] {
        var resolved: [RowPredicate] = []
        for part in parts { resolved.append(try self.resolved(part, joined, layout)) }
        return resolved
    }

    /// Returns a predicate for the rows that have at least one of the related rows.
    private func members(_ related: RelatedRows) throws(DataSourceError) -> RowPredicate {
        var query = RowQuery(entity: related.destination, predicate: related.predicate, budget: budget)
        query.joined = related.joined
        query.isOrdered = false
        func list(_ values: [RowValue]) -> ValueList { ValueList(values, .natural) }
        switch related.link {
        case .destination(let column):
            query.columns = []
            let keys = try rows(query, related.family).map { RowValue.integer($0.stored.key) }
            return .isMember(.column(column), list(keys))
        case .source(let column):
            query.columns = [column]
            let found = try rows(query, related.family).map(\.stored).filter { !$0.row.isNull(column) }
            var owners = Set(found.map { $0.row.integer(column) })
            if view.mayHaveDoubleLinks, related.isToOne {
                // If several rows link to one owner, the owner's relationship leads only to the row with the lowest key. The
                // owner must not be found if this row does not match.
                let matching = Set(found.map(\.key))
                let all = try view.rows(related.family, .column(column), in: Array(owners), columns: [column], budget)
                let leading = firstOfEach(all, column).filter { matching.contains($0.key) }
                owners = Set(leading.map { $0.row.integer(column) })
            }
            return .isMember(.key, list(owners.map { .integer($0) }))
        case .pairs(let layout, let own, let other):
            query.columns = []
            let keys = try rows(query, related.family).map(\.stored.key)
            let links = try view.rows([layout], .column(other), in: keys, columns: [own], budget)
            return .isMember(.key, list(Array(Set(links.lazy.map { RowValue.integer($0.row.integer(own)) }))))
        }
    }
}

extension JoinedColumn {
    /// Returns the value of the column for a row that has these related rows.
    fileprivate func value(of related: [StoredRow]) -> RowValue {
        switch source {
        case .outer, .outerKey: .null
        case .key: related.first.map { .integer($0.key) } ?? .null
        case .value(_, let column): related.first?.value(column, kind.storage) ?? .null
        case .exists: .integer(related.isEmpty ? 0 : 1)
        case .aggregate(_, let function, let column):
            if let column {
                function.combine(related.map { $0.value(column, calculation.storage) }, calculation)
            } else {
                .integer(Int64(related.count))
            }
        }
    }
}
