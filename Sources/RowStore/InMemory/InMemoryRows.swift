/// All rows of a store, held in memory. A custom store uses it to answer queries and to find out which saves it may write.
///
/// A store loads its rows when it is opened, and passes on commits and reads. Uniqueness, refusals, keys and every query are
/// handled:
///
/// ```swift
/// let rows = InMemoryRows(options.layout, firstFreeKey: plan.metadata.firstFreeKey)
/// try rows.load([StoredRow(key: 1, row: try layout.row(values))], entity: layout.index)
/// ```
///
/// **Isolation**: none. Any thread may read; one at a time may write. A reader works on the state at its beginning; a commit
/// meanwhile copies the tables that it changes.
///
/// **Complexity**: a commit takes time proportional to the rows that it changes. A query looks at every row of its entity;
/// look-ups by key and by a uniqueness constraint are O(1).
public final class InMemoryRows: Sendable {
    /// The model.
    public let layout: ModelLayout
    private let state: Guarded<MemoryState?>

    /// Makes an empty set of rows.
    ///
    /// - Parameters:
    ///   - layout: The model: ``StoreOptions/layout``.
    ///   - firstFreeKey: The first key that no row ever had, or a greater one: ``StoreMetadata/firstFreeKey``.
    public init(_ layout: ModelLayout, firstFreeKey: Int64 = 1) {
        self.layout = layout
        state = Guarded(MemoryState(layout, firstFreeKey: max(1, firstFreeKey)))
    }

    /// How far above the highest key the bound for new keys is set.
    static let keyReserve: Int64 = 1024

    /// The first key that no row ever had, or a greater one. It grows in steps, so that a store seldom has to write it.
    public var firstFreeKey: Int64 { state.withLock { $0?.firstFreeKey ?? 1 } }

    /// Adds stored rows, before the object is used.
    ///
    /// - Parameters:
    ///   - rows: Rows of one entity, as ``EntityLayout/row(_:)-([RowValue])`` makes them.
    ///   - entity: The entity's place in ``ModelLayout/entities``.
    /// - Throws: `uniquenessViolated` if two rows have the same key or unique values, `abstractEntity`, `storeCorrupt`,
    ///   `storeClosed`. The store cannot be opened then.
    public func load(_ rows: [StoredRow], entity: Int) throws(DataSourceError) {
        try withState { (state) throws(DataSourceError) in try state.load(rows, entity) }
    }

    /// How many objects there are; links are not counted.
    ///
    /// - Parameter names: The names of the entities to count; nil, the default, for all of them.
    public func objectCount(of names: Set<String>? = nil) -> Int {
        state.withLock { state in
            guard let state else { return 0 }
            return state.tables.reduce(0) { count, table in
                guard let table, table.layout.links == nil, names?.contains(table.layout.name) ?? true else {
                    return count
                }
                return count + table.rows.count
            }
        }
    }

    /// Applies the changes of a group, as ``PersistentStore/commit(_:)`` must, after they were written.
    ///
    /// **Ordering**: readers see the changes after they were written.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - write: Writes the accepted change sets, in their order, all or none, with the new ``firstFreeKey``. It is called
    ///     once, without a lock, and not at all if every change set is refused. If it throws, the rows stay unchanged. Nil, the
    ///     default, writes nothing.
    /// - Returns: Which change sets were refused, and why.
    /// - Throws: `storeClosed`, and what the closure throws.
    public func commit(
        _ group: [ChangeSet],
        writing write: ((_ accepted: [ChangeSet], _ firstFreeKey: Int64) throws(DataSourceError) -> Void)? = nil
    ) throws(DataSourceError) -> CommitOutcome {
        guard let write else {
            return try withState { (state) throws(DataSourceError) in state.commit(group) }
        }
        let (outcome, firstFreeKey) = try withState { (state) throws(DataSourceError) in state.rehearse(group) }
        let accepted = group.indices.lazy.filter { outcome.refused[$0] == nil }.map { group[$0] }
        guard !accepted.isEmpty else { return outcome }
        try write(Array(accepted), firstFreeKey)
        state.withLock { _ = $0?.commit(Array(accepted)) }
        return outcome
    }

    /// Passes a reader to the body, as ``PersistentStore/read(_:_:)`` must.
    ///
    /// - Parameters:
    ///   - isolation: Whether all reads of the body see the same state.
    ///   - body: It reads.
    /// - Throws: `storeClosed`, and what the body throws.
    public func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        let state = try current()
        return try body(MemoryReader(store: self, snapshot: isolation == .snapshot ? state : nil))
    }

    /// Removes all rows; later keys are greater than all earlier ones.
    ///
    /// - Parameter didEmpty: Called once the rows are gone, while reads still wait.
    /// - Returns: How many objects there were.
    /// - Throws: `storeClosed`.
    @discardableResult
    public func removeAll(didEmpty: () -> Void = {}) throws(DataSourceError) -> Int {
        let count = objectCount()
        try withState { (state) throws(DataSourceError) in
            state = MemoryState(layout, firstFreeKey: state.firstFreeKey)
            didEmpty()
        }
        return count
    }

    /// The changes that remove the objects of some entities and all links to them, for ``StartupPlan/droppedEntities``. The
    /// rows stay until the changes are committed.
    ///
    /// **Complexity**: O(n) in the number of all rows.
    ///
    /// - Parameter names: The names of the entities.
    /// - Throws: `storeClosed`.
    public func changes(droppingEntities names: Set<String>) throws(DataSourceError) -> ChangeSet {
        try current().changes(layout, droppingEntities: names)
    }

    /// Forgets all rows. Later calls throw `storeClosed`.
    public func close() {
        state.withLock { $0 = nil }
    }

    // MARK: State

    func current() throws(DataSourceError) -> MemoryState {
        guard let state = state.withLock({ $0 }) else { throw InMemoryRows.closed }
        return state
    }

    private func withState<R: Sendable>(
        _ body: (inout MemoryState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try state.withLock { (state) throws(DataSourceError) in
            guard let result = try state?.mutate(body) else { throw InMemoryRows.closed }
            return result
        }
    }

    private static let closed = DataSourceError(.storeClosed, "The store was closed. Open it again before using it.")
}

extension MemoryState {
    /// Calls the body with the state in place, because unwrapping it into a variable would copy it.
    fileprivate mutating func mutate<R>(
        _ body: (inout MemoryState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try body(&self)
    }
}
