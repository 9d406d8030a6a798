/// Rows that live as long as the store: for previews, tests, and data that must leave no trace.
///
/// It answers as the SQLite store does. A reader works on the state as it was when it began; a commit meanwhile copies
/// the tables that it changes.
package final class InMemoryStore: PersistentStore {
    private let state: Guarded<MemoryState?>
    fileprivate let layout: ModelLayout

    package init(_ layout: ModelLayout) {
        self.layout = layout
        state = Guarded(MemoryState(layout))
    }

    /// How far ahead of the highest key the bound for new keys is set.
    static let keyReserve: Int64 = 1024

    package let longestValue = RowSnapshot.longestValue

    package var firstFreeKey: Int64 {
        state.withLock { $0?.firstFreeKey ?? 1 }
    }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try state.withLock { (state) throws(DataSourceError) in
            guard let outcome = state?.commit(group) else { throw InMemoryStore.closed }
            return outcome
        }
    }

    package func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        let state = try current()
        return try body(MemoryReader(store: self, snapshot: isolation == .snapshot ? state : nil))
    }

    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        try state.withLock { (state) throws(DataSourceError) in
            guard let old = state else { throw InMemoryStore.closed }
            state = MemoryState(layout, firstFreeKey: old.firstFreeKey)
            didEmpty()
            return StoreStartup(
                reason: .requested, rowsDropped: old.tables.reduce(0) { $0 + ($1?.rows.count ?? 0) })
        }
    }

    package func close() {
        state.withLock { $0 = nil }
    }

    func current() throws(DataSourceError) -> MemoryState {
        guard let state = state.withLock({ $0 }) else { throw InMemoryStore.closed }
        return state
    }

    private static let closed = DataSourceError(.storeClosed, "The store was closed. Open it again before using it.")
}

/// Reads one state, or the newest one each time.
private struct MemoryReader: StoreReader {
    let store: InMemoryStore
    let snapshot: MemoryState?

    private func table(_ entity: Int) throws(DataSourceError) -> MemoryTable? {
        if let snapshot { return snapshot.tables[entity] }
        return try store.current().tables[entity]
    }

    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        if !query.joined.isEmpty {
            let state = if let snapshot { snapshot } else { try store.current() }
            let view = MemoryView(layout: store.layout, state: state)
            for row in try Join(view, query.budget).rows(query, [query.entity]) { body(row.stored) }
            return
        }
        for row in try table(query.entity)?.rows(query) ?? [] { body(row) }
    }

    func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        if !query.joined.isEmpty { return try rows(query.unlimited).count }
        guard let table = try table(query.entity) else { return 0 }
        var count = 0
        for (key, row) in table.rows {
            try query.budget.countRow()
            if try query.predicate.evaluate(row, key: key, table.layout, query.budget) { count += 1 }
        }
        return count
    }

    func explain(_ query: RowQuery) throws(DataSourceError) -> QueryExplanation {
        QueryExplanation(text: "", steps: [QueryExplanation.inMemory])
    }

    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        try table(entity)?.rows[key]
    }

    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
        guard let table = try table(entity), !values.contains(.null),
            let key = table.keys[constraint][values], let row = table.rows[key]
        else { return nil }
        return StoredRow(key: key, row: row)
    }
}

/// The rows of one state.
private struct MemoryView: RowView {
    let layout: ModelLayout
    let state: MemoryState

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try state.tables[query.entity]?.rows(query) ?? []
    }
}
