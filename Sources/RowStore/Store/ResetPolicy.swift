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
/// With every policy except ``backup(keep:)``, the backups that ``standard`` made are removed when the database key or the key
/// of a data source changes, and by `PersistentContainer.reset()`, because a key may stand for a user who logged out. They have
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

    /// Sets the store aside if its model changed, and drops it if a key changed; then starts with an empty one. The default.
    ///
    /// With another model, the old store becomes one file, `<file>.standard-backup-<UTC timestamp>` in the same folder: a whole
    /// store that can be opened. The newest backup stays, and ``StoreStartup/backup`` has its URL. If it cannot be made,
    /// opening throws and the store is unchanged.
    ///
    /// With another database key, or another key of a data source, nothing is set aside, and the backup of an earlier model is
    /// removed: ``StoreStartup/removedBackups``. If the model changed as well, the database key decides; with the key of a data
    /// source, its rows are dropped and all others are set aside.
    public static let standard = ResetPolicy(kind: .standard)

    /// Drops the store and starts with an empty one.
    public static let discard = ResetPolicy(kind: .discard)

    /// Sets the store aside and starts with an empty one.
    ///
    /// The old store becomes one file, `<file>.backup-<UTC timestamp>` in the same folder: a whole store that can be opened.
    /// ``StoreStartup/backup`` has its URL.
    ///
    /// - Parameter count: How many backups to keep, the newest ones; 0 keeps none, like ``discard``.
    public static func backup(keep count: Int) -> ResetPolicy {
        count > 0 ? ResetPolicy(kind: .backup(keep: count)) : .discard
    }

    /// Drops the rows of the entities that changed, in one transaction; the rows of all others stay.
    ///
    /// Links to dropped rows are removed. If nothing can stay, or the database key changed, the whole store is dropped;
    /// ``StoreStartup/fallback`` has the reason.
    public static let changedEntities = ResetPolicy(kind: .changedEntities)

    /// Changes nothing and throws `modelChanged`.
    public static let fail = ResetPolicy(kind: .fail)

    /// Carries the rows over to the new model; if that is not possible, works like ``discard``.
    public static let migrate = ResetPolicy.migrate(otherwise: .discard)

    /// Carries the rows over to the new model, in one transaction; if that is not possible, works like the other policy.
    ///
    /// The store contains its model, from which the migration is inferred: entities and properties may be added, removed and
    /// renamed (the renaming identifier is the old name, or the identifier in the old model); optional attributes may become
    /// required if they have a default value; to-one relationships may become to-many. Numbers may get a wider type, such as
    /// Integer 32 for Integer 16, Decimal for any integer, or Double for Integer 64, if every stored number is exact in it; all
    /// other types must stay the same. ``StoreStartup/migration`` reports what was done, ``StoreStartup/fallback`` why it was
    /// not.
    ///
    /// Another database key still resets the store, and another key of a data source drops its rows.
    public static func migrate(otherwise policy: ResetPolicy) -> ResetPolicy {
        ResetPolicy(kind: .migrate(otherwise: policy.withoutMigration))
    }

    package var migrates: Bool {
        if case .migrate = kind { true } else { false }
    }

    /// How many backups stay, including that of the old store, after a reset for that reason; nil if the old store is dropped.
    package func backupCount(_ reason: StoreStartup.Reason) -> Int? {
        switch withoutMigration.kind {
        case .backup(let count): count
        case .standard: reason.mayBeOfAnotherOwner ? nil : 1
        case .discard, .changedEntities, .fail, .migrate: nil
        }
    }

    /// Whether a reset for that reason removes the backups that ``standard`` made.
    package func removesStandardBackups(_ reason: StoreStartup.Reason) -> Bool {
        if case .backup = withoutMigration.kind { return false }
        return reason.mayBeOfAnotherOwner
    }

    /// What to do if nothing can be migrated.
    package var withoutMigration: ResetPolicy {
        if case .migrate(let policy) = kind { policy } else { self }
    }
}
