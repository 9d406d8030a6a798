/// What a save of a draft did.
public struct DraftReport: Sendable {
    /// What was changed in the store.
    public let save: SaveReport
    /// Attributes, and to-one links that the object's own row stores, that others had changed and the draft had not, in objects
    /// that the draft edits. They stay, and the draft has them now.
    public let merged: [DraftChange]
    /// Values that both had changed, each with the side that was kept.
    public let conflicts: [DraftChange]
}
