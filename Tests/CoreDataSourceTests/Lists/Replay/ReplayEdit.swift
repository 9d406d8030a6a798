import CoreDataSource
import TestSupport

/// Random edits of topics and letters.
enum ReplayEdit {
    static let keyCount = 14
    static let largeCount = 280

    /// A few edits of one data source, in one save.
    ///
    /// - Parameter isLarge: Whether so many letters change that lists prepare the report off the main actor.
    static func edit(_ context: PrivateContext, ofTopics: Bool, isLarge: Bool, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        if isLarge {
            for number in 0..<largeCount {
                try context.findOrInsert(Letter.self, where: \.key, equals: "large \(number)").subject =
                    "\(random.next(below: 10))"
            }
            return
        }
        for _ in 0..<1 + random.next(below: 3) {
            if ofTopics { try editTopic(context, &random) } else { try editLetter(context, &random) }
        }
    }

    private static func editTopic(_ context: PrivateContext, _ random: inout SeededRandom) throws {
        let topic = try context.findOrInsert(Topic.self, where: \.key, equals: "t\(random.next(below: 5))")
        // Its letters go with it.
        if random.next(below: 9) == 0 { return context.delete(topic) }
        topic.title = "\(random.next(below: 4))"
    }

    /// Sometimes one of those that come and change together.
    private static func chooseLetter(_ context: PrivateContext, _ random: inout SeededRandom) throws -> Letter {
        if random.next(below: 4) == 0,
            let large = try context.first(Letter.self, where: \.key, equals: "large \(random.next(below: largeCount))")
        {
            return large
        }
        return try context.findOrInsert(Letter.self, where: \.key, equals: "l\(random.next(below: keyCount))")
    }

    private static func editLetter(_ context: PrivateContext, _ random: inout SeededRandom) throws {
        let letter = try chooseLetter(context, &random)
        switch random.next(below: 9) {
        case 0: context.delete(letter)
        case 1, 2:
            let topics = try context.fetch(Topic.self, order: [.ascending(\.key)])
            letter.topic = topics.isEmpty || random.next(below: 4) == 0 ? nil : topics[random.next(below: topics.count)]
        case 3:
            let attachment = try context.findOrInsert(
                Attachment.self, where: \.key, equals: "a\(random.next(below: 6))")
            letter.attachments = letter.attachments.filter { $0 !== attachment } + [attachment]
        case 4: letter.attachments = letter.attachments.reversed()
        default: letter.subject = "\(random.next(below: 10))"
        }
    }
}

extension ManagedObject {
    /// What a cell shows of a letter or a topic: values, and what the object leads to.
    var replayCell: String {
        switch self {
        case let letter as Letter:
            "\(letter.key) \(letter.subject) \(letter.topic?.key ?? "-") \(letter.attachments.map(\.key))"
        case let topic as Topic: "\(topic.key) \(topic.title) \(topic.letters.count)"
        default: ""
        }
    }
}
