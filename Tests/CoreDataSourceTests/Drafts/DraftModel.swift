import CoreDataSource
import TestSupport

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
        return draft.denies(
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
            : side == .mine && merging.needsWhatIsGone
                ? .objectGone : draft.denies(merging.result.letters) ? .deletionDenied : nil
        return Merge(result: merging.result, conflicts: merging.conflicts, error: error)
    }
}

extension DraftModel.Edits {
    func denies(_ letters: [String: DraftModel.Row]) -> Bool {
        letters.values.contains { $0.author.map(deletedPersons.contains) ?? false }
    }

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

/// The merge of a draft's edits with the stored rows.
struct DraftModelMerge {
    private let store: DraftModel.Store
    private let draft: DraftModel.Edits
    private let isMine: Bool
    private(set) var result: DraftModel.Store
    private(set) var conflicts = 0
    /// Whether the draft's side needs an object that is gone.
    private(set) var needsWhatIsGone = false
    /// Topics that the draft deletes, and that are kept.
    private var keptTopics: Set<String> = []

    init(_ store: DraftModel.Store, _ draft: DraftModel.Edits, isMine: Bool) {
        (self.store, self.draft, self.isMine) = (store, draft, isMine)
        result = store
    }

    mutating func run() {
        for (key, edit) in draft.topics { merge(key, edit) }
        for (key, edit) in draft.letters { merge(key, edit) }
        for (link, isAdded) in draft.links { merge(link, isAdded) }
        for (key, row) in store.letters { compareReached(key, row) }
        delete()
        result.persons.subtract(draft.deletedPersons)
        result.links = result.links.filter { result.letters[$0.letter] != nil }
    }

    private func isDeletedHere(topic key: String) -> Bool {
        guard let edit = draft.topics[key] else { return false }
        return edit.row == nil && store.topics[key] != nil
    }

    private mutating func merge(_ key: String, _ edit: DraftModel.Edit<String>) {
        switch (edit.base, edit.row, store.topics[key]) {
        case (nil, let row, _): result.topics[key] = row
        case (let base, nil, let theirs?) where base != theirs:
            conflicts += 1
            if !isMine { keptTopics.insert(key) }
        case (_, let row?, nil):
            conflicts += 1
            if isMine { result.topics[key] = row }
        case (let base?, let row?, let theirs?):
            let title = pick(base, row, theirs)
            result.topics[key] = title
        default: break
        }
    }

    private mutating func merge(_ key: String, _ edit: DraftModel.Edit<DraftModel.Row>) {
        switch (edit.base, edit.row, store.letters[key]) {
        case (nil, let row?, _):
            result.letters[key] = row
            if let topic = row.topic, !exists(topic) {
                let left = gone(topic)
                result.letters[key]?.topic = left
            }
        case (_, let row?, nil):
            conflicts += 1
            guard isMine else { return }
            result.letters[key] = row
            if let topic = row.topic, !exists(topic), !isRevived(topic) { result.letters[key]?.topic = nil }
        case (let base?, let row?, let theirs?):
            let subject = pick(base.subject, row.subject, theirs.subject)
            let author = pick(base.author, row.author, theirs.author)
            result.letters[key] = DraftModel.Row(subject: subject, topic: theirs.topic, author: author)
            guard row.topic != base.topic, row.topic != theirs.topic else { return }
            let isConflict = theirs.topic != base.topic || row.topic.map { !exists($0) } ?? false
            // Where the letter stays, that topic stays.
            if isConflict, !isMine, let topic = theirs.topic { keptTopics.insert(topic) }
            if let topic = row.topic, !exists(topic) {
                conflicts += 1
                if isMine && !isRevived(topic) { needsWhatIsGone = true }
                if isMine { result.letters[key]?.topic = topic }
            } else {
                let topic = pick(base.topic, row.topic, theirs.topic)
                result.letters[key]?.topic = topic
            }
        case (let base?, nil, let theirs?) where base != theirs:
            conflicts += 1
            if !isMine, let topic = theirs.topic { keptTopics.insert(topic) }
        default: break
        }
    }

    private mutating func merge(_ link: DraftModel.Link, _ isAdded: Bool) {
        if !isAdded {
            result.links.remove(link)
            return
        }
        let edit = draft.letters[link.letter]
        if let edit, edit.base != nil, edit.row == nil { return }
        if store.letters[link.letter] == nil, edit.map({ $0.base != nil }) ?? true {
            conflicts += 1
            let isRevived = edit?.row != nil
            if isMine && !isRevived { needsWhatIsGone = true }
            if isMine { result.links.insert(link) }
        } else {
            result.links.insert(link)
        }
    }

    /// Others have added a letter to a topic that the draft deletes.
    private mutating func compareReached(_ key: String, _ row: DraftModel.Row) {
        guard let topic = row.topic, isDeletedHere(topic: topic) else { return }
        if let edit = draft.letters[key] {
            guard let mine = edit.row else { return }
            if mine.topic != edit.base?.topic && mine.topic != topic { return }
        }
        conflicts += 1
        if !isMine { keptTopics.insert(topic) }
    }

