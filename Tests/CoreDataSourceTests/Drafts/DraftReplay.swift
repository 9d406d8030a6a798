import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Random steps of a draft and of others, in any order, compared after each step with a ``DraftModel``.
@MainActor final class DraftReplay {
    private let container: PersistentContainer
    private let source: GraphDataSource
    /// The store, which another program writes, too; nil in memory.
    private let file: URL?
    private let draft: Draft<Station>
    private var model = DraftModel()
    private var random: SeededRandom
    /// Objects of the draft that are held, so that they are read through their accessors alone.
    private var letters: [String: Letter] = [:]
    private var topics: [String: Topic] = [:]
    private var made = 0
    /// A topic of another program with the key of a new object of the draft, which hides it until the draft is saved.
    private var hidden: String?
    /// The latest steps, for a failure.
    private(set) var steps: [String] = []

    init(_ container: PersistentContainer, _ source: GraphDataSource, _ file: URL?, _ random: SeededRandom) async throws
    {
        (self.container, self.source, self.file, self.random) = (container, source, file, random)
        model.store.persons = ["p1", "p2", "p3"]
        for key in ["t1", "t2", "t3"] { model.store.topics[key] = "" }
        for number in 1...6 {
            model.store.letters["l\(number)"] = DraftModel.Row(topic: number < 5 ? "t\(number % 3 + 1)" : nil)
        }
        let store = model.store
        try await source.perform { context in
            for label in DraftModel.labels { _ = try context.label(label) }
            try store.write(to: context, from: DraftModel.Store())
        }
        draft = try source.draft(inserting: Station.self)
        draft.object.key = "s"
        try await draft.save()
    }

    /// - Returns: Whether everything was as in the model.
    func step() async throws -> Bool {
        switch random.next(below: 21) {
        case 0..<9: try edit()
        case 9: move(draft.canUndo, { model.undo() }) { draft.undo() }
        case 10: move(draft.canRedo, { model.redo() }) { draft.redo() }
        case 11..<14: try await editByOthers()
        case 14: try hold()
        case 15: try fetchAll()
        case 16:
            steps.append("release")
            if random.next(below: 2) == 0 { letters = [:] } else { topics = [:] }
        case 17: try await editByAnotherProgram()
        default: try await save()
        }
        return try isAsInTheModel()
    }

    /// What the draft can show.
    private var view: DraftModel.Store {
        var view = model.view
        if let hidden { view.topics[hidden] = nil }
        return view
    }

    private func expect(_ condition: Bool, _ problem: String) {
        if !condition { Issue.record("\(problem); after \(steps.suffix(60).joined(separator: ", "))") }
    }

    // MARK: Steps

    private func letter(_ key: String) throws -> Letter {
        if let letter = letters[key] { return letter }
        let letter = try draft.context.knownLetter(key)
        if random.next(below: 2) == 0 { letters[key] = letter }
        return letter
    }

    private func topic(_ key: String) throws -> Topic {
        if let topic = topics[key] { return topic }
        let topic = try draft.context.knownTopic(key)
        if random.next(below: 2) == 0 { topics[key] = topic }
        return topic
    }

    private func edit() throws {
        let view = self.view
        let key = view.letters.keys.sorted().randomElement(using: &random)
        let topic = view.topics.keys.sorted().randomElement(using: &random)
        switch (random.next(below: 12), key, topic) {
        case (0, _, let topic): try insert(into: random.next(below: 3) == 0 ? nil : topic)
        case (1, _, _):
            made += 1
            let key = "t-\(made)"
            steps.append("insert \(key)")
            let topic = try draft.undoGroup {
                let topic = try draft.context.insert(Topic.self)
                topic.key = key
                return topic
            }
            topics[key] = topic
            model.edit { $0.topics[key] = DraftModel.Edit(base: nil, row: "") }
        case (2, _, let topic?):
            steps.append("title \(topic)")
            let title = "\(random.next(below: 2))"
            try self.topic(topic).title = title
            model.set(title: title, of: topic)
        case (3, let key?, _):
            steps.append("delete \(key)")
            try draft.context.delete(letter(key))
            model.delete(letter: key)
        case (4, _, let topic?):
            steps.append("delete \(topic)")
            try draft.context.delete(self.topic(topic))
            model.delete(topic: topic)
        case (5, let key?, let topic):
            let topic = random.next(below: 4) == 0 ? nil : topic
            steps.append("topic of \(key) = \(topic ?? "nil")")
            try letter(key).topic = topic.map(self.topic)
            model.set(topic: topic, of: key)
        case (6, let key?, _): try toggle(key)
        case (7, let key?, _):
            let person = random.next(below: 3) == 0 ? nil : view.persons.sorted().randomElement(using: &random)
            steps.append("author of \(key) = \(person ?? "nil")")
            try letter(key).author = person.map(draft.context.knownPerson)
            model.set(author: person, of: key)
        case (8, _, _) where random.next(below: 3) == 0:
            guard let person = view.persons.sorted().randomElement(using: &random) else { return }
            steps.append("delete \(person)")
            try draft.context.delete(draft.context.knownPerson(person))
            model.delete(person: person)
        case (_, let key?, _):
            steps.append("subject of \(key)")
            let subject = "\(random.next(below: 2))"
            try letter(key).subject = subject
            model.set(subject: subject, of: key)
        default: break
        }
    }

