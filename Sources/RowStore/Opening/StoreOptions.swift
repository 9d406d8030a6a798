internal import ManagedModel

/// The options with which a container opens a store. They are the argument of the closure in `StoreLocation.custom(_:open:)`.
public struct StoreOptions: Sendable {
    /// The model, with the columns of every entity.
    public let layout: ModelLayout
    /// When a commit counts as done. The value of `Configuration.synchronous`.
    public let synchronous: SynchronousLevel
    /// The permissions of files that the store makes. The value of `Configuration.fileMode`.
    public let fileMode: Int
    /// Whether the store is opened for reading only: it must be neither made nor changed. The value of
    /// `Configuration.isReadOnly`. The store's ``PersistentStore/isReadOnly`` must have the same value.
    public let isReadOnly: Bool
    package let identity: StoreIdentity
    let resetPolicy: ResetPolicy
    let history: KeptHistory
    /// The name of the container; nil for the name of the program.
    let name: String?

    package init(
        layout: ModelLayout, identity: StoreIdentity, resetPolicy: ResetPolicy = .standard,
        synchronous: SynchronousLevel = .full, fileMode: Int = 0o600, isReadOnly: Bool = false,
        history: KeptHistory = .unchanged, name: String? = nil
    ) {
        self.layout = layout
        self.identity = identity
        self.resetPolicy = resetPolicy
        self.synchronous = synchronous
        self.fileMode = fileMode
        self.isReadOnly = isReadOnly
        self.history = history
        self.name = name
    }

    /// Decides what happens to the existing rows. If the model's hash or a key differs from the store's metadata, the
    /// reset policy decides.
    ///
    /// ```swift
    /// let plan = try options.plan(for: found)
    /// if !plan.keepsRows { try removeEverything() }
    /// ```
    ///
    /// A custom store can neither make backups nor migrate. With ``ResetPolicy/standard``, the call throws if only the model
    /// changed, so that no row is lost. With ``ResetPolicy/migrate`` and ``ResetPolicy/changedEntities``, all rows are dropped
    /// if the model changed, and ``StoreStartup/fallback`` has the reason. If the database key changed, all rows are dropped.
    /// If only the key of a data source changed, the rows of that data source are dropped.
    ///
    /// - Parameter metadata: The store's metadata, read without an error; nil if there is no store. If reading the metadata
    ///   throws an error, throw that error instead of calling this method: unreadable metadata is no reason for a reset.
    /// - Throws: `modelChanged` if the model or a key changed, but the store must not be reset: the policy is
    ///   ``ResetPolicy/fail``, the policy would keep the old rows as a backup, or the store is opened for reading only.
    ///   `invalidRequest` for ``ResetPolicy/backup(keep:)``. `storeNotFound` if a store that is opened for reading only does
    ///   not exist. `historyNotKept` if the store must keep a history; a ``HistoryStore`` calls ``plan(for:history:)`` instead. If
    ///   the call throws, the store must stay unchanged.
    public func plan(for metadata: StoreMetadata?) throws(DataSourceError) -> StartupPlan {
        // A store that is opened for reading only does not have to keep its history: it has no saves to record.
        if isReadOnly { return try decidePlan(for: metadata) }
        switch history.choice {
        case .kept: throw DataSourceError.customStoreWithoutHistory
        case .unchanged where metadata?.keepsHistory == true: throw DataSourceError.customStoreWithoutHistory
        case .unchanged, .none: break
        }
        var plan = try decidePlan(for: metadata)
        plan.metadata.keepsHistory = false
        return plan
    }

