/// How the save of a draft resolves conflicts.
///
/// ```swift
/// try await draft.save(resolving: .each { $0.propertyName == "note" ? .mine : .theirs })
/// ```
public struct DraftResolution: Sendable {
    /// Decides a conflict; nil leaves it undecided.
    let choose: (@Sendable (DraftChange) throws -> DraftChange.Choice)?

    /// The draft's value is saved.
    public static let keepMine = DraftResolution { _ in .mine }
    /// The value that others have saved stays; the rest of the draft is saved.
    public static let takeTheirs = DraftResolution { _ in .theirs }
    /// The save throws `draftConflict`, and the draft stays as it is.
    public static let fail = DraftResolution(choose: nil)

    /// The closure decides each conflict.
    ///
    /// **Isolation**: the queue of the private context, during the save. If the closure throws, the save throws that error, and
    /// nothing has happened.
    public static func each(
        _ choose: @escaping @Sendable (DraftChange) throws -> DraftChange.Choice
    ) -> DraftResolution {
        DraftResolution(choose: choose)
    }

    private init(choose: (@Sendable (DraftChange) throws -> DraftChange.Choice)?) {
        self.choose = choose
    }
}
