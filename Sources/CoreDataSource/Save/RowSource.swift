package import RowStore

/// The source of a context's rows: the root, or a snapshot of the root. The root always has the newest rows. The snapshot of a
/// pinned main context stays open.
package enum RowSource {
    case root(RootTier)
    case pinned(PinnedRows)
    case snapshot(RootSnapshot)

    /// The number of the newest save that a read from this source can see.
    var newestSave: SaveNumber {
        switch self {
        case .root(let root): root.newestSave
        case .pinned(let rows): rows.newestSave
        case .snapshot(let snapshot): snapshot.newestSave
        }
    }

    /// The number of resets of the store.
    var generation: Int {
        switch self {
        case .root(let root): root.generation
        case .pinned(let rows): rows.generation
        case .snapshot(let snapshot): snapshot.generation
        }
    }

    func hasPendingRows(_ entity: Int) -> Bool {
        switch self {
        case .root(let root): root.hasPendingRows(entity)
        case .pinned(let rows): rows.hasPendingRows(entity)
        case .snapshot(let snapshot): !snapshot.pending.isEmpty(entity)
        }
    }

    /// Reads from the store, and then looks up the pending rows that the store might not have yet; see
    /// ``RootTier/read(_:_:pending:)``.
    ///
    /// - Parameter pending: Looks up the pending rows of saves after the given number.
    /// - Returns: Both results, and the number of the newest save that they include.
    func read<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber) {
        switch self {
        case .root(let root): return try root.read(isolation, body, pending: pending)
        case .pinned(let rows): return try rows.read(isolation, body, pending: pending)
        case .snapshot(let snapshot):
            return try snapshot.read(body, pending)
        }
    }

    /// Like ``read(_:_:pending:)``, but calls the body at most once. Returns nil in the cases in which
    /// ``RootTier/readOnce(_:_:pending:)`` returns nil, or if a pinned snapshot ended during the read.
    func readOnce<R, P>(
        _ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R,
        pending: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber)? {
        switch self {
        case .root(let root): return try root.readOnce(isolation, body, pending: pending)
        case .pinned(let rows): return try rows.readOnce(isolation, body, pending: pending)
        case .snapshot(let snapshot): return try snapshot.read(body, pending)
        }
    }
}

/// The store and the pending saves at one moment. A snapshot is valid only during the body of ``RootTier/withSnapshot(_:)``.
package struct RootSnapshot {
    fileprivate let reader: any StoreReader
    fileprivate let pending: PendingRows
    /// The store has the rows of all saves up to this number. Rows of later saves may be missing in the store.
    fileprivate let start: SaveNumber
    fileprivate let newestSave: SaveNumber
    fileprivate let generation: Int

    fileprivate func read<R, P>(
        _ body: (any StoreReader) throws(DataSourceError) -> R, _ pending: (borrowing PendingRows, SaveNumber) -> P
    ) throws(DataSourceError) -> (result: R, pending: P, asOf: SaveNumber) {
        let result = try body(reader)
        return (result, pending(self.pending, start), newestSave)
    }
}

extension RootTier {
    package var rows: RowSource { .root(self) }

    /// Calls the body with a snapshot of all rows. Later saves do not change the snapshot.
    ///
    /// Writers continue during the call. The write-ahead log cannot be restarted before the body returns.
    func withSnapshot<R>(
        _ body: (RootSnapshot) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        while true {
            if let result = try withSnapshotOnce(body) { return result }
        }
    }

    /// Like ``withSnapshot(_:)``, but tries only once. Returns nil if, before the snapshot was complete, something happened for
    /// which ``readOnce(_:_:pending:)`` returns nil.
    private func withSnapshotOnce<R>(
        _ body: (RootSnapshot) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R? {
        let (start, oldest) = state.withLock { ($0.log.beginRead(), $0.readBasis) }
        var isReading = true
        defer { if isReading { state.withLock { $0.log.endRead(from: start) } } }
        return try store.read(.snapshot) { reader throws(DataSourceError) -> R? in
            // A transaction sees the state at its first read. Copy the pending rows after this read, so that each save is in
            // the store or in the copy.
            if let entity = layout.entities.first(where: { !$0.isAbstract }) {
                _ = try reader.row(entity: entity.index, key: 0)
            }
            try follow(to: reader.position)
            let (pending, newest, basis) = state.withLock { state in
                // Copy the rows first, and then end the read in the log. From then on, the log may drop rows that the snapshot
                // needs.
                defer { state.log.endRead(from: start) }
                return (state.log.rows, state.log.newest, state.readBasis)
            }
            isReading = false
            guard basis == oldest else { return nil }
            return try body(
                RootSnapshot(
                    reader: reader, pending: pending, start: start, newestSave: newest, generation: basis.generation))
        }
    }
}

/// The rows that contexts see. Pending rows replace rows of the store.
extension RowSource {
    /// Returns the matching rows of one entity, and the number of the newest save that the rows include.
    package func rows(
        _ query: RowQuery, _ layout: EntityLayout
    ) throws(DataSourceError) -> (rows: [StoredRow], asOf: SaveNumber) {
        // For a query with an offset, let the store skip the rows up to the offset. This result is valid only if no newer
        // rows are pending. Without an offset, such an attempt saves nothing: `firstRows` also needs only one read, and merges
        // newer rows.
        if query.offset > 0, !hasPendingRows(query.entity) {
            var rows: [StoredRow] = []
            let (_, isNewest, asOf) = try read(.statement) { reader throws(DataSourceError) in
                rows = try reader.rows(query)
            } pending: {
                $0.view(query.entity, after: $1).isEmpty
            }
            if isNewest { return (rows, asOf) }
        }
        let (first, asOf) = try firstRows(query, [query.entity]) { _ in layout }
        return (query.window(first[0].rows), asOf)
    }

