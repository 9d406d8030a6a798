import CoreDataSource

/// What a draft shows, and what its save makes of it, in dictionaries.
struct DraftModel {
    struct Row: Equatable, Sendable {
        var subject = ""
        var topic: String?
        /// A person who cannot be deleted meanwhile.
        var author: String?
    }

    struct Link: Hashable, Sendable {
        let letter: String
        let label: String
    }

    /// The rows that everybody sees.
    struct Store: Equatable, Sendable {
        var letters: [String: Row] = [:]
        var topics: [String: String] = [:]
        var links: Set<Link> = []
        var persons: Set<String> = []
    }

    /// An edited row. The base is nil for a new one, the row for a deleted one.
    struct Edit<Value: Equatable & Sendable>: Equatable, Sendable {
        var base: Value?
        var row: Value?
        var isCascaded = false
    }

    /// The edits of the draft.
    struct Edits: Equatable, Sendable {
        var letters: [String: Edit<Row>] = [:]
        var topics: [String: Edit<String>] = [:]
        /// Links that were added or removed.
        var links: [Link: Bool] = [:]
        /// Persons that were deleted.
        var deletedPersons: Set<String> = []

        var isEmpty: Bool { letters.isEmpty && topics.isEmpty && links.isEmpty && deletedPersons.isEmpty }
    }

    static let labels = ["x", "y"]
    var store = Store()
    private(set) var draft = Edits()
    private var done: [Edits] = []
    private var undone: [Edits] = []

    /// What the draft shows.
    var view: Store {
        var view = store
        for (key, edit) in draft.topics { view.topics[key] = edit.row }
        for (key, edit) in draft.letters { view.letters[key] = edit.row }
        for (key, row) in view.letters where row.topic.map({ view.topics[$0] == nil }) ?? false {
            view.letters[key]?.topic = nil
        }
        view.persons.subtract(draft.deletedPersons)
        for (key, row) in view.letters where row.author.map({ !view.persons.contains($0) }) ?? false {
            view.letters[key]?.author = nil
        }
        for (link, isAdded) in draft.links {
            if isAdded { view.links.insert(link) } else { view.links.remove(link) }
        }
        view.links = view.links.filter { view.letters[$0.letter] != nil }
        return view
    }

    // MARK: Edits

    /// One step.
    mutating func edit(_ body: (inout Edits) -> Void) {
        done.append(draft)
        if done.count > 100 { done.removeFirst() }
        undone = []
        body(&draft)
    }

    mutating func undo() -> Bool {
        guard let last = done.popLast() else { return false }
        undone.append(draft)
        draft = last
        return true
    }

    mutating func redo() -> Bool {
        guard let last = undone.popLast() else { return false }
        done.append(draft)
        draft = last
        return true
    }

    mutating func set(subject: String, of key: String) {
        guard let row = row(key), row.subject != subject else { return }
        put(Row(subject: subject, topic: row.topic, author: row.author), key)
    }

    mutating func set(topic: String?, of key: String) {
        guard let row = row(key), row.topic != topic else { return }
        put(Row(subject: row.subject, topic: topic, author: row.author), key)
    }

    mutating func set(author: String?, of key: String) {
        guard let row = row(key), row.author != author else { return }
        put(Row(subject: row.subject, topic: row.topic, author: author), key)
    }

    mutating func delete(person key: String) { edit { $0.deletedPersons.insert(key) } }

    /// Whether a letter that the draft shows leads to a person that it deletes.
    var isDenied: Bool {
        var letters = store.letters
        for (key, edit) in draft.letters { letters[key] = edit.row }
        // What a cascade reaches denies nothing.
        return draft.deletedPersons.deny(
            letters.filter { _, row in row.topic.map { draft.topics[$0].map { $0.row != nil } ?? true } ?? true })
    }

    mutating func set(title: String, of key: String) {
        let now = draft.topics[key]?.row ?? store.topics[key]
        if now == title { return }
        let base = draft.topics[key].map(\.base) ?? store.topics[key]
        edit { $0.topics[key] = base == title ? nil : Edit(base: base, row: title) }
    }

    private func row(_ key: String) -> Row? { draft.letters[key]?.row ?? store.letters[key] }

    private mutating func put(_ row: Row, _ key: String) {
        let base = draft.letters[key].map(\.base) ?? store.letters[key]
        edit { $0.letters[key] = base == row ? nil : Edit(base: base, row: row) }
    }

    mutating func toggle(_ link: Link) {
        let isShown = view.links.contains(link)
        let isStored = store.links.contains(link)
        edit { $0.links[link] = isShown == isStored ? !isShown : nil }
    }

    mutating func delete(letter key: String) {
        let store = store
        edit { $0.delete(letter: key, store, isCascaded: false) }
    }

    mutating func delete(topic key: String) {
        let (store, view) = (store, view)
        let authors = view.letters.keys.reduce(into: [:]) { $0[$1] = row($1)?.author }
        edit { edits in
            let isNew = edits.topics[key].map { $0.base == nil } ?? false
            if isNew {
                edits.topics[key] = nil
            } else {
                edits.topics[key] = Edit(base: edits.topics[key].map(\.base) ?? store.topics[key], row: nil)
            }
            for (letter, row) in view.letters where row.topic == key {
                let base = edits.letters[letter].map(\.base) ?? store.letters[letter]
                if isNew, let base {
                    let row = DraftModel.Row(subject: row.subject, author: authors[letter])
                    edits.letters[letter] = row == base ? nil : Edit(base: base, row: row)
                } else {
                    edits.delete(letter: letter, store, isCascaded: true)
                }
            }
        }
    }

    // MARK: Saving

    enum Side: CaseIterable { case fail, mine, theirs }

    struct Merge {
        var result = Store()
        var conflicts = 0
        var error: DataSourceError.Code?
    }

    mutating func didSave(_ merge: Merge) {
        store = merge.result
        (draft, done, undone) = (Edits(), [], [])
    }

    func merge(_ side: Side) -> Merge {
        var merging = DraftModelMerge(store, draft, isMine: side == .mine)
        merging.run()
        let isRefused = side == .fail && merging.conflicts > 0
        let error: DataSourceError.Code? =
            isRefused
            ? .draftConflict
            : side == .mine && merging.needsDeletedObject
                ? .objectGone : merging.deletedPersons.deny(merging.result.letters) ? .deletionDenied : nil
        return Merge(result: merging.result, conflicts: merging.conflicts, error: error)
    }
}

extension DraftModel.Edits {
    mutating func delete(letter key: String, _ store: DraftModel.Store, isCascaded: Bool) {
        for (link, isAdded) in links where link.letter == key && isAdded { links[link] = nil }
        if let edit = letters[key], edit.base == nil {
            letters[key] = nil
        } else {
            letters[key] = DraftModel.Edit(
                base: letters[key].map(\.base) ?? store.letters[key], row: nil, isCascaded: isCascaded)
        }
    }
}

extension Set<String> {
    /// Whether letters lead to those persons, whom the draft deletes.
    fileprivate func deny(_ letters: [String: DraftModel.Row]) -> Bool {
        letters.values.contains { $0.author.map(contains) ?? false }
    }
}
