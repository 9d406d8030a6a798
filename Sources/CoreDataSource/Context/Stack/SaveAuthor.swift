internal import RowStore

/// The author of a save.
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

    /// Returns the facts of a save of the current task, for the kept history and for loops over ``PersistentContainer/saves``.
    ///
    /// - Parameter reversal: The record that the save reverts; nil for any other save.
    func facts(_ kind: HistoryKind, from source: SaveSource, reversal: SaveReversal?) -> SaveFacts {
        SaveFacts(
            kind, dataSourceName: source.name, author: SaveAuthor.named[ObjectIdentifier(self)] ?? author,
            reversal: reversal)
    }
}