    /// Calls the body with each matching row of one entity, as soon as the row is read.
    ///
    /// - Returns: The number of the newest save that the rows include. Nil if there may be newer rows, because a save was
    ///   pending or added, or because a reset or a bulk change began. In this case, read the rows with ``rows(_:_:)``.
    func forEachCommittedRow(
        _ query: RowQuery, _ body: (StoredRow) -> Void
    ) throws(DataSourceError) -> SaveNumber? {
        if hasPendingRows(query.entity) { return nil }
        let read = try readOnce(.statement) { reader throws(DataSourceError) in
            try reader.forEachRow(query, body)
        } pending: {
            $0.view(query.entity, after: $1).isEmpty
        }
        return read.flatMap { $0.pending ? $0.asOf : nil }
    }

    /// Aggregates the matching rows of one entity in the store.
    ///
    /// - Returns: The results. Nil if the store cannot aggregate, if the query has a limit or an offset, or if
    ///   ``forEachCommittedRow(_:_:)`` would return nil. The results must then be calculated from rows.
    func committedResults(
        _ aggregations: [Aggregation], of query: RowQuery
    ) throws(DataSourceError) -> [RowValue]? {
        if query.limit != nil || query.offset > 0 || hasPendingRows(query.entity) { return nil }
        let read = try readOnce(.statement) { reader throws(DataSourceError) in
            try (reader as? any AggregatingReader)?.results(aggregations, of: query)
        } pending: {
            $0.view(query.entity, after: $1).isEmpty
        }
        return read.flatMap { $0.pending ? $0.result : nil }
    }

    /// Returns the matching rows of several entities, all as of the same save. Limit and offset are ignored.
    func rows(
        _ query: RowQuery, ofEntities family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: SaveNumber) {
        try firstRows(query.unlimited, ofEntities: family, layout)
    }

    /// Returns at least the first `offset + limit` matching rows of each entity, all as of the same save.
    func firstRows(
        _ query: RowQuery, ofEntities family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: SaveNumber) {
        try firstRows(query, family) { layout.entities[$0] }
    }

    private func firstRows(
        _ query: RowQuery, _ family: [Int], _ layout: (_ entity: Int) -> EntityLayout
    ) throws(DataSourceError) -> (rows: [(entity: Int, rows: [StoredRow])], asOf: SaveNumber) {
        // Pending rows can replace stored rows, so read some more stored rows.
        let hasPending = family.contains(where: hasPendingRows)
        let lookup = hasPending ? LinkLookup(query, layout(query.entity)) : nil
        return try query.firstRows(spare: hasPending ? 16 : 0, layout) { widenedQuery throws(DataSourceError) in
            var found: [(entity: Int, rows: [StoredRow])] = []
            let (_, layers, asOf) = try read(family.count == 1 ? .statement : .snapshot) {
                reader throws(DataSourceError) in
                found = []
                for entity in family { found.append((entity, try reader.rows(widenedQuery.of(entity: entity)))) }
            } pending: { rows, start in
                found.map { entity, older in
                    LayeredRows(
                        entity: entity, older: older, newer: rows.view(entity, lookup, under: older, after: start))
                }
            }
            return (layers, asOf)
        }
    }

    func isEmpty(_ layout: EntityLayout) throws(DataSourceError) -> Bool {
        let query = RowQuery(entity: layout.index, limit: 1)
        let (isStored, isNewer, _) = try read(.statement) { reader throws(DataSourceError) in
            try !reader.rows(query).isEmpty
        } pending: { rows, start in
            (any: !rows.isEmpty(layout.index), present: rows.hasRow(layout.index, after: start))
        }
        if isNewer.present { return false }
        // A pending save may delete the stored row.
        return try isNewer.any ? rows(query, layout).rows.isEmpty : !isStored
    }

