/// Whether a sync deletes the objects that the list lacks.
public struct SyncDeletion: Sendable, Hashable {
    /// The greatest share of the objects in scope that may be deleted, from 0 to 1.
    let share: Double
    /// Whether exceeding that share is an error; otherwise nothing is deleted.
    let isChecked: Bool

    /// All of them.
    public static let all = SyncDeletion(share: 1, isChecked: false)
    /// None of them, for a list that is only a part of what the server has.
    public static let none = SyncDeletion(share: 0, isChecked: false)

    /// All of them, if they are at most that share of the objects in scope. Otherwise the sync throws `syncDeletesTooMuch`.
    ///
    /// - Parameter share: From 0 to 1: `0.2` for a fifth. NaN allows none.
    public static func atMost(_ share: Double) -> SyncDeletion {
        SyncDeletion(share: share > 0 ? min(share, 1) : 0, isChecked: true)
    }

    /// Whether that many deletions are more than it allows.
    func refuses(_ missing: Int, of count: Int) -> Bool {
        isChecked && Double(missing) > share * Double(count)
    }

    /// The error for too many deletions.
    ///
    /// - Parameter place: What the objects belong to: the scope of a list, or a relationship.
    func tooMuch(_ missing: Int, of count: Int, _ place: String, entity: String? = nil) -> DataSourceError {
        DataSourceError(
            .syncDeletesTooMuch,
            "The list lacks \(missing) of the \(count) objects of \(place), which is more than deleting: .atMost(\(share)) allows. Check the list, or allow a greater share.",
            entityName: entity)
    }
}

/// What a sync may do to objects.
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

/// Exceptions to the guards of a sync, and additions to its report.
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

/// The arguments of a sync that restrict it.
struct SyncRules: Sendable {
    let deletion: SyncDeletion
    let operations: SyncOperations
    let options: SyncOptions

    /// Whether objects that the list lacks are deleted at all.
    var deletes: Bool { operations.contains(.delete) && deletion != .none }
}
