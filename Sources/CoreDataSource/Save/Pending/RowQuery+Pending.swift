internal import RowStore

/// Rows that replace older rows: the edits of a batch, or the rows of saves that a read of the store did not include.
protocol NewerRows {
    var isEmpty: Bool { get }
    /// Whether a newer row replaces or deletes the older row with the key.
    func replaces(_ key: Int64) -> Bool
    /// The newer rows that match, in any order.
    func rows(_ query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> [StoredRow]
}

/// The older rows of an entity, and the rows that replace some of them.
struct LayeredRows<Newer: NewerRows> {
    let entity: Int
    let older: [StoredRow]
    let newer: Newer
}

extension RowQuery {
    /// Returns at least the first `offset + limit` rows of each entity. Newer rows replace older rows.
    ///
    /// - Parameters:
    ///   - spare: The number of older rows to read beyond the limit at first. Newer rows may replace up to
    ///     that many older rows before another read is necessary.
    ///   - layout: The layout of an entity.
    ///   - read: Runs a query without an offset. Returns the older rows of each entity, and the number of the newest save that
    ///     these rows include.
    /// - Throws: Errors of the predicate, and any error that `read` throws.
    func firstRows<Newer>(
        spare: Int, _ layout: (_ entity: Int) -> EntityLayout,
        _ read: (RowQuery) throws(DataSourceError) -> (layers: [LayeredRows<Newer>], asOf: SaveNumber)
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: SaveNumber) {
        var spare = spare
        while true {
            let widenedQuery = widened(by: spare)
            let (layers, asOf) = try read(widenedQuery)
            var first: [(entity: Int, rows: [StoredRow])] = []
            for layer in layers {
                let isComplete = widenedQuery.limit.map { layer.older.count < $0 } ?? true
                guard let rows = try firstRows(layer, isComplete: isComplete, layout(layer.entity)) else { break }
                first.append((layer.entity, rows))
            }
            if first.count == layers.count { return (first, asOf) }
            spare = max(16, spare * 4)
        }
    }

    /// - Parameter isComplete: Whether all matching older rows were read.
    /// - Returns: Nil if more older rows must be read.
    private func firstRows(
        _ layers: LayeredRows<some NewerRows>, isComplete: Bool, _ layout: EntityLayout
    ) throws(DataSourceError) -> [StoredRow]? {
        let (stored, newer) = (layers.older, layers.newer)
        if newer.isEmpty { return stored }
        let more = try newer.rows(of(entity: layers.entity), layout)
        var rows = merge(more, into: stored.filter { !newer.replaces($0.key) }, layout)
        if isComplete { return rows }
        if isOrdered, let last = stored.last {
            // Drop the newer rows after the last older row that was read, because an unread older row may come before these
            // newer rows.
            while let row = rows.last, last.precedes(row, by: sort, layout) { rows.removeLast() }
        }
        return rows.count >= offset + (limit ?? .max) ? rows : nil
    }
}

extension RowPredicate {
    /// Returns a column and a few values, if each matching row has one of these values in the column. Otherwise nil.
    func wantedValues(_ layout: EntityLayout) -> (column: Int, values: [RowValue])? {
        switch self {
        case .compare(let column, .equal, let value): return wanted(column, [value], layout)
        case .isIn(let column, let values): return wanted(column, values, layout)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return wanted(column, list.elements, layout)
        case .and(let parts):
            let wanted = parts.compactMap { $0.wantedValues(layout) }
            // Most links of a relationship lead to objects of the same few entities, so a column with the entity of a link
            // excludes few rows. Prefer other columns.
            let selective = wanted.filter { !layout.isEntityOfLink($0.column) }
            return (selective.isEmpty ? wanted : selective).min { $0.values.count < $1.values.count }
        default: return nil
        }
    }

    private func wanted(
        _ column: Int, _ values: [RowValue], _ layout: EntityLayout
    ) -> (column: Int, values: [RowValue])? {
        if JoinedColumn.isJoined(column) { return nil }
        let storage = layout.columns[column].storage
        return (
            column,
            values.count == 1 && values[0].fits(storage) ? values : Array(Set(values.filter { $0.fits(storage) }))
        )
    }

    /// Whether the predicate limits an indexed column to a range or a value.
    func isInIndexedRange(_ layout: EntityLayout) -> Bool {
        switch self {
        case .compare(let column, let relation, let value):
            relation != .notEqual && value != .null && !JoinedColumn.isJoined(column)
                && layout.indexedColumns.contains(column)
                && !layout.columns[column].isDecimal
        case .and(let parts): parts.contains { $0.isInIndexedRange(layout) }
        default: false
        }
    }
}

extension EntityLayout {
    /// Whether the column stores to which entity the destination of a link belongs.
    fileprivate func isEntityOfLink(_ column: Int) -> Bool {
        if links != nil { return !linkColumns.contains(column) }
        return relationships.contains { relationship in
            if case .column(let link) = relationship.storage { link.entity == column } else { false }
        }
    }
}
