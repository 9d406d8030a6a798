/// What to do with a store that was made for another model or database key.
///
/// ```swift
/// let container = try await PersistentContainer(
///     model: .contacts, store: .sqlite(url), databaseKey: "1",
///     configuration: .init(resetPolicy: .migrate(otherwise: .standard)))
/// ```
///
/// The key of a data source applies only to the rows of that data source. A change of that key alone drops only those rows.
/// With ``fail``, and with a migration that falls back to ``fail``, opening throws instead.
///
/// A key may stand for a user who has logged out. The backups of ``standard`` are therefore removed when the database key or
/// the key of a data source changes, and by `PersistentContainer.reset()`. With the policy ``backup(keep:)``, these backups
/// are kept. The backups of ``standard`` have special names, so no other backup is removed.
public struct ResetPolicy: Sendable, Hashable {
    package indirect enum Kind: Sendable, Hashable {
        case standard
        case discard
        case backup(keep: Int)
        case changedEntities
        case fail
        case migrate(otherwise: ResetPolicy, mayLoseData: Bool)
    }

    package let kind: Kind

    /// Starts with an empty store. If only the model changed, keeps the old store as a backup. If the database key
    /// changed, drops the old store. This is the default policy.
    ///
    /// If the model changed, the old store is kept as one file, `<file>.standard-backup-<UTC timestamp>`, in the same folder.
    /// The backup is a complete store that can be opened. Only the newest backup is kept, and ``StoreStartup/backup`` has its
    /// URL. If the backup cannot be made, opening throws and the store is unchanged.
    ///
    /// If the database key or the key of a data source changed, the backup of an earlier model is removed, and
    /// ``StoreStartup/removedBackups`` has its URL. If the database key changed, the whole store is dropped, even if the model
    /// changed, too. If the key of a data source changed and the database key did not, the rows of that data source are
    /// dropped. If the model changed as well, all other rows are kept in a backup.
    public static let standard = ResetPolicy(kind: .standard)

    /// Drops the store and starts with an empty store.
    public static let discard = ResetPolicy(kind: .discard)

    /// Keeps the store as a backup and starts with an empty store.
    ///
    /// The old store is kept as one file, `<file>.backup-<UTC timestamp>`, in the same folder. The backup is a complete store
    /// that can be opened. ``StoreStartup/backup`` has its URL.
    ///
    /// ```swift
    /// let configuration = PersistentContainer.Configuration(
    ///     resetPolicy: .backup(keep: 3))
    /// ```
    ///
    /// - Parameter count: The number of newest backups to keep; 0 to keep none, like ``discard``.
    public static func backup(keep count: Int) -> ResetPolicy {
        count > 0 ? ResetPolicy(kind: .backup(keep: count)) : .discard
    }

    /// Drops the rows of the entities that changed, in one transaction, and keeps the rows of all other entities.
    ///
    /// Links to dropped rows are removed. If the database key changed, the whole store is dropped. If no rows can be
    /// kept, the whole store is dropped, too, and ``StoreStartup/fallback`` has the reason.
    public static let changedEntities = ResetPolicy(kind: .changedEntities)

    /// Throws `modelChanged`, and changes nothing.
    public static let fail = ResetPolicy(kind: .fail)

    /// Carries the rows over to the new model. If that is not possible, works like ``standard``.
    public static let migrate = ResetPolicy.migrate(otherwise: .standard)

