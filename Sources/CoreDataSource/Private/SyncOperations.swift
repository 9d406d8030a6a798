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
