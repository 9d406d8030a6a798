/// What a save of a draft did.
public struct DraftReport: Sendable {
    /// What was changed in the store.
    public let save: SaveReport
    /// Values that others had changed and the draft had not. They stay, and the draft has them now.
    public let merged: [DraftChange]
    /// Values that both had changed, each with the side that was kept.
    public let conflicts: [DraftChange]
}
