internal import ManagedModel

/// What a container needs from the store that it opens: the argument of `StoreLocation.custom(_:open:)`.
public struct StoreOptions: Sendable {
    /// The model, with the columns of every entity.
    public let layout: ModelLayout
    /// When a commit counts as done: `Configuration.synchronous`.
    public let synchronous: SynchronousLevel
    /// The permissions of files that the store makes: `Configuration.fileMode`.
    public let fileMode: Int
    /// Whether nothing may be made or changed: `Configuration.isReadOnly`. The store's ``PersistentStore/isReadOnly`` must have
    /// the same value.
    public let isReadOnly: Bool
    let identity: StoreIdentity
    let resetPolicy: ResetPolicy

    package init(
        layout: ModelLayout, identity: StoreIdentity, resetPolicy: ResetPolicy = .standard,
        synchronous: SynchronousLevel = .full, fileMode: Int = 0o600, isReadOnly: Bool = false
    ) {
        self.layout = layout
        self.identity = identity
        self.resetPolicy = resetPolicy
        self.synchronous = synchronous
        self.fileMode = fileMode
        self.isReadOnly = isReadOnly
    }

    /// Decides what happens to the existing rows, by the same rules as for every other store: compares the model's hash and the
    /// keys that the store was made for with the container's. If one differs, the reset policy decides.
    ///
    /// ```swift
    /// let plan = try options.plan(for: found)
    /// if !plan.keepsRows { try removeEverything() }
    /// ```
    ///
    /// Backups and migration are not supported: with ``ResetPolicy/standard``, a changed model throws, so that no row is lost;
    /// ``ResetPolicy/migrate`` and ``ResetPolicy/changedEntities`` then drop all rows, and ``StoreStartup/fallback`` has the
    /// reason. A changed key resets the store as usual.
    ///
    /// - Parameter metadata: What the store keeps about itself, read without an error; nil if there is no store. If it cannot
    ///   be read, throw that error instead: it is no reason for a reset.
    /// - Throws: `modelChanged` if the policy is ``ResetPolicy/fail``, or would set the old rows aside, or if the store is
    ///   opened for reading only; `invalidRequest` for ``ResetPolicy/backup(keep:)``; `notAFile` if there is no store to read.
    ///   The store must stay unchanged then.
    public func plan(for metadata: StoreMetadata?) throws(DataSourceError) -> StartupPlan {
        if case .backup = resetPolicy.withoutMigration.kind {
            throw DataSourceError(
                .invalidRequest,
                "This kind of store cannot make backups. Open it with the reset policy .standard, .discard or .fail.")
        }
        guard let metadata else {
            guard !isReadOnly else {
                throw DataSourceError(.notAFile, "There is no store, and a read-only container cannot make one.")
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
                throw DataSourceError(
                    .modelChanged,
                    "The store was made for another model, and this kind of store cannot make backups. Open it with the reset "
                        + "policy .discard to start over, or with an app that has the old model.")
            }
            return StartupPlan(
                reason: reason, metadata: new, keepsRows: false, fallback: fallback ?? ownFallback)
        }
    }
}

/// Facts about a store that the next opening keeps.
package struct StoreOutlook: Sendable, Equatable {
    /// The format of the store if an earlier release wrote it; opening it upgrades its tables.
    package let olderFormat: Int64?
    /// How many links lead to objects that are gone, as after the delete rule No Action, by the relationship, as
    /// `Letter.topic`. They are not counted in a store of an older format.
    package let danglingLinks: [String: Int]

    package init(olderFormat: Int64? = nil, danglingLinks: [String: Int] = [:]) {
        self.olderFormat = olderFormat
        self.danglingLinks = danglingLinks
    }

    /// The format of the stores that this release writes.
    package var format: Int64 { ManagedObjectModel.storeFormat }
}
