internal import RowStore

/// What a save changed.
public struct SaveReport: Sendable, Hashable {
    /// Objects that are new.
    public var inserted: Int
    /// Objects that have at least one value that differs from before.
    public var updated: Int
    /// Objects that are gone.
    public var deleted: Int
    /// Values for which the hook returned nil.
    public var ignored: Int

    /// Makes a report, for example to compare with in a test.
    public init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0, ignored: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.ignored = ignored
    }

    /// Links with rows of their own do not count as objects.
    init(_ changes: ChangeSet, _ layout: ModelLayout) {
        let entities = changes.entities.lazy.filter { layout.entities[$0.entity].links == nil }
        self.init(
            inserted: entities.reduce(0) { $0 + $1.inserted.count },
            updated: entities.reduce(0) { $0 + $1.updated.count },
            deleted: entities.reduce(0) { $0 + $1.deleted.count })
    }
}

/// How far a save must get before a call returns.
public struct SaveLevel: Sendable, Hashable {
    private let rawValue: Int

    /// The rows are in the store, as safe as ``PersistentContainer/Configuration/synchronous`` makes them. If the call was made
    /// on the main actor, the objects and lists of main show them too.
    public static let store = SaveLevel(rawValue: 2)
    /// The main context and its lists show the rows, which will be in the store soon. If the disk fails then, the save is tried
    /// again; ``AnyDataSource/handleError(_:)``, ``PersistentContainer/failures`` and `flush()` report it.
    public static let main = SaveLevel(rawValue: 1)
}
