import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Random operations on a graph of every shape of relationship, compared with dictionaries after each save: on main, in the
/// batch, in a read, and after a restart.
@MainActor @Suite struct RandomGraphTests {
    /// How many sequences of operations; `COREDATASOURCE_GRAPHS=10000` for a long run.
    nonisolated static let rounds =
        Int(ProcessInfo.processInfo.environment["COREDATASOURCE_GRAPHS"] ?? "") ?? 12

    @Test(arguments: 0..<4) func everyGraphIsWhatTheReferenceIs(part: UInt64) async throws {
        for round in 0..<max(1, RandomGraphTests.rounds / 4) {
            let seed = testSeed() &+ part &* 1_000_003 &+ UInt64(round)
            try await run(seed: seed, isStored: round % 4 == 0, configuration: round % 3 == 0 ? .uncached : .init())
        }
    }

    private func run(
        seed: UInt64, isStored: Bool, configuration: PersistentContainer.Configuration
    ) async throws {
        var random = SeededRandom(seed: seed)
        let directory = try TemporaryDirectory()
        let location: StoreLocation = isStored ? .sqlite(directory.store) : .inMemory
        func open() async throws -> PersistentContainer {
            try await PersistentContainer(model: .graph, store: location, configuration: configuration)
        }
        var container = try await open()
        var expected = GraphReference()
        for step in 0..<30 {
            let label: Testing.Comment = "seed \(seed), step \(step)"
            let source = try container.dataSource(GraphDataSource.self)
            let drawn = (0..<Int.random(in: 1...8, using: &random)).map { _ in GraphOperation(&random) }
            let isPoisoned = Int.random(in: 0..<8, using: &random) == 0
            var next = expected
            var deleted: [(kind: String, key: String)] = []
            let operations = drawn.filter { $0.apply(to: &next, &deleted) }
            let refusal = next.delete(deleted)
            do {
                try await source.perform { context in
                    for operation in operations { try operation.apply(to: context) }
                    if isPoisoned { throw Poison() }
                }
                #expect(refusal == nil && !isPoisoned, label)
                expected = next
            } catch is Poison {
                #expect(isPoisoned, label)
            } catch let error as DataSourceError {
                #expect(error.code == (refusal == .denied ? .deletionDenied : .validationFailed), label)
                #expect(refusal != nil, "\(label): \(error)")
            }
            if isStored, Int.random(in: 0..<10, using: &random) == 0 {
                try await container.close()
                container = try await open()
            }
            guard try await container.isEqual(to: expected, "\(label), after \(operations)") else { break }
        }
        try await container.close()
    }
}

/// One edit of a graph, of the reference and of a context alike. What it names is made where it is missing.
struct GraphOperation: Sendable {
    private let kind: Int
    private let keys: [String]
    private let flag: Bool

    init(_ random: inout SeededRandom) {
        kind = Int.random(in: 0..<20, using: &random)
        keys = (0..<4).map { _ in "\(Int.random(in: 0..<5, using: &random))" }
        flag = Bool.random(using: &random)
    }

    /// - Returns: Whether it was applied: what was deleted in the same batch is not touched again.
    func apply(to graph: inout GraphReference, _ deleted: inout [(kind: String, key: String)]) -> Bool {
        let (one, other) = (keys[0], keys[1])
        func isDeleted(_ kind: String, _ key: String) -> Bool { deleted.contains { $0 == (kind, key) } }
        for (kind, key) in uses where isDeleted(kind, key) { return false }
        for (kind, key) in uses { graph.insert(kind, key) }
        switch kind {
        case 0: graph.topic[one] = flag ? other : nil
        case 1: if flag { graph.topic[one] = other } else if graph.topic[one] == other { graph.topic[one] = nil }
        case 2: graph.topic[one] = other
        case 3: graph.author[one] = flag ? other : nil
        case 4: graph.reader[one] = flag ? other : nil
        case 5: graph.hold(one, by: other)
        case 6: graph.keeper[one] = flag ? other : nil
        case 7: graph.parent[one] = flag ? other : nil
        case 8: graph.marry(one, flag && one != other ? other : nil)
        case 9: graph.befriend(one, other, flag)
        case 10: if flag { graph.filed[one, default: []].insert(other) } else { graph.filed[one]?.remove(other) }
        case 11, 12: graph.label(one, other, flag)
        case 13: graph.labelled[one] = distinct
        case 14: graph.attach(one, to: flag ? other : nil)
        case 15: graph.setAttachments(distinct, of: one)
        default: deleted.append((deletedKind, one))
        }
        return true
    }

    private var deletedKind: String {
        switch kind {
        case 16: flag ? "topic" : "letter"
        case 17: flag ? "person" : "label"
        case 18: flag ? "folder" : "attachment"
        default: flag ? "passport" : "cat"
        }
    }

