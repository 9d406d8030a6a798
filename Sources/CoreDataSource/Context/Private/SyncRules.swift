/// Options that switch off safeguards of a sync, or extend its report.
///
/// ```swift
/// let sync = try await contacts.sync([], options: [.allowsEmpty, .reportsIDs])
/// print(sync.ids?.deleted ?? [])
/// ```
public struct SyncOptions: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    /// The options with the given bits.
    ///
    /// ```swift
    /// let options = SyncOptions(rawValue: 5)  // [.allowsEmpty, .reportsIDs]
    /// ```
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// An empty list deletes all objects in scope. A list with only ignored values does so if ``allowsIgnoredValues``
    /// is also set. Without ``allowsEmpty``, the sync throws `emptySync` for either list if there are objects in scope.
    public static let allowsEmpty = SyncOptions(rawValue: 1)
    /// A list with ignored values deletes the objects that are not in the list. Without the option, such a list deletes
    /// nothing.
    public static let allowsIgnoredValues = SyncOptions(rawValue: 2)
    /// The report contains the ids of the objects: ``SyncReport/ids``.
    public static let reportsIDs = SyncOptions(rawValue: 4)
}

/// The operations that a sync may perform.
///
/// ```swift
/// try await contacts.sync(serverList, operations: [.insert, .update])
/// ```
public struct SyncOperations: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    /// The operations with the given bits.
    ///
    /// ```swift
    /// let operations = SyncOperations(rawValue: 3)  // [.insert, .update]
    /// ```
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The sync may insert objects.
    public static let insert = SyncOperations(rawValue: 1)
    /// The sync may change objects.
    public static let update = SyncOperations(rawValue: 2)
    /// The sync may delete the objects that are not in the list.
    public static let delete = SyncOperations(rawValue: 4)
    /// All operations; the default.
    public static let all: SyncOperations = [.insert, .update, .delete]
}

/// The arguments of a sync that restrict it.
struct SyncRules: Sendable {
    let deletion: SyncDeletion
    let operations: SyncOperations
    let options: SyncOptions
    /// Whether the list covers only a part of the entity.
    var isScoped = true

    /// Whether the sync deletes any objects that are not in the list.
    var deletes: Bool { operations.contains(.delete) && deletion.deletes }
}