    private func insert(into topic: String?) throws {
        made += 1
        let key = "l-\(made)"
        steps.append("insert \(key) into \(topic ?? "nil")")
        let destination = try topic.map(self.topic)
        try draft.undoGroup {
            let letter = try draft.context.insert(Letter.self)
            letter.key = key
            letter.topic = destination
            letters[key] = letter
        }
        model.edit { $0.letters[key] = DraftModel.Edit(base: nil, row: DraftModel.Row(topic: topic)) }
    }

    private func toggle(_ key: String) throws {
        let name = DraftModel.labels[random.next(below: DraftModel.labels.count)]
        let link = DraftModel.Link(letter: key, label: name)
        // Both sides have added it: two rows, of which the draft can remove its own.
        if model.draft.links[link] == true, model.store.links.contains(link) { return }
        steps.append("label \(name) of \(key)")
        let label = try #require(try draft.context.first(Label.self, where: \.key, equals: name))
        let letter = try letter(key)
        if model.view.links.contains(link) { letter.labels.remove(label) } else { letter.labels.insert(label) }
        model.toggle(link)
    }

    private func move(_ isPossible: Bool, _ inModel: () -> Bool, _ inDraft: () -> Void) {
        steps.append("undo or redo")
        inDraft()
        expect(inModel() == isPossible, "the draft can undo or redo \(isPossible)")
    }

    private func editByOthers() async throws {
        let before = model.store
        for _ in 0...random.next(below: 3) { model.store.edit(&random, &made, sparing: hidden) }
        steps.append("others: \(model.store.changes(since: before))")
        let after = model.store
        try await source.perform { try after.write(to: $0, from: before) }
    }

    /// Another program gives a new topic of the draft's key to a topic of its own, or edits one.
    private func editByAnotherProgram() async throws {
        guard let file else { return }
        // The key of an object that others have deleted is that of the same object, if a row gets it again.
        let new = topics.filter { model.store.topics[$0.key] == nil && $0.value.isInserted }
        let raw = try RawConnection(file)
        if random.next(below: 3) == 0, let letter = letters.min(by: { $0.key < $1.key })?.value {
            // The tables of two entities may have rows with the same key.
            made += 1
            steps.append("another program inserts o-\(made) with the key of a letter")
            let values = "\(letter.objectID.key), 'o-\(made)', 'other'"
            let sql = "INSERT OR IGNORE INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(values)) RETURNING 1"
            if try !raw.column(sql).isEmpty { model.store.topics["o-\(made)"] = "other" }
        } else if hidden == nil, let topic = new.min(by: { $0.key < $1.key }) {
            made += 1
            steps.append("another program takes the key of \(topic.key)")
            let values = "\(topic.value.objectID.key), 'o-\(made)', 'other'"
            try raw.execute("INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(values))")
            model.store.topics["o-\(made)"] = "other"
            hidden = "o-\(made)"
        } else if let topic = model.store.topics.keys.sorted().randomElement(using: &random) {
            steps.append("another program titles \(topic)")
            try raw.execute("UPDATE \"Topic\" SET \"title\" = 'outside' WHERE \"key\" = '\(topic)'")
            model.store.topics[topic] = "outside"
        }
        // The next batch finds out.
        try await source.perform { _ in }
    }

    private func hold() throws {
        steps.append("hold")
        let view = self.view
        for key in view.letters.keys.sorted() where random.next(below: 2) == 0 { letters[key] = try letter(key) }
        for key in view.topics.keys.sorted() where random.next(below: 2) == 0 { topics[key] = try topic(key) }
    }

