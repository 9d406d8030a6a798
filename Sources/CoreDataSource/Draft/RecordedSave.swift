internal import RowStore

/// A save by a draft, in a store that keeps a history. The history has a record of the save.
struct RecordedSave {
    let mark = DraftMark()
    /// The author of the save; nil for none.
    let author: String?

    /// The number of saves that a draft can undo.
    static let limit = 100

    /// Describes a save by the current task. Returns nil if the store keeps no history.
    init?(_ stack: PersistentStack) {
        guard stack.root.keepsHistory else { return nil }
        author = stack.currentAuthor
    }
}

/// A record of the history, and what is needed to read it.
struct RevertedEntry: Sendable {
    let record: StoredRecord
    let historyID: String
    let objects: DetachedObjectFactory
}
