internal import RowStore

/// A save of a draft that has a record in the kept history.
struct RecordedSave {
    let mark = DraftMark()
    /// The author of the save; nil for none.
    let author: String?

    /// The number of saves that a draft can undo.
    static let limit = 100

    /// A save that the current task makes; nil if the store keeps no history.
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
