import CoreDataSource

/// The merge of a draft's edits with the stored rows.
struct DraftModelMerge {
    private let store: DraftModel.Store
    private let draft: DraftModel.Edits
    private let isMine: Bool
    private(set) var result: DraftModel.Store
    private(set) var conflicts = 0
    /// Whether the draft's side needs an object that is gone.
    private(set) var needsDeletedObject = false
    /// Topics that the draft deletes, and that are kept.
    private var keptTopics: Set<String> = []
    /// Persons that the draft deletes.
    private(set) var deletedPersons: Set<String>

    init(_ store: DraftModel.Store, _ draft: DraftModel.Edits, isMine: Bool) {
        (self.store, self.draft, self.isMine) = (store, draft, isMine)
        result = store
        deletedPersons = draft.deletedPersons
    }

    mutating func run() {
        for (key, edit) in draft.topics { merge(key, edit) }
        for (key, edit) in draft.letters { merge(key, edit) }
        for (link, isAdded) in draft.links { merge(link, isAdded) }
        for (key, row) in store.letters { compareReached(key, row) }
        delete()
        result.persons.subtract(deletedPersons)
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
            // Where the link of others stays, that person stays.
            if !isMine, row.author != base.author, ![base.author, row.author].contains(theirs.author) {
                if let author = theirs.author { deletedPersons.remove(author) }
            }
            guard row.topic != base.topic, row.topic != theirs.topic else { return }
            let isConflict = theirs.topic != base.topic || row.topic.map { !exists($0) } ?? false
            // Where the letter stays, that topic stays.
            if isConflict, !isMine, let topic = theirs.topic { keptTopics.insert(topic) }
            if let topic = row.topic, !exists(topic) {
                conflicts += 1
                if isMine && !isRevived(topic) { needsDeletedObject = true }
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
            if isMine && !isRevived { needsDeletedObject = true }
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
        if !isRevived(topic) { needsDeletedObject = true }
        return topic
    }

    private mutating func pick<Value: Equatable>(_ base: Value, _ mine: Value, _ theirs: Value) -> Value {
        if mine == base || mine == theirs { return theirs }
        if theirs == base { return mine }
        conflicts += 1
        return isMine ? mine : theirs
    }
}