    /// Decides what happens to the existing rows and the history of a ``HistoryStore``, like ``plan(for:)``.
    ///
    /// ```swift
    /// let plan = try options.plan(for: found, history: storedHistory)
    /// let (history, change) = try plan.openHistory(storedRecords)
    /// ```
    ///
    /// - Parameters:
    ///   - metadata: The store's metadata, read without an error; nil if there is no store.
    ///   - stored: The last value of ``StoredHistoryChange/stored`` that the store has written, read without an error; nil if
    ///     there is none.
    /// - Throws: The errors of ``plan(for:)``; `storeCorrupt` if only one of the two values says that there is a history, and
    ///   the app does not switch the history off. If the call throws, the store must stay unchanged.
    public func plan(
        for metadata: StoreMetadata?, history stored: StoredHistory?
    ) throws(DataSourceError) -> StartupPlan {
        let isKept = metadata?.keepsHistory ?? false
        guard isKept == (stored != nil) || history.choice == .none else {
            throw DataSourceError(
                .storeCorrupt,
                "The store's metadata and its history do not belong together. Restore both from a copy, or open the store with Configuration.history = .none, which drops the history."
            )
        }
        var plan = try decidePlan(for: metadata)
        let opening = HistoryOpening(
            layout: layout, choice: isReadOnly ? .unchanged : history.choice, stored: stored, name: name,
            isReadOnly: isReadOnly)
        plan.historyOpening = opening
        plan.metadata.keepsHistory = opening.limits != nil
        return plan
    }

    private func decidePlan(for metadata: StoreMetadata?) throws(DataSourceError) -> StartupPlan {
        if case .backup = resetPolicy.withoutMigration.kind {
            throw DataSourceError(
                .invalidRequest,
                "This kind of store cannot make backups. Open the store with the reset policy .standard, .discard or .fail."
            )
        }
        guard let metadata else {
            guard !isReadOnly else {
                throw DataSourceError(
                    .storeNotFound, "There is no store, and a read-only container cannot make a store.")
            }
            return StartupPlan(reason: .firstLaunch, metadata: StoreMetadata(new: identity), keepsRows: false)
        }
        return try plan(metadata, isReadOnly ? .fail : resetPolicy, fallback: nil)
    }

    private func plan(
        _ found: StoreMetadata, _ policy: ResetPolicy, fallback: String?
    ) throws(DataSourceError) -> StartupPlan {
        let identity = identity.completed(by: found)
        let new = StoreMetadata(new: identity, firstFreeKey: found.firstFreeKey)
        switch try StartupDecision(.metadata(found.rows), identity, policy) {
        case .create, .proceed:
            return StartupPlan(reason: .current, metadata: found, keepsRows: true)
        case .migrate:
            return try plan(
                found, policy.withoutMigration, fallback: "This kind of store cannot keep rows of another model.")
        case .resetEntities(_, let reason, _) where reason.isModelChanged:
            return StartupPlan(
                reason: reason, metadata: new, keepsRows: false,
                fallback: "This kind of store cannot keep rows of another model.")
        case .resetEntities(let names, let reason, _):
            var metadata = found
            metadata.identity = identity
            let dropped = names.filter { layout.entity(named: $0)?.isAbstract == false }
            return StartupPlan(reason: reason, metadata: metadata, keepsRows: true, droppedEntities: dropped)
        case .reset(let reason, let ownFallback):
            guard policy.backupCount(reason) == nil else {
                let obstacle =
                    fallback == nil ? "cannot make backups" : "can neither carry its rows over nor make backups"
                throw DataSourceError(
                    .modelChanged,
                    "The store was made for another model, and this kind of store \(obstacle). Open the store with the reset "
                        + "policy .discard to start over, or with an app that has the old model.",
                    cause: reason.summary)
            }
            return StartupPlan(
                reason: reason, metadata: new, keepsRows: false, fallback: fallback ?? ownFallback)
        }
    }
}

/// Facts about a store that would be opened without a reset or migration.
package struct StoreOutlook: Sendable, Equatable {
    /// The format of a store that an earlier release wrote; nil for the current format. Opening such a store upgrades its
    /// tables.
    package let olderFormat: Int64?
    /// The number of links to objects that no longer exist, by relationship, such as `Letter.topic`. The delete rule No
    /// Action leaves such links. The links in a store of an older format are not counted.
    package let danglingLinks: [String: Int]

    package init(olderFormat: Int64? = nil, danglingLinks: [String: Int] = [:]) {
        self.olderFormat = olderFormat
        self.danglingLinks = danglingLinks
    }

    /// The format of the stores that this release writes.
    package var format: Int64 { ManagedObjectModel.storeFormat }
}