    /// Carries the rows over to the new model, in one transaction. If that is not possible, works like the given policy.
    ///
    /// ```swift
    /// let configuration = PersistentContainer.Configuration(
    ///     resetPolicy: .migrate(otherwise: .backup(keep: 1)))
    /// ```
    ///
    /// The store contains a copy of its model, and the migration is inferred from both models. The following changes are
    /// possible:
    ///
    /// - Entities and properties may be added, removed and renamed. The new model must give a renamed entity or property a
    ///   renaming identifier: its old name, or its renaming identifier in the old model.
    /// - An optional attribute may become required if it has a default value.
    /// - A to-one relationship may become to-many.
    /// - A number may get a wider type if every stored number is exact in that type. Examples are Integer 32 for Integer 16,
    ///   Decimal for any integer, and Double for Integer 64.
    ///
    /// All other types must stay the same. ``StoreStartup/migration`` reports the migration. If the model changed but
    /// the rows could not be carried over, ``StoreStartup/fallback`` has the reason.
    ///
    /// A change of the database key still resets the store. A change of a data source's key drops the rows of the data source.
    ///
    /// **A migration drops what the new model lacks**: the rows of removed entities, the values of removed attributes, the links
    /// of removed relationships, and the order of relationships that are no longer ordered. ``MigrationReport/losses`` lists
    /// them. An older version of an app that opens the store of a newer version drops what only the newer model has.
    /// ``migrateWithoutLoss(otherwise:)`` refuses such a migration.
    ///
    /// - Parameter policy: The policy if the rows cannot be carried over.
    public static func migrate(otherwise policy: ResetPolicy) -> ResetPolicy {
        ResetPolicy(kind: .migrate(otherwise: policy.withoutMigration, mayLoseData: true))
    }

    /// Works like ``migrate(otherwise:)``, but only if no object loses data. If an object would lose data, works like the given
    /// policy.
    ///
    /// ```swift
    /// let configuration = PersistentContainer.Configuration(
    ///     resetPolicy: .migrateWithoutLoss(otherwise: .fail))
    /// ```
    ///
    /// With this policy, an older version of an app does not open the store of a newer version, if the newer version has stored
    /// data that the older model lacks. The policy cannot tell the versions apart. So if a newer version removes an entity, an
    /// attribute or a relationship that still holds data, the policy refuses the newer version, too. Such a version needs
    /// ``migrate(otherwise:)``.
    ///
    /// An object loses data if its entity is removed, if it has a value that is not nil in a removed attribute, or if it has a
    /// link of a removed relationship. It also loses data if it has several links of a relationship that is no longer ordered,
    /// because the links lose their order. The default value of a removed attribute counts, too. A derived attribute holds no data.
    /// ``StoreStartup/fallback``, or the cause of the error, names the data and the number of objects.
    ///
    /// The rows of a data source whose key changed are dropped, as with ``migrate(otherwise:)``.
    ///
    /// **Complexity**: counts the objects that would lose data, in each table with removed parts.
    ///
    /// - Parameter policy: The policy if the rows cannot be carried over, or would lose data.
    public static func migrateWithoutLoss(otherwise policy: ResetPolicy) -> ResetPolicy {
        ResetPolicy(kind: .migrate(otherwise: policy.withoutMigration, mayLoseData: false))
    }

    /// Whether a migration may drop data that the new model lacks.
    package var mayLoseData: Bool {
        if case .migrate(_, let mayLoseData) = kind { mayLoseData } else { true }
    }

    /// The policy, with ``fail`` instead of a reset.
    package var failing: ResetPolicy {
        guard case .migrate(_, let mayLoseData) = kind else { return .fail }
        return ResetPolicy(kind: .migrate(otherwise: .fail, mayLoseData: mayLoseData))
    }

    package var migrates: Bool {
        if case .migrate = kind { true } else { false }
    }

    /// Returns the number of backups to keep after a reset for this reason, including the backup of the old store. Returns nil
    /// if the old store is dropped.
    package func backupCount(_ reason: StoreStartup.Reason) -> Int? {
        switch withoutMigration.kind {
        case .backup(let count): count
        case .standard: reason.oldRowsMayHaveAnotherOwner ? nil : 1
        case .discard, .changedEntities, .fail, .migrate: nil
        }
    }

    /// Returns whether a reset for this reason removes the backups that ``standard`` made.
    package func removesStandardBackups(_ reason: StoreStartup.Reason) -> Bool {
        if case .backup = withoutMigration.kind { return false }
        return reason.oldRowsMayHaveAnotherOwner
    }

    /// The policy that applies if the rows cannot be migrated.
    package var withoutMigration: ResetPolicy {
        if case .migrate(let policy, _) = kind { policy } else { self }
    }
}
