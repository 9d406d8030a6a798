import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Many tasks that save and delete in two data sources, of which the deletions of one reach what the other owns.
@MainActor @Suite struct SharedCascadeTests {
    /// How many calls each task makes; `COREDATASOURCE_CASCADES=200` for a long run.
    nonisolated private static let calls =
        Int(ProcessInfo.processInfo.environment["COREDATASOURCE_CASCADES"] ?? "") ?? 12

    @Test(arguments: [16, 64]) func noCascadeOfManyTasksLeavesAnythingStale(tasks: Int) async throws {
        let seed = testSeed()
        try await withTopicsAndLetters { container, topics, letters in
            let kept = KeptObjects()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        var random = SeededRandom(seed: seed &+ UInt64(task))
                        for _ in 0..<SharedCascadeTests.calls {
                            try await SharedCascadeTests.call(container, topics, letters, &random)
                        }
                    }
                }
                group.addTask { try await kept.follow(container, rounds: SharedCascadeTests.calls) }
                try await group.waitForAll()
            }
            try await container.flush()
            try await SharedCascadeTests.check(container, topics, letters, "seed \(seed)")
            kept.check(container, "seed \(seed)")
        }
    }

    @concurrent
    nonisolated private static func call(
        _ container: PersistentContainer, _ topics: TopicDataSource, _ letters: LetterDataSource,
        _ random: inout SeededRandom
    ) async throws {
        let (topic, letter) = ("\(Int.random(in: 0..<4, using: &random))", "\(Int.random(in: 0..<24, using: &random))")
        let level: SaveLevel = Bool.random(using: &random) ? .main : .store
        switch Int.random(in: 0..<8, using: &random) {
        case 0: try await topics.add(topic, waitFor: level)
        case 1: try await topics.delete(topic, waitFor: level)
        case 2, 3:
            try await container.perform(in: topics, letters) { topics, letters in
                let found = try letters.letter(letter)
                found.topic = try topics.topic(topic)
                found.attachments = try ["1", "2"].map { try letters.attachment("\(letter) \($0)") }
            }
        case 4, 5:
            try await letters.perform(waitFor: level) { context in
                let found = try context.letter(letter)
                found.topic = try context.first(Topic.self, where: \.key, equals: topic)
                for other in found.topic.map({ Array($0.letters) }) ?? [] { #expect(other.topic === found.topic) }
            }
        case 6: try await letters.delete(letter, waitFor: level)
        default:
            try await container.read { context in
                for letter in try context.fetch(Letter.self) {
                    #expect(letter.topic.map { $0.letters.contains(letter) } ?? true)
                }
            }
        }
    }

    /// Every place shows the rows of the store, and no link of them leads to a row that is gone.
    private static func check(
        _ container: PersistentContainer, _ topics: TopicDataSource, _ letters: LetterDataSource,
        _ label: Testing.Comment
    ) async throws {
        #expect(try container.lostLinks() == [], label)
        let wanted = try await container.read { try Shown($0) }
        #expect(try Shown(container.main) == wanted, label)
        #expect(try await topics.perform { try Shown($0) } == wanted, label)
        #expect(try await letters.perform { try Shown($0) } == wanted, label)
        let attached = try container.main.fetch(Attachment.self)
        #expect(attached.allSatisfy { $0.letter != nil || wanted.letters[$0.key] == nil }, label)
    }
}

/// What a context shows of topics and letters, from both sides.
private struct Shown: Equatable, Sendable {
    var letters: [String: String] = [:]
    var topics: [String: [String]] = [:]

    init(_ context: ManagedObjectContext) throws {
        for letter in try context.fetch(Letter.self) { letters[letter.key] = letter.topic?.key ?? "none" }
        for topic in try context.fetch(Topic.self) { topics[topic.key] = topic.letters.map(\.key).sorted() }
    }
}

/// Objects of main that are held while others delete them.
@MainActor private final class KeptObjects {
    private var letters: [Letter] = []
    private var topics: [Topic] = []

    func follow(_ container: PersistentContainer, rounds: Int) async throws {
        for _ in 0..<rounds * 4 {
            letters += try container.main.fetch(Letter.self).prefix(3)
            topics += try container.main.fetch(Topic.self).prefix(3)
            check(container, "while others save")
            await Task.yield()
        }
    }

    func check(_ container: PersistentContainer, _ label: Testing.Comment) {
        for letter in letters where !letter.isDeleted { #expect(isRight(letter), label) }
        for topic in topics where !topic.isDeleted { #expect(isRight(topic), label) }
    }

    /// Reading a relationship may bring main up to a newer save; then it is asked again.
    private func isRight(_ letter: Letter) -> Bool {
        while let topic = letter.topic {
            let isThere = topic.letters.contains(letter)
            if letter.isDeleted { break }
            if letter.topic === topic { return isThere && !topic.isDeleted }
        }
        return true
    }

    private func isRight(_ topic: Topic) -> Bool {
        while true {
            let found = Array(topic.letters)
            if topic.isDeleted { return true }
            if topic.letters.ids != found.map(\.objectID) { continue }
            return found.allSatisfy { !$0.isDeleted && $0.topic === topic }
        }
    }
}
