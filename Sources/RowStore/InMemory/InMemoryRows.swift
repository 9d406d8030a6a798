/// All rows of a store, in memory. A custom store uses the rows to answer queries and to decide which saves to refuse.
///
/// The store loads its rows when it is opened, and forwards commits and reads. This class takes care of uniqueness, refusals,
/// keys and queries:
///
/// ```swift
/// let rows = InMemoryRows(
///     options.layout, firstFreeKey: plan.metadata.firstFreeKey)
/// try rows.load(
///     [StoredRow(key: 1, row: try layout.row(values))], entity: layout.index)
/// ```
///
/// **Isolation**: none. Any thread may read; one thread at a time may write. A read works on one state; a commit during the
/// read copies the tables that the commit changes.
///
/// **Complexity**: a commit takes time proportional to the rows that it changes. A query reads every row of its entity, or
/// the rows with the keys that its predicate lists; look-ups by key and by uniqueness constraint are O(1).
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
    ///   - layout: The model: ``StoreOptions/layout``.
    ///   - firstFreeKey: A key greater than every key that a row ever had: ``StoreMetadata/firstFreeKey``.
    public init(_ layout: ModelLayout, firstFreeKey: Int64 = 1) {
        self.layout = layout
        state = Guarded(MemoryState(layout, firstFreeKey: max(1, firstFreeKey)))
    }

    /// The number of keys that ``firstFreeKey`` leaves free beyond the highest key, when it grows.
    static let keyReserve: Int64 = 1024

    /// A key greater than every key that a row ever had. It grows in steps, so a store seldom has to write it.
    public var firstFreeKey: Int64 { state.withLock { $0?.firstFreeKey ?? 1 } }

    /// Adds stored rows. Call it before commits and reads.
    ///
    /// ```swift
    /// try rows.load(
    ///     [StoredRow(key: 12, row: try layout.row(values))], entity: layout.index)
    /// ```
    ///
    /// - Parameters:
    ///   - rows: Rows of one entity, as ``EntityLayout/row(_:)-([RowValue])`` makes them.
    ///   - entity: The entity's index in ``ModelLayout/entities``.
    /// - Throws: `uniquenessViolated` if two rows have the same key or unique values, `abstractEntity`, `storeCorrupt`,
    ///   `storeClosed`. If the call throws, the store cannot be opened.
    public func load(_ rows: [StoredRow], entity: Int) throws(DataSourceError) {
        try withState { (state) throws(DataSourceError) in try state.load(rows, entity) }
    }

    /// The number of objects, without links.
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

    /// Commits a group, as ``PersistentStore/commit(_:)`` must: decides which change sets to refuse, has the others written,
    /// and applies them to the rows in memory.
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
    ///   - write: Writes the accepted change sets, all or none, in their order, together with the new ``firstFreeKey``. It is
    ///     called once, without a lock, and not at all if every change set is refused. If it throws, the rows stay unchanged.
    ///     Nil, the default, writes nothing.
    /// - Returns: The refused change sets, with their errors.
    /// - Throws: `storeClosed`, and the errors of `write`.
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

    /// Calls the body with a reader, as ``PersistentStore/read(_:_:)`` must.
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

    /// Removes all rows. Later keys are greater than all earlier ones.
    ///
    /// ```swift
    /// func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
    ///     StoreStartup(
    ///         reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    /// }
    /// ```
    ///
    /// - Parameter didEmpty: Called once the rows are gone, while reads still wait.
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

    /// The changes that remove the objects of some entities and all links to those objects, for
    /// ``StartupPlan/droppedEntities``. The rows stay until you commit the changes.
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

    /// Forgets all rows. Later commits and reads throw `storeClosed`.
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
    /// Mutates the state in place, because unwrapping it into a variable would copy it.
    fileprivate mutating func mutate<R>(
        _ body: (inout MemoryState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        try body(&self)
    }
}
