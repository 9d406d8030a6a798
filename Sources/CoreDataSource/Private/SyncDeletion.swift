/// Whether a sync deletes the objects that the list lacks.
///
/// ```swift
/// try await contacts.sync(onePage, deleting: .none)
/// try await contacts.sync(serverList, deleting: .atMost(0.5))
/// ```
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
