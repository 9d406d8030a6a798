/// When a commit counts as done.
public enum SynchronousLevel: Sendable, Hashable {
    /// When the disk has it: a power cut loses nothing that was committed.
    case full
    /// When the operating system has it: a killed process loses nothing; a power cut may lose the last commits, whole
    /// ones and the newest only.
    case normal
}

/// What to do with a store that was made for another model or database key.
///
/// The key of a data source is only for its rows: with every policy but ``fail``, a change of that key alone drops only those
/// rows.
///
/// The backups that ``standard`` made are removed when the database key or the key of a data source changes, and by
/// `PersistentContainer.reset()`, with every policy but ``backup(keep:)``: a key may stand for a user who logged out. They
/// have names of their own, so no other backup is removed with them.
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

    /// Set the store aside if its model changed, and drop it if a key changed; then start with an empty one. The default.
    ///
    /// With another model, the old store becomes one file, `<file>.standard-backup-<UTC timestamp>` in the same folder: a
    /// whole store that can be opened. The newest one stays, and ``StoreStartup/backup`` says which. If it cannot be made,
    /// opening throws and the store stays as it was.
    ///
    /// With another database key, or another key of a data source, nothing is set aside, and the backup of an earlier model
    /// is removed: ``StoreStartup/removedBackups``. If the model changed as well, the key decides.
    public static let standard = ResetPolicy(kind: .standard)

    /// Drop it and start with an empty one.
    public static let discard = ResetPolicy(kind: .discard)

    /// Set it aside and start with an empty one.
    ///
    /// The old store becomes one file, `<file>.backup-<UTC timestamp>` in the same folder: a whole store that can be
    /// opened. ``StoreStartup/backup`` says which.
    ///
    /// - Parameter count: How many backups stay, the newest ones; 0 keeps none, as ``discard``.
    public static func backup(keep count: Int) -> ResetPolicy {
        count > 0 ? ResetPolicy(kind: .backup(keep: count)) : .discard
    }

    /// Drop the rows of the entities that changed, in one transaction; the rows of all others stay.
    ///
    /// Links to rows that are dropped go with them. Where nothing can stay, or the database key is another one, the whole
    /// store is dropped; ``StoreStartup/fallback`` says why.
    public static let changedEntities = ResetPolicy(kind: .changedEntities)

    /// Touch nothing and throw `modelChanged`.
    public static let fail = ResetPolicy(kind: .fail)

    /// Carry the rows over to the new model; if that is not possible, ``discard``.
    public static let migrate = ResetPolicy.migrate(otherwise: .discard)

    /// Carry the rows over to the new model, in one transaction; if that is not possible, do as the other policy says.
    ///
    /// The store keeps its model, from which the migration is inferred: entities and properties may come, go and be renamed
    /// (the renaming identifier is the old name, or the one that the old model has too); optional attributes may become
    /// required if they have a default value; to-one relationships may become to-many. Numbers may get a wider type, such as
    /// Integer 32 for Integer 16, Decimal for any integer, or Double for Integer 64, if every stored number is exact in it;
    /// all other types stay as they are. ``StoreStartup/migration`` says what was done, ``StoreStartup/fallback`` why it was
    /// not.
    ///
    /// Another database key still resets the store, and another key of a data source drops its rows.
    public static func migrate(otherwise policy: ResetPolicy) -> ResetPolicy {
        ResetPolicy(kind: .migrate(otherwise: policy.withoutMigration))
    }

    package var migrates: Bool {
        if case .migrate = kind { true } else { false }
    }

    /// How many backups stay, the one of the old store among them, after a reset for that reason; nil if the old store is
    /// dropped.
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

    /// What to do where nothing is migrated.
    package var withoutMigration: ResetPolicy {
        if case .migrate(let policy) = kind { policy } else { self }
    }
}
