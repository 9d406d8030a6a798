import CoreDataSource
import TestSupport

/// The stored rows of a ``DraftModel``: what contexts show of them, and what others do to them.
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
