/// A store without files, for previews, tests, and data that must leave no trace.
///
/// Queries have the same results as in an SQLite store.
package final class InMemoryStore: PersistentStore {
    private let rows: InMemoryRows
    /// The kept history; nil for none.
    private let history: Guarded<MemoryHistory>?

    package init(_ layout: ModelLayout, history: KeptHistory = .unchanged, name: String? = nil) {
        rows = InMemoryRows(layout)
        if case .kept(let limits) = history.choice {
            self.history = Guarded(MemoryHistory(layout, limits, name: name))
        } else {
            self.history = nil
        }
    }

    package var firstFreeKey: Int64 { rows.firstFreeKey }

    package func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        let outcome = try rows.commit(group)
        history?.withLock { history in
            for (index, set) in group.enumerated() where outcome.refused[index] == nil { history.append(set) }
        }
        return outcome
    }

    package func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try rows.read(isolation, body)
    }

    package func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        let startup = StoreStartup(
            reason: .requested,
            rowsDropped: try rows.removeAll {
                didEmpty()
                history?.withLock { $0.end("The store was reset.") }
            })
        return startup
    }

    package func close() { rows.close() }
}

extension InMemoryStore: RecordStore {
    package var keepsHistory: Bool { history != nil }

    package func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        try withHistory { (history) throws(DataSourceError) in try history.page(after: position, filter) }
    }

    package func historyEnd() throws(DataSourceError) -> HistoryPosition {
        try withHistory { (history) throws(DataSourceError) in history.newest }
    }

    package func changeConsumer(
        _ name: String, _ change: ConsumerChange
    ) throws(DataSourceError) -> HistoryPosition? {
        try withHistory { (history) throws(DataSourceError) in try history.changeConsumer(name, change) }
    }

    private func withHistory<R: Sendable>(
        _ body: (inout MemoryHistory) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        guard let history else { throw DataSourceError.historyNotKept }
        _ = try rows.current()
        return try history.withLock { (history) throws(DataSourceError) in try history.use(body) }
    }
}

extension InMemoryStore: SnapshotStore {
    package func openSnapshot(named name: String) throws(DataSourceError) -> any StoreSnapshot {
        MemorySnapshot(rows, try rows.current())
    }

    package var logByteCount: Int? { nil }
}

/// A snapshot of all tables. A later commit does not change the snapshot: the commit copies the tables that it changes.
private final class MemorySnapshot: StoreSnapshot {
    private let rows: InMemoryRows
    private let state: MemoryState

    init(_ rows: InMemoryRows, _ state: MemoryState) { (self.rows, self.state) = (rows, state) }

    /// Whether the store is closed.
    var hasEnded: Bool { (try? rows.current()) == nil }

    func read<R>(_ body: (any StoreReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        if hasEnded { return nil }
        return try body(MemoryReader(store: rows, snapshot: state))
    }
}

/// Reads from one snapshot, or from the newest state in each call.
struct MemoryReader: StoreReader {
    let store: InMemoryRows
    let snapshot: MemoryState?

    private func state() throws(DataSourceError) -> MemoryState {
        if let snapshot { return snapshot }
        return try store.current()
    }

    func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
        for row in try MemoryView(layout: store.layout, state: state()).answer(query) { body(row) }
    }

    func count(_ query: RowQuery) throws(DataSourceError) -> Int {
        if !query.joined.isEmpty { return try rows(query.unlimited).count }
        guard let table = try state().tables[query.entity] else { return 0 }
        var count = 0
        for (key, row) in table.candidates(query.predicate) {
            try query.budget.countRow()
            if try query.predicate.evaluate(row, key: key, table.layout, query.budget) { count += 1 }
        }
        return count
    }

    func row(entity: Int, key: Int64) throws(DataSourceError) -> RowSnapshot? {
        try state().tables[entity]?.rows[key]
    }

    func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
        guard let table = try state().tables[entity], !values.contains(.null),
            let key = table.keys[constraint][values], let row = table.rows[key]
        else { return nil }
        return StoredRow(key: key, row: row)
    }
}

extension InMemoryStore: ScopeStore {}

extension MemoryReader: ScopeReader {
    func scope(named name: String) throws(DataSourceError) -> StoredScope? { try state().scopes[ExactString(name)] }
}

extension MemoryReader: AggregatingReader {
    func results(_ aggregations: [Aggregation], of query: RowQuery) throws(DataSourceError) -> [RowValue]? {
        guard query.joined.isEmpty, let table = try state().tables[query.entity] else { return nil }
        var results = aggregations
        for (key, row) in table.candidates(query.predicate) {
            try query.budget.countRow()
            guard try query.predicate.evaluate(row, key: key, table.layout, query.budget) else { continue }
            for index in results.indices { results[index].add(StoredRow(key: key, row: row)) }
        }
        // Let the caller calculate the results: the caller knows the attributes, and can name the damaged attribute in
        // its error.
        if results.contains(where: \.isDamaged) { return nil }
        return try results.map { (aggregation) throws(DataSourceError) in try aggregation.result() }
    }
}

private struct MemoryView: RowView {
    let layout: ModelLayout
    let state: MemoryState

    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try state.tables[query.entity]?.rows(query) ?? []
    }
}
