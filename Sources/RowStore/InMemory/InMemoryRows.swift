/// All rows of a store, in memory. A custom store uses this class to answer queries, and to decide which saves to refuse.
///
/// The store loads its rows when it is opened, and then forwards commits and reads to this class. The class takes care of
/// uniqueness, refusals, keys and queries:
///
/// ```swift
/// let rows = InMemoryRows(
///     options.layout, firstFreeKey: plan.metadata.firstFreeKey)
/// try rows.load(
///     [StoredRow(key: 1, row: try layout.row(values))], entity: layout.index)
/// ```
///
/// **Isolation**: none. Any thread may read. Only one thread at a time may write. A query sees a single state: if a commit is
/// made during the query, the commit first copies the tables that it changes.
///
/// **Complexity**: a commit takes time proportional to the number of changed rows. A query reads every row of its entity, or
/// only the rows with the keys that its predicate lists. Look-ups by key and by uniqueness constraint are O(1).
public final class InMemoryRows: Sendable {
    /// The model.
    public let layout: ModelLayout
    private let state: Guarded<MemoryState?>

    /// Makes an empty set of rows.
    ///
    /// ```swift
    /// let plan = try options.plan(for: found)
    /// let rows = InMemoryRows(
    ///     options.layout, firstFreeKey: plan.metadata.firstFreeKey)
    /// ```
    ///
    /// - Parameters:
    ///   - layout: The model, from ``StoreOptions/layout``.
    ///   - firstFreeKey: A key greater than every key that a row has ever had, from ``StoreMetadata/firstFreeKey``.
    public init(_ layout: ModelLayout, firstFreeKey: Int64 = 1) {
        self.layout = layout
        state = Guarded(MemoryState(layout, firstFreeKey: max(1, firstFreeKey)))
    }

    /// The number of keys that are reserved beyond the highest key in use, when ``firstFreeKey`` grows.
    static let keyReserve: Int64 = 1024

    /// A key greater than every key that a row has ever had. The value grows in steps, so that a store seldom has to write it.
    public var firstFreeKey: Int64 { state.withLock { $0?.firstFreeKey ?? 1 } }

    /// Adds stored rows. Call this method before commits and reads.
    ///
    /// ```swift
    /// try rows.load(
    ///     [StoredRow(key: 12, row: try layout.row(values))], entity: layout.index)
    /// ```
    ///
    /// - Parameters:
    ///   - rows: Rows of one entity. ``EntityLayout/row(_:)-([RowValue])`` makes such rows.
    ///   - entity: The entity's index in ``ModelLayout/entities``.
    /// - Throws: `uniquenessViolated` if two rows have the same key or the same unique values; `abstractEntity`;
    ///   `storeCorrupt`; `storeClosed`. After an error, the rows are incomplete, so do not open the store.
    public func load(_ rows: [StoredRow], entity: Int) throws(DataSourceError) {
        try withState { (state) throws(DataSourceError) in try state.load(rows, entity) }
    }

    /// Adds stored scopes. Call this method before commits and reads, and only if ``StartupPlan/keepsRows`` is true and no
    /// entity is dropped. Otherwise, the scopes would describe rows that are gone.
    ///
    /// ```swift
    /// try rows.load(scopes)
    /// ```
    ///
    /// - Parameter scopes: The scopes that ``scopes(after:)`` has returned. Of two scopes with the same name, the last is kept.
    /// - Throws: `storeClosed`.
    public func load(_ scopes: [StoredScope]) throws(DataSourceError) {
        try withState { (state) throws(DataSourceError) in state.load(scopes) }
    }

    /// Returns all scopes, sorted by their names, as they will be after the given change sets are committed. Write the scopes
    /// together with the rows of the change sets.
    ///
    /// ```swift
    /// let scopes = try rows.scopes(after: accepted)
    /// ```
    ///
    /// **Complexity**: O(n) in the number of scopes, of which there are at most 10,000, and in the number of change sets.
    ///
    /// - Parameter sets: The accepted change sets, which are not committed yet; none, the default, for the current scopes.
    /// - Throws: `storeClosed`.
    public func scopes(after sets: [ChangeSet] = []) throws(DataSourceError) -> [StoredScope] {
        try current().scopes(after: sets)
    }

