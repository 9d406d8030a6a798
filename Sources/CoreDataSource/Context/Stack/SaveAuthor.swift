internal import RowStore

/// The author whom the kept history records with a save.
enum SaveAuthor {
    /// The authors that the current task has named, by the stacks of their containers.
    @TaskLocal static var named: [ObjectIdentifier: String] = [:]
}

extension PersistentStack {
    /// The authors of the current task, with another author for this container.
    func authors(with author: String) -> [ObjectIdentifier: String] {
        var authors = SaveAuthor.named
        authors[ObjectIdentifier(self)] = author
        return authors
    }

    /// What the kept history records of a save that the current task makes; nil if the store keeps no history.
    ///
    /// - Parameter reversal: What the save takes back; nil for another save.
    func facts(_ kind: HistoryKind, from source: SaveSource, reversal: SaveReversal?) -> SaveFacts? {
        guard root.keepsHistory else { return nil }
        return SaveFacts(
            kind, dataSourceName: source.name, author: SaveAuthor.named[ObjectIdentifier(self)] ?? author,
            reversal: reversal)
    }
}
