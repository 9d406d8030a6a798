internal import RowStore

/// Rows as every context sees them: what is in the store, under what is saved but not committed yet.
extension RootContext {
    /// The rows of one entity that match, and the number of the newest save that they take into account.
    func rows(
        _ query: RowQuery, _ layout: EntityLayout
    ) throws(DataSourceError) -> (rows: [StoredRow], asOf: Int64) {
        // Rows of the log can take the place of as many of the store, so that many more are asked for.
        var spare = query.limit == nil || pendingSaveCount == 0 ? 0 : 16
        while true {
            let widened = query.widened(by: spare)
            let (rows, saves, asOf) = try read(.statement) { reader throws(DataSourceError) in
                try reader.rows(spare == 0 ? query : widened)
            }
            let left = rowsLeft(by: saves, ofEntity: query.entity)
            if left.isEmpty { return (spare == 0 ? rows : query.window(rows), asOf) }
            if left.count <= spare || query.limit == nil && query.offset == 0 {
                return (query.window(try query.lay(left, over: rows, layout)), asOf)
            }
            spare = left.count * 2
        }
    }

    /// Hands over the rows of one entity that match, each as soon as it is read.
    ///
    /// - Returns: The number of the newest save that the rows take into account; nil if other saves came in meanwhile, or
    ///   were pending, so that the rows may not be the newest and have to be asked for with ``rows(_:_:)``.
    func forEachCommittedRow(
        _ query: RowQuery, _ body: (StoredRow) -> Void
    ) throws(DataSourceError) -> Int64? {
        if pendingSaveCount > 0 { return nil }
        let (_, saves, asOf) = try read(.statement) { reader throws(DataSourceError) in
            try reader.forEachRow(query, body)
        }
        return saves.isEmpty ? asOf : nil
    }

    /// The rows of several entities that match, all as of the same save; limit and offset do not count.
    func rows(
        _ query: RowQuery, ofEntities family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: Int64) {
        try firstRows(query.unlimited, ofEntities: family, layout)
    }

    /// The same, of which only so many are wanted as the limit says: of each entity there are at least its first ones, up
    /// to the limit.
    func firstRows(
        _ query: RowQuery, ofEntities family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: Int64) {
        // As for one entity.
        var spare = pendingSaveCount == 0 ? 0 : 16
        while true {
            let widened = query.widened(by: spare)
            let (found, saves, asOf) = try read(.snapshot) { reader throws(DataSourceError) in
                var found: [(entity: Int, rows: [StoredRow])] = []
                for entity in family { found.append((entity, try reader.rows(widened.of(entity: entity)))) }
                return found
            }
            let left = family.map { rowsLeft(by: saves, ofEntity: $0) }
            let most = left.reduce(0) { max($0, $1.count) }
            if most <= spare || query.limit == nil {
                var rows: [(entity: Int, rows: [StoredRow])] = []
                for (found, left) in zip(found, left) {
                    let laid = try query.lay(left, over: found.rows, layout.entities[found.entity])
                    rows.append((found.entity, laid))
                }
                return (rows, asOf)
            }
            spare = most * 2
        }
    }

    /// How many rows of one entity match; limit and offset do not count.
    func count(_ query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> Int {
        let query = query.unlimited
        let (count, saves, _) = try read(.statement) { reader throws(DataSourceError) in try reader.count(query) }
        if rowsLeft(by: saves, ofEntity: query.entity).isEmpty { return count }
        return try rows(query, layout).rows.count
    }

    /// The row of that key, or nil.
    func row(entity: Int, key: Int64) throws(DataSourceError) -> (row: RowSnapshot?, asOf: Int64) {
        let (row, saves, asOf) = try read(.statement) { reader throws(DataSourceError) in
            try reader.row(entity: entity, key: key)
        }
        return (rowsLeft(by: saves, ofEntity: entity)[key] ?? row, asOf)
    }

    /// The row with those values in the columns of one uniqueness constraint, or nil.
    func row(
        entity: Int, constraint: Int, values: [RowValue], _ layout: EntityLayout
    ) throws(DataSourceError) -> (row: StoredRow?, asOf: Int64) {
        let (stored, saves, asOf) = try read(.statement) { reader throws(DataSourceError) in
            try reader.row(entity: entity, constraint: constraint, values: values)
        }
        let left = rowsLeft(by: saves, ofEntity: entity)
        if left.isEmpty { return (stored, asOf) }
        let columns = layout.constraints[constraint]
        for case (let key, let row?) in left where zip(columns, values).allSatisfy({ row.holds($1, column: $0) }) {
            return (StoredRow(key: key, row: row), asOf)
        }
        return (stored.flatMap { left.keys.contains($0.key) ? nil : $0 }, asOf)
    }
}
