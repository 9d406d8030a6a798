internal import RowStore

/// The author of a save.
enum SaveAuthor {
    /// The authors that the current task has named, by the stacks of their containers.
    @TaskLocal static var named: [ObjectIdentifier: String] = [:]
}

extension PersistentStack {
    /// Returns the authors of the current task, with the given author for this container. If the author is nil, the
    /// author of the configuration applies.
    func authors(with author: String?) -> [ObjectIdentifier: String] {
        var authors = SaveAuthor.named
        authors[ObjectIdentifier(self)] = author
        return authors
    }

    /// Returns the facts of a save of the current task, for the kept history and for loops over ``PersistentContainer/saves``.
    ///
    /// - Parameters:
    ///   - reversal: The record that the save reverts; nil for any other save.
    ///   - mark: The mark by which a draft finds the records of its save, and of the undo and the redo of its save; nil for
    ///     other saves.
    func facts(
        _ kind: HistoryKind, from source: SaveSource, reversal: SaveReversal?, mark: DraftMark?
    ) -> SaveFacts {
        SaveFacts(
            kind, dataSourceName: source.name, author: currentAuthor, reversal: reversal, mark: mark)
    }

    /// The author of the saves that the current task makes; nil for none.
    var currentAuthor: String? { SaveAuthor.named[ObjectIdentifier(self)] ?? author }
}