    private func fetchAll() throws {
        steps.append("fetch all")
        let view = self.view
        expect(try draft.context.count(Letter.self) == view.letters.count, "other letters are counted")
        // What is fetched last may be believed to be all that there is.
        for isLetters in random.next(below: 2) == 0 ? [true, false] : [false, true] {
            let (shown, fetched) =
                isLetters
                ? (Set(view.letters.keys), Set(try draft.context.fetch(Letter.self).map(\.key)))
                : (Set(view.topics.keys), Set(try draft.context.fetch(Topic.self).map(\.key)))
            // A key that another program has taken is shown as its topic once the draft has no object with it.
            expect(
                shown == fetched.filter { isLetters || $0 != hidden },
                "\(fetched.sorted()) are fetched instead of \(shown.sorted())")
        }
    }

    private func save() async throws {
        let side = DraftModel.Side.allCases[random.next(below: 3)]
        steps.append("save \(side)")
        let merge = model.merge(side)
        let conflicts = try draft.conflicts()
        expect(conflicts.count == merge.conflicts, "\(conflicts) instead of \(merge.conflicts) conflicts")
        try validate()
        // So that all objects have been fetched before the save, and are released by it.
        if random.next(below: 2) == 0 { try fetchAll() }
        do {
            let resolution: DraftResolution =
                switch side {
                case .fail: .fail
                case .mine: .keepMine
                case .theirs: .takeTheirs
                }
            try await draft.save(resolving: resolution)
            expect(merge.error == nil, "the save did not throw \(merge.error?.rawValue ?? "")")
            model.didSave(merge)
            hidden = nil
            expect(!draft.hasChanges && !draft.canUndo, "the draft has changes after its save")
        } catch let error as DataSourceError {
            expect(error.code == merge.error, "the save threw \(error)")
            if error.code == .draftConflict { checkAdvice(error) }
        }
        let stored = try DraftModel.Store(container.main)
        expect(stored == model.store, "other rows are stored: \(stored.changes(since: model.store))")
    }

    /// A rule that the save will break is found before.
    private func validate() throws {
        do {
            try draft.validate()
            expect(!model.isDenied, "the rule Deny was not found before the save")
        } catch let error as DataSourceError {
            expect(model.isDenied && error.code == .deletionDenied, "validate() threw \(error)")
        }
    }

    /// The draft's side is advised only if it can be saved.
    private func checkAdvice(_ error: DataSourceError) {
        let failures = error.failures.isEmpty ? [error] : error.failures
        let isPossible = model.merge(.mine).error != .objectGone
        expect(
            failures.allSatisfy { $0.message.contains("keepMine") } == isPossible, "the advice is wrong: \(failures)")
    }

    // MARK: Checks

    private func isAsInTheModel() throws -> Bool {
        let view = self.view
        var problems: [String] = []
        for (key, letter) in letters.sorted(by: { $0.key < $1.key }) {
            guard let row = view.letters[key] else {
                if !letter.isDeleted { problems.append("\(key) is not deleted") }
                continue
            }
            if letter.isDeleted {
                problems.append("\(key) is deleted")
                continue
            }
            if letter.topic?.key != row.topic { problems.append("\(key) has topic \(letter.topic?.key ?? "nil")") }
            if letter.author?.key != row.author {
                problems.append("\(key) has author \(letter.author?.key ?? "nil")")
            }
            if letter.subject != row.subject { problems.append("\(key) has subject \(letter.subject)") }
            let labels = Set(view.links.filter { $0.letter == key }.map(\.label))
            if Set(letter.labels.map(\.key)) != labels { problems.append("\(key) has other labels") }
        }
        for (key, topic) in topics.sorted(by: { $0.key < $1.key }) {
            guard let title = view.topics[key] else {
                if !topic.isDeleted { problems.append("\(key) is not deleted") }
                continue
            }
            if topic.isDeleted {
                problems.append("\(key) is deleted")
                continue
            }
            if topic.title != title { problems.append("\(key) has title \(topic.title)") }
            let letters = Set(view.letters.filter { $0.value.topic == key }.keys)
            if Set(topic.letters.map(\.key)) != letters { problems.append("\(key) has other letters") }
        }
        if draft.hasChanges == model.draft.isEmpty { problems.append("hasChanges is \(draft.hasChanges)") }
        for problem in problems { expect(false, problem) }
        return problems.isEmpty
    }
}
