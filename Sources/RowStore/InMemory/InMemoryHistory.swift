/// A custom store that can keep a history of its saves.
///
/// ``InMemoryHistory`` makes and reads the records. When the store is opened, it loads its records with
/// ``StoreOptions/plan(for:history:)`` and ``StartupPlan/openHistory(_:)``. In each commit, it writes the records together with
/// the rows, with ``InMemoryHistory/append(_:writing:)``. If a store does not implement this protocol, opening it with
/// `Configuration.history` throws `historyNotKept`.
///
/// ```swift
/// public func writeHistory(
///     _ change: StoredHistoryChange
/// ) throws(DataSourceError) {
///     try write([:], nil, nil, change)
/// }
/// ```
public protocol HistoryStore: PersistentStore {
    /// The history; nil if the store keeps none. The value does not change while the store is open.
    var history: InMemoryHistory? { get }

    /// Writes a change of the history that belongs to no save, such as the position of a consumer. Writes all of it or nothing.
    ///
    /// **Isolation**: none. The history calls this method and the closure of ``InMemoryHistory/append(_:writing:)`` one at a
    /// time.
    ///
    /// - Parameter change: The change.
    /// - Throws: `storeClosed`; an error if nothing was written.
    func writeHistory(_ change: StoredHistoryChange) throws(DataSourceError)
}

/// The history of a custom store, in memory. ``KeptHistory/kept(for:upTo:)`` limits the age and the bytes of the records.
///
/// ```swift
/// try history.append(accepted) { (change) throws(DataSourceError) in
///     try write(files, change)
/// }
/// ```
///
/// **Isolation**: none. Any thread may read. Changes are made one after the other.
public final class InMemoryHistory: Sendable {
    private struct State: Sendable {
        var history: MemoryHistory
        var layouts: [String: String]
    }

    private let encoding: HistoryEncoding
    private let state: Guarded<State>
    /// Locked while a change is written. Readers do not wait for this lock.
    private let isWriting = Guarded(false)

    init(_ layout: ModelLayout, _ history: MemoryHistory, layouts: [String: String]) {
        encoding = HistoryEncoding(layout)
        var layouts = layouts
        layouts[String(encoding.signature, radix: 16)] = encoding.names.text
        state = Guarded(State(history: history, layouts: layouts))
    }

    /// Records a group of saves.
    ///
    /// ```swift
    /// try history.append(accepted) { (change) throws(DataSourceError) in
    ///     try write(files, change)
    /// }
    /// ```
    ///
    /// **Ordering**: the records can be read after `write` has returned.
    ///
    /// **Complexity**: O(*n*) for *n* changed rows. A call that also drops old records takes O(*m*) more for all *m* records.
    ///
    /// - Parameters:
    ///   - sets: The accepted change sets of a commit, in their order.
    ///   - write: Writes the rows of the change sets and the change of the history, everything or nothing. Called once. If the
    ///     closure throws, the history stays unchanged.
    /// - Throws: The errors of `write`.
    public func append(
        _ sets: [ChangeSet], writing write: (StoredHistoryChange) throws(DataSourceError) -> Void
    ) throws(DataSourceError) {
        try isWriting.withLock { (_) throws(DataSourceError) in
            let (entries, look, numbers, stored) = state.withLock { state in
                let entries = state.history.entries(sets)
                return (
                    entries, state.history.look(adding: entries), state.history.numbers,
                    StoredHistory(state.history, layouts: state.layouts)
                )
            }
            let dropped = Int64(look?.dropped ?? 0)
            let removed = numbers.flatMap { dropped == 0 ? nil : $0.lowerBound...$0.lowerBound + dropped - 1 }
            try write(
                StoredHistoryChange(
                    removed: removed, added: entries.map { CodableRecord($0.record, encoding) }, stored: stored))
            state.withLock { $0.history.append(entries, look) }
        }
    }

    /// Drops all records, for a reset of the store, and begins a new history.
    ///
    /// ```swift
    /// try history.end { (change) throws(DataSourceError) in
    ///     try write(removedFiles, change)
    /// }
    /// ```
    ///
    /// - Parameter write: Removes all rows and writes the change of the history, everything or nothing. Called once. If the
    ///   closure throws, the history stays unchanged.
    /// - Throws: The errors of `write`.
    public func end(writing write: (StoredHistoryChange) throws(DataSourceError) -> Void) throws(DataSourceError) {
        try isWriting.withLock { (_) throws(DataSourceError) in
            let old = state.withLock { $0 }
            var new = old
            new.history.end("The store was reset.")
            try write(
                StoredHistoryChange(
                    removed: old.history.numbers, added: new.history.all.map { CodableRecord($0, encoding) },
                    stored: StoredHistory(new.history, layouts: new.layouts)))
            let ended = new
            state.withLock { $0 = ended }
        }
    }

    /// The present value of ``StoredHistoryChange/stored``.
    var stored: StoredHistory {
        state.withLock { StoredHistory($0.history, layouts: $0.layouts) }
    }

    /// The records, for the store to write.
    var records: [CodableRecord] {
        let all = state.withLock { $0.history.all }
        return all.map { CodableRecord($0, encoding) }
    }
}

/// The history of a custom store.
private struct CustomHistory: RecordStore {
    let store: any HistoryStore
    let history: InMemoryHistory

    var keepsHistory: Bool { true }

    func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage {
        try history.read { (history) throws(DataSourceError) in try history.page(after: position, filter) }
    }

    func historyEnd() throws(DataSourceError) -> HistoryPosition {
        try history.read { (history) throws(DataSourceError) in history.newest }
    }

    func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition? {
        try history.changeConsumer(name, change) { (change) throws(DataSourceError) in
            if store.isReadOnly { throw DataSourceError.storeReadOnly }
            try store.writeHistory(change)
        }
    }
}

extension InMemoryHistory {
    fileprivate func read<R: Sendable>(
        _ body: (MemoryHistory) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try state.withLock { (state) throws(DataSourceError) in try body(state.history) }
    }

    fileprivate func changeConsumer(
        _ name: String, _ change: ConsumerChange, writing write: (StoredHistoryChange) throws(DataSourceError) -> Void
    ) throws(DataSourceError) -> HistoryPosition? {
        try isWriting.withLock { (_) throws(DataSourceError) in
            let layouts = state.withLock { $0.layouts }
            var (history, position) = (state.withLock { $0.history }, HistoryPosition?.none)
            let old = history.consumers
            position = try history.changeConsumer(name, change)
            if history.consumers == old { return position }
            try write(StoredHistoryChange(removed: nil, added: [], stored: StoredHistory(history, layouts: layouts)))
            let changed = history.consumers
            state.withLock { $0.history.consumers = changed }
            return position
        }
    }
}

extension PersistentStore {
    /// The history of the store; nil for a custom store without a history.
    package var recordStore: (any RecordStore)? {
        if let store = self as? any RecordStore { return store }
        guard let store = self as? any HistoryStore, let history = store.history else { return nil }
        return CustomHistory(store: store, history: history)
    }
}