    /// Returns the number of matching rows of several entities, all as of the same save. Limit and offset are ignored.
    func count(
        _ query: RowQuery, ofEntities family: [Int], _ layout: ModelLayout
    ) throws(DataSourceError) -> Int {
        if family.isEmpty { return 0 }
        let query = query.unlimited
        let (count, isNewest, _) = try read(family.count == 1 ? .statement : .snapshot) {
            reader throws(DataSourceError) in
            var count = 0
            for entity in family { count += try reader.count(query.of(entity: entity)) }
            return count
        } pending: { rows, start in
            family.allSatisfy { rows.view($0, after: start).isEmpty }
        }
        if isNewest { return count }
        if let entity = family.first, family.count == 1 {
            return try rows(query.of(entity: entity).keysOnly, layout.entities[entity]).rows.count
        }
        // Count each entity separately, so that rows are read only for entities with pending rows.
        return try withOneState { source throws(DataSourceError) in
            var count = 0
            for entity in family { count += try source.count(query, ofEntities: [entity], layout) }
            return count
        }
    }

    /// Returns the row with the given key; nil if there is none.
    package func row(
        entity: Int, key: Int64, _ isolation: ReadIsolation = .statement
    ) throws(DataSourceError) -> (row: RowSnapshot?, asOf: SaveNumber) {
        let (row, pending, asOf) = try read(isolation) { reader throws(DataSourceError) in
            try reader.row(entity: entity, key: key)
        } pending: {
            $0.row(entity, key, after: $1)
        }
        return (pending.map(\.row) ?? row, asOf)
    }

    /// Returns the rows with the given keys, in any order.
    ///
    /// **Complexity**: one query and one look-up of a pending row for each key, no matter how many small saves are pending.
    func rows(
        entity: Int, keys: [Int64], deferringValues: Bool = false, _ budget: QueryBudget
    ) throws(DataSourceError) -> (rows: [StoredRow], asOf: SaveNumber) {
        var query = RowQuery(
            entity: entity, predicate: .isMember(.key, ValueList(keys.map { .integer($0) }, .natural)), budget: budget)
        query.defersValues = deferringValues
        let (rows, pending, asOf) = try read(.statement) { reader throws(DataSourceError) in
            try reader.rows(query)
        } pending: { rows, start in
            keys.compactMap { key in rows.row(entity, key, after: start).map { (key: key, row: $0.row) } }
        }
        if pending.isEmpty { return (rows, asOf) }
        let replaced = Set(pending.map(\.key))
        return (
            rows.filter { !replaced.contains($0.key) }
                + pending.compactMap { key, row in row.map { StoredRow(key: key, row: $0) } }, asOf
        )
    }

    /// Reads the rows with the given keys, a thousand keys at a time.
    ///
    /// - Parameter body: Called with each key, the row or nil, and the number of the newest save that the read includes.
    func forEachRow(
        entity: Int, keys: [Int64], deferringValues: Bool = false,
        _ body: (_ key: Int64, RowSnapshot?, _ asOf: SaveNumber) -> Void
    ) throws(DataSourceError) {
        for part in keys.chunks(ofSize: 1000) {
            let (rows, asOf) = try rows(
                entity: entity, keys: Array(part), deferringValues: deferringValues, QueryBudget(isCancellable: false))
            let found = Dictionary(rows.map { ($0.key, $0.row) }) { first, _ in first }
            for key in part { body(key, found[key], asOf) }
        }
    }

    /// Returns the row with the given values in the columns of a uniqueness constraint; nil if there is none.
    package func row(
        entity: Int, constraint: Int, values: [RowValue], _ layout: EntityLayout,
        _ isolation: ReadIsolation = .statement
    ) throws(DataSourceError) -> (row: StoredRow?, asOf: SaveNumber) {
        var stored: StoredRow?
        let (_, found, asOf) = try read(isolation) { reader throws(DataSourceError) in
            stored = try reader.row(entity: entity, constraint: constraint, values: values)
        } pending: { rows, start -> StoredRow? in
            if let row = rows.row(entity, constraint: constraint, values: values, after: start) { return row }
            // If a pending save has changed the stored row, the row no longer has the values.
            return stored.flatMap { rows.row(entity, $0.key, after: start) == nil ? $0 : nil }
        }
        return (found, asOf)
    }
}

extension RowQuery {
    /// The query for the same rows in any order, without the values of the rows.
    var keysOnly: RowQuery {
        var query = self
        query.isOrdered = false
        query.columns = []
        return query
    }
}
