/// What to do with a store that was made for another model or database key.
///
/// ```swift
/// let container = try await PersistentContainer(
///     model: .contacts, store: .sqlite(url), databaseKey: "1",
///     configuration: .init(resetPolicy: .migrate(otherwise: .standard)))
/// ```
///
/// The key of a data source covers only its rows: with every policy except ``fail``, a change of that key alone drops only
/// those rows.
///
/// A key may stand for a user who logged out. So the backups of ``standard`` are removed when the database key or the key of a
/// data source changes, and by `PersistentContainer.reset()`, with every policy except ``backup(keep:)``. These backups have
/// names of their own, so no other backup is removed.
public struct ResetPolicy: Sendable, Hashable {
    package indirect enum Kind: Sendable, Hashable {
        case standard
        case discard
        case backup(keep: Int)
        case changedEntities
        case fail
        case migrate(otherwise: ResetPolicy)
    }

    package let kind: Kind

    /// Keeps the store as a backup if the model changed, drops the store if a key changed, and starts with an empty store. The
    /// default.
    ///
    /// If the model changed, the old store is kept as one file, `<file>.standard-backup-<UTC timestamp>` in the same folder: a
    /// whole store that can be opened. Only the newest backup is kept, and ``StoreStartup/backup`` has its URL. If the backup
    /// cannot be made, opening throws and the store is unchanged.
    ///
    /// If the database key or the key of a data source changed, no backup is made, and the backup of an earlier model is
    /// removed: ``StoreStartup/removedBackups``. If the database key and the model changed, the whole store is dropped. If the
    /// key of a data source and the model changed, the rows of the data source are dropped, and all other rows are kept in a
    /// backup.
    public static let standard = ResetPolicy(kind: .standard)

    /// Drops the store and starts with an empty one.
    public static let discard = ResetPolicy(kind: .discard)

    /// Keeps the store as a backup and starts with an empty store.
    ///
    /// The old store becomes one file, `<file>.backup-<UTC timestamp>` in the same folder: a whole store that can be opened.
    /// ``StoreStartup/backup`` has its URL.
    ///
    /// ```swift
    /// let configuration = PersistentContainer.Configuration(
    ///     resetPolicy: .backup(keep: 3))
    /// ```
    ///
    /// - Parameter count: How many of the newest backups to keep; 0 keeps none, like ``discard``.
    public static func backup(keep count: Int) -> ResetPolicy {
        count > 0 ? ResetPolicy(kind: .backup(keep: count)) : .discard
    }

    /// Drops the rows of the entities that changed, in one transaction. The rows of all other entities stay.
    ///
    /// Links to dropped rows are removed. If no rows can stay, or the database key changed, the whole store is dropped;
    /// ``StoreStartup/fallback`` has the reason.
    public static let changedEntities = ResetPolicy(kind: .changedEntities)

    /// Changes nothing and throws `modelChanged`.
    public static let fail = ResetPolicy(kind: .fail)

    /// Carries the rows over to the new model. If that is not possible, works like ``discard``.
    public static let migrate = ResetPolicy.migrate(otherwise: .discard)

    /// Carries the rows over to the new model, in one transaction. If that is not possible, works like the other policy.
    ///
    /// ```swift
    /// let configuration = PersistentContainer.Configuration(
    ///     resetPolicy: .migrate(otherwise: .backup(keep: 1)))
    /// ```
    ///
    /// The store contains its model, from which the migration is inferred. Entities and properties may be added, removed and
    /// renamed; the renaming identifier is the old name, or the identifier in the old model. Optional attributes may become
    /// required if they have a default value. To-one relationships may become to-many. Numbers may get a wider type, such as
    /// Integer 32 for Integer 16, Decimal for any integer, or Double for Integer 64, if every stored number is exact in that
    /// type. All other types must stay the same. ``StoreStartup/migration`` reports a migration; ``StoreStartup/fallback``
    /// reports why there was none.
    ///
    /// A change of the database key still resets the store, and a change of a data source's key drops its rows.
    ///
    /// - Parameter policy: The policy if the rows cannot be carried over.
    public static func migrate(otherwise policy: ResetPolicy) -> ResetPolicy {
        ResetPolicy(kind: .migrate(otherwise: policy.withoutMigration))
    }

    package var migrates: Bool {
        if case .migrate = kind { true } else { false }
    }

    /// How many backups to keep after a reset for the reason, including the backup of the old store; nil if the old store is
    /// dropped.
    package func backupCount(_ reason: StoreStartup.Reason) -> Int? {
        switch withoutMigration.kind {
        case .backup(let count): count
        case .standard: reason.mayBeOfAnotherOwner ? nil : 1
        case .discard, .changedEntities, .fail, .migrate: nil
        }
    }

    /// Whether a reset for the reason removes the backups that ``standard`` made.
    package func removesStandardBackups(_ reason: StoreStartup.Reason) -> Bool {
        if case .backup = withoutMigration.kind { return false }
        return reason.mayBeOfAnotherOwner
    }

    /// The policy if the rows cannot be migrated.
    package var withoutMigration: ResetPolicy {
        if case .migrate(let policy) = kind { policy } else { self }
    }
}
