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

    /// What the kept history and the loops over ``PersistentContainer/saves`` know of a save that the current task makes.
    ///
    /// - Parameter reversal: What the save takes back; nil for another save.
    func facts(_ kind: HistoryKind, from source: SaveSource, reversal: SaveReversal?) -> SaveFacts {
        SaveFacts(
            kind, dataSourceName: source.name, author: SaveAuthor.named[ObjectIdentifier(self)] ?? author,
            reversal: reversal)
    }
}