    private mutating func delete() {
        for (key, edit) in draft.letters where edit.row == nil {
            guard let base = edit.base, let theirs = store.letters[key] else { continue }
            if !isMine && base != theirs { continue }
            let isReached = theirs.topic.map(isDeletedHere) ?? false
            if edit.isCascaded, isReached, let topic = theirs.topic, keptTopics.contains(topic), base == theirs {
                continue
            }
            result.letters[key] = nil
        }
        for (key, edit) in draft.topics where edit.row == nil && edit.base != nil && !keptTopics.contains(key) {
            result.topics[key] = nil
            for (letter, row) in result.letters where row.topic == key { result.letters[letter] = nil }
        }
    }

    private func exists(_ topic: String) -> Bool {
        store.topics[topic] != nil || draft.topics[topic].map { $0.base == nil && $0.row != nil } ?? false
    }

    private func isRevived(_ topic: String) -> Bool {
        draft.topics[topic].map { $0.base != nil && $0.row != nil } ?? false
    }

    /// A new letter leads to a topic that others have deleted.
    private mutating func gone(_ topic: String) -> String? {
        conflicts += 1
        guard isMine else { return nil }
        if !isRevived(topic) { needsWhatIsGone = true }
        return topic
    }

    private mutating func pick<Value: Equatable>(_ base: Value, _ mine: Value, _ theirs: Value) -> Value {
        if mine == base || mine == theirs { return theirs }
        if theirs == base { return mine }
        conflicts += 1
        return isMine ? mine : theirs
    }
}

extension DraftModel.Store {
    /// What a context shows.
    init(_ context: ManagedObjectContext) throws {
        for topic in try context.fetch(Topic.self) { topics[topic.key] = topic.title }
        persons = Set(try context.fetch(Person.self).map(\.key))
        for letter in try context.fetch(Letter.self) {
            letters[letter.key] = DraftModel.Row(
                subject: letter.subject, topic: letter.topic?.key, author: letter.author?.key)
            for label in letter.labels { links.insert(DraftModel.Link(letter: letter.key, label: label.key)) }
        }
    }

    /// One edit by others.
    ///
    /// - Parameter hidden: A topic that nobody links.
    mutating func edit(_ random: inout SeededRandom, _ made: inout Int, sparing hidden: String?) {
        let key = letters.keys.sorted().randomElement(using: &random)
        let topic = topics.keys.filter { $0 != hidden }.sorted().randomElement(using: &random)
        switch (random.next(below: 11), key, topic) {
        case (9, _, _):
            made += 1
            persons.insert("p-\(made)")
        case (10, let key?, _): letters[key]?.author = persons.sorted().randomElement(using: &random)
        case (0, _, let topic):
            made += 1
            letters["l-\(made)"] = DraftModel.Row(topic: topic)
        case (1, _, _):
            made += 1
            topics["t-\(made)"] = ""
        case (2, _, let topic?): topics[topic] = "\(random.next(below: 2))"
        case (3, let key?, _): letters[key] = nil
        case (4, _, let topic?) where random.next(below: 2) == 0:
            topics[topic] = nil
            letters = letters.filter { $0.value.topic != topic }
        case (5, let key?, let topic): letters[key]?.topic = topic
        case (6, let key?, _):
            links.formSymmetricDifference([
                DraftModel.Link(letter: key, label: DraftModel.labels[random.next(below: DraftModel.labels.count)])
            ])
        case (_, let key?, _): letters[key]?.subject = "\(random.next(below: 2))"
        default: break
        }
        links = links.filter { letters[$0.letter] != nil }
    }

    /// What differs from the other rows, for a failure.
    func changes(since other: DraftModel.Store) -> String {
        let keys = Set(letters.keys).union(other.letters.keys).filter { letters[$0] != other.letters[$0] }
        let names = Set(topics.keys).union(other.topics.keys).filter { topics[$0] != other.topics[$0] }
        return keys.sorted().map {
            "\($0) \(letters[$0].map { "\($0.subject) \($0.topic ?? "nil") \($0.author ?? "")" } ?? "gone")"
        }
        .joined(separator: " ") + names.sorted().map { " \($0) \(topics[$0] ?? "gone")" }.joined()
            + links.symmetricDifference(other.links).map { " \($0.letter)-\($0.label)" }.sorted().joined()
    }

    /// Does to a context what leads from the other rows to these.
    func write(to context: PrivateContext, from before: DraftModel.Store) throws {
        for key in persons.subtracting(before.persons) { _ = try context.person(key) }
        for (key, title) in topics where before.topics[key] != title { try context.topic(key).title = title }
        for (key, row) in letters where before.letters[key] != row {
            let letter = try context.letter(key)
            letter.subject = row.subject
            letter.author = try row.author.map(context.person)
            letter.topic = try row.topic.map(context.topic)
        }
        for link in links.subtracting(before.links) {
            try context.letter(link.letter).labels.insert(try context.label(link.label))
        }
        for link in before.links.subtracting(links) where letters[link.letter] != nil {
            try context.letter(link.letter).labels.remove(try context.label(link.label))
        }
        for key in before.letters.keys where letters[key] == nil {
            try context.delete(Letter.self, where: \.key == key)
        }
        for key in before.topics.keys where topics[key] == nil { try context.delete(Topic.self, where: \.key == key) }
    }
}
