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
