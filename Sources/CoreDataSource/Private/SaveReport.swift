internal import RowStore

/// What a save changed.
///
/// ```swift
/// let report = try await contacts.add([
///     Contact(uid: "3", name: "Guan Ping"), Contact(uid: "4", name: "Zhao Yun"),
/// ])
/// print("\(report.inserted) new, \(report.updated) changed")
/// ```
public struct SaveReport: Sendable, Hashable {
    /// Objects that are new.
    public var inserted: Int
    /// Objects that have at least one value that differs from before. An object of which only links in a join
    /// table changed is not counted.
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