    /// Returns the number of objects. Links do not count.
    ///
    /// ```swift
    /// let count = rows.objectCount(of: ["ContactEntity"])
    /// ```
    ///
    /// - Parameter names: The names of the entities to count; nil, the default, for all entities.
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

    /// Commits a group, as ``PersistentStore/commit(_:)`` requires. Decides which change sets to refuse, calls `write` with the
    /// accepted change sets, and applies them to the rows in memory.
    ///
    /// ```swift
    /// let outcome = try rows.commit(group) {
    ///     (accepted, firstFreeKey) throws(DataSourceError) in
    ///     try write(accepted, firstFreeKey)
    /// }
    /// ```
    ///
    /// **Ordering**: readers see the changes only after `write` has returned.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - write: Writes the accepted change sets in their order, together with the new ``firstFreeKey``. Must write everything
    ///     or nothing. Called once, without a lock; not called if every change set is refused. If the closure throws, the rows
    ///     in memory stay unchanged. Nil, the default, writes nothing.
    /// - Returns: The refused change sets, with their errors.
    /// - Throws: `storeClosed`, and the errors of `write`.
    public func commit(
        _ group: [ChangeSet],
        writing write: ((_ accepted: [ChangeSet], _ firstFreeKey: Int64) throws(DataSourceError) -> Void)? = nil
    ) throws(DataSourceError) -> CommitOutcome {
        guard let write else {
            return try withState { (state) throws(DataSourceError) in state.commit(group) }
        }
        let (outcome, firstFreeKey) = try withState { (state) throws(DataSourceError) in state.dryRun(group) }
        let accepted = group.indices.lazy.filter { outcome.refused[$0] == nil }.map { group[$0] }
        guard !accepted.isEmpty else { return outcome }
        try write(Array(accepted), firstFreeKey)
        state.withLock { _ = $0?.commit(Array(accepted)) }
        return outcome
    }

    /// Calls the body with a reader, as ``PersistentStore/read(_:_:)`` requires.
    ///
    /// ```swift
    /// let row = try rows.read(.snapshot) { (reader) throws(DataSourceError) in
    ///     try reader.row(entity: layout.index, key: 12)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - isolation: Whether all reads of the body see the same state.
    ///   - body: Reads rows.
    /// - Throws: `storeClosed`, and the errors of the body.
    public func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        let state = try current()
        return try body(MemoryReader(store: self, snapshot: isolation == .snapshot ? state : nil))
    }

    /// Removes all rows. Keys of later rows are greater than all earlier keys.
    ///
    /// ```swift
    /// func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
    ///     StoreStartup(
    ///         reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    /// }
    /// ```
    ///
    /// - Parameter didEmpty: Called after the rows are removed, while reads still wait.
    /// - Returns: The number of removed objects.
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

    /// Returns the changes that remove the objects of some entities, and all links to those objects. Use the changes to drop
    /// the entities in ``StartupPlan/droppedEntities``. The rows are kept until you commit the changes.
    ///
    /// ```swift
    /// let dropped = try rows.changes(droppingEntities: plan.droppedEntities)
    /// _ = try rows.commit([dropped])
    /// ```
    ///
    /// **Complexity**: O(n) in the number of all rows.
    ///
    /// - Parameter names: The names of the entities.
    /// - Throws: `storeClosed`.
    public func changes(droppingEntities names: Set<String>) throws(DataSourceError) -> ChangeSet {
        try current().changes(layout, droppingEntities: names)
    }

    /// Releases all rows. Later commits and reads throw `storeClosed`.
    ///
    /// ```swift
    /// func close() { rows.close() }
    /// ```
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

    private static let closed = DataSourceError(.storeClosed, "The store was closed. Open the store again.")
}

extension MemoryState {
    /// Runs the body on the state in place. Unwrapping the optional into a variable would copy the state.
    fileprivate mutating func mutate<R>(
        _ body: (inout MemoryState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try body(&self)
    }
}
