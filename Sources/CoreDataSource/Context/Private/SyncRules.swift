/// Exceptions to the guards of a sync, and additions to its report.
///
/// ```swift
/// let sync = try await contacts.sync([], options: [.allowsEmpty, .reportsIDs])
/// print(sync.ids?.deleted ?? [])
/// ```
public struct SyncOptions: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// An empty list, or one with ignored values only, may delete everything in scope.
    public static let allowsEmpty = SyncOptions(rawValue: 1)
    /// A list with ignored values deletes the objects that it lacks all the same.
    public static let allowsIgnoredValues = SyncOptions(rawValue: 2)
    /// The report contains the ids of the objects: ``SyncReport/ids``.
    public static let reportsIDs = SyncOptions(rawValue: 4)
}

/// What a sync may do to objects.
///
/// ```swift
/// try await contacts.sync(serverList, operations: [.insert, .update])
/// ```
public struct SyncOperations: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Objects may be inserted.
    public static let insert = SyncOperations(rawValue: 1)
    /// Objects may be changed.
    public static let update = SyncOperations(rawValue: 2)
    /// Objects that the list lacks may be deleted.
    public static let delete = SyncOperations(rawValue: 4)
    /// Everything; the default.
    public static let all: SyncOperations = [.insert, .update, .delete]
}

/// The arguments of a sync that restrict it.
struct SyncRules: Sendable {
    let deletion: SyncDeletion
    let operations: SyncOperations
    let options: SyncOptions

    /// Whether objects that the list lacks are deleted at all.
    var deletes: Bool { operations.contains(.delete) && deletion != .none }
}