    private var distinct: [String] {
        keys.dropFirst().reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The objects that the operation is about, made where they are missing.
    private var uses: [(kind: String, key: String)] {
        let (one, other) = (keys[0], keys[1])
        return switch kind {
        case 0, 1, 2: [("letter", one), ("topic", other)]
        case 3, 4: [("letter", one), ("person", other)]
        case 5: [("passport", one), ("person", other)]
        case 6: [("cat", one), ("person", other)]
        case 7: [("folder", one), ("folder", other)]
        case 8, 9: [("person", one), ("person", other)]
        case 10: [("folder", one), ("letter", other)]
        case 11, 12: [("letter", one), ("label", other)]
        case 13: [("label", one)] + distinct.map { ("letter", $0) }
        case 14: [("attachment", one), ("letter", other)]
        case 15: [("letter", one)] + distinct.map { ("attachment", $0) }
        default: []
        }
    }

    func apply(to context: PrivateContext) throws {
        let (one, other) = (keys[0], keys[1])
        switch kind {
        case 0: try context.letter(one).topic = context.topic(other, if: flag, context.letter(one))
        case 1:
            let (letter, topic) = (try context.letter(one), try context.topic(other))
            if flag { topic.letters.insert(letter) } else { topic.letters.remove(letter) }
        case 2: try context.topic(other).letters.insert(context.letter(one))
        case 3:
            let (letter, person) = (try context.letter(one), try context.person(other))
            letter.author = flag ? person : nil
        case 4:
            let (letter, person) = (try context.letter(one), try context.person(other))
            letter.readBy = flag ? person : nil
        case 5:
            let (passport, person) = (try context.passport(one), try context.person(other))
            if flag { passport.holder = person } else { person.passport = passport }
        case 6:
            let (cat, person) = (try context.cat(one), try context.person(other))
            if flag { person.animals.insert(cat) } else { cat.keeper = nil }
        case 7:
            let (folder, parent) = (try context.folder(one), try context.folder(other))
            folder.parent = flag ? parent : nil
        case 8:
            let (person, spouse) = (try context.person(one), try context.person(other))
            person.spouse = flag && one != other ? spouse : nil
        case 9:
            let (person, friend) = (try context.person(one), try context.person(other))
            if flag { person.friends.insert(friend) } else { person.friends.remove(friend) }
        case 10:
            let (folder, letter) = (try context.folder(one), try context.letter(other))
            if flag { folder.letters.insert(letter) } else { folder.letters.remove(letter) }
        case 11:
            let (letter, label) = (try context.letter(one), try context.label(other))
            if flag { letter.labels.insert(label) } else { letter.labels.remove(label) }
        case 12:
            let (letter, label) = (try context.letter(one), try context.label(other))
            if flag {
                if !label.letters.contains(where: { $0 === letter }) { label.letters.append(letter) }
            } else {
                label.letters.removeAll { $0 === letter }
            }
        case 13: try context.label(one).letters = distinct.map(context.letter)
        case 14:
            let (attachment, letter) = (try context.attachment(one), try context.letter(other))
            attachment.letter = flag ? letter : nil
        case 15: try context.letter(one).attachments = distinct.map(context.attachment)
        default: try context.delete(kind: deletedKind, one)
        }
    }
}

extension GraphReference {
    fileprivate mutating func insert(_ kind: String, _ key: String) {
        switch kind {
        case "topic": topics.insert(key)
        case "letter": letters.insert(key)
        case "person": persons.insert(key)
        case "label": labels.insert(key)
        case "folder": folders.insert(key)
        case "attachment": attachments.insert(key)
        case "cat": cats.insert(key)
        default: passports.insert(key)
        }
    }
}

extension PrivateContext {
    fileprivate func topic(_ key: String, if isWanted: Bool, _ letter: Letter) throws -> Topic? {
        let topic = try topic(key)
        return isWanted ? topic : nil
    }

    fileprivate func delete(kind: String, _ key: String) throws {
        switch kind {
        case "topic": try deleteFound(Topic.self, \.key, key)
        case "letter": try deleteFound(Letter.self, \.key, key)
        case "person": try deleteFound(Person.self, \.key, key)
        case "label": try deleteFound(Label.self, \.key, key)
        case "folder": try deleteFound(Folder.self, \.key, key)
        case "attachment": try deleteFound(Attachment.self, \.key, key)
        case "cat": try deleteFound(Cat.self, \.key, key)
        default: try deleteFound(Passport.self, \.key, key)
        }
    }

    private func deleteFound<Object: ManagedObject>(
        _ type: Object.Type, _ path: KeyPath<Object, String>, _ key: String
    ) throws {
        if let object = try first(type, where: path, equals: key) { delete(object) }
    }
}
