internal import RowStore

/// Rows that replace older ones: those of saves that a read of the store lacks, or the edits of a batch.
protocol NewerRows {
    var isEmpty: Bool { get }
    /// Whether the older row with that key, if there is one, is ignored.
    func replaces(_ key: Int64) -> Bool
    /// The rows that count instead and match, in any order.
    func rows(_ query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> [StoredRow]
}

/// The older rows of an entity, and what replaces some of them.
struct LayeredRows<Newer: NewerRows> {
    let entity: Int
    let older: [StoredRow]
    let newer: Newer
}

extension RowQuery {
    /// The rows of each entity with the newer ones laid over the older ones: at least the first ones, as many as limit and offset say.
    ///
    /// - Parameters:
    ///   - spare: How many older rows to read beyond the limit at first, because newer ones may replace as many.
    ///   - layout: The layout of an entity.
    ///   - read: Reads the older rows of each entity for a query without an offset, and the newest save that they take into account.
    /// - Throws: What the predicate and the reading throw.
    func firstRows<Newer>(
        spare: Int, _ layout: (_ entity: Int) -> EntityLayout,
        _ read: (RowQuery) throws(DataSourceError) -> (layers: [LayeredRows<Newer>], asOf: Int64)
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: Int64) {
        var spare = spare
        while true {
            let asked = widened(by: spare)
            let (layers, asOf) = try read(asked)
            var first: [(entity: Int, rows: [StoredRow])] = []
            for layer in layers {
                let isComplete = asked.limit.map { layer.older.count < $0 } ?? true
                guard let rows = try firstRows(layer, isComplete: isComplete, layout(layer.entity)) else { break }
                first.append((layer.entity, rows))
            }
            if first.count == layers.count { return (first, asOf) }
            spare = max(16, spare * 4)
        }
    }

    /// - Parameter isComplete: Whether the older rows are all that match.
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
            // Older rows that were not read may come before newer rows that follow the last one that was read.
            while let row = rows.last, last.precedes(row, by: sort, layout) { rows.removeLast() }
        }
        return rows.count >= offset + (limit ?? .max) ? rows : nil
    }
}

extension RowPredicate {
    /// A column and a few values, one of which every matching row has there; nil if the predicate has no such column.
    func wantedValues(_ layout: EntityLayout) -> (column: Int, values: [RowValue])? {
        switch self {
        case .compare(let column, .equal, let value): return wanted(column, [value], layout)
        case .isIn(let column, let values): return wanted(column, values, layout)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return wanted(column, list.elements, layout)
        case .and(let parts):
            return parts.compactMap { $0.wantedValues(layout) }.min { $0.values.count < $1.values.count }
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

    /// Whether every matching row is in a range of a column that an index of the store finds.
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
