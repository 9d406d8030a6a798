/// What a save of a draft does where others have changed the same meanwhile.
///
/// ```swift
/// try await draft.save(resolving: .each { $0.propertyName == "note" ? .mine : .theirs })
/// ```
public struct DraftResolution: Sendable {
    /// Decides a conflict; nil if it decides none.
    let choose: (@Sendable (DraftChange) throws -> DraftChange.Choice)?

    /// What the draft has is saved.
    public static let keepMine = DraftResolution { _ in .mine }
    /// What others have saved stays; the rest of the draft is saved.
    public static let takeTheirs = DraftResolution { _ in .theirs }
    /// The save throws `draftConflict`, and the draft stays as it is.
    public static let fail = DraftResolution(choose: nil)

    /// Each conflict is decided by the closure.
    ///
    /// **Isolation**: the queue of the private context, in the middle of the save. What the closure throws, the save throws;
    /// then nothing has happened.
    public static func each(
        _ choose: @escaping @Sendable (DraftChange) throws -> DraftChange.Choice
    ) -> DraftResolution {
        DraftResolution(choose: choose)
    }

    private init(choose: (@Sendable (DraftChange) throws -> DraftChange.Choice)?) {
        self.choose = choose
    }
}

/// What a save of a draft did.
public struct DraftReport: Sendable {
    /// What was changed in the store.
    public let save: SaveReport
    /// What others had changed meanwhile in objects that the draft edits, and the draft had not: it stays, and the draft has it
    /// now.
    public let merged: [DraftChange]
    /// What both had changed, each with the side that was kept.
    public let conflicts: [DraftChange]
}
