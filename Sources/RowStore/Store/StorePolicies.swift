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
/// A key that belongs to one data source is about its rows alone: with every policy but ``ask``, only they are dropped
/// when only it changed.
public struct ResetPolicy: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case discard
        case backup(keep: Int)
        case changedEntities
        case ask
    }

    package let kind: Kind

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
    public static let ask = ResetPolicy(kind: .ask)
}
