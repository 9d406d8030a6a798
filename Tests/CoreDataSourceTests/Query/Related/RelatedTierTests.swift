import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Queries along relationships answer in every tier and every store what the objects themselves say.
///
/// `COREDATASOURCE_RELATED_QUERIES` says how many random requests are tried, and `COREDATASOURCE_SEED` repeats a run.
@MainActor
struct RelatedTierTests {
    private nonisolated static let environment = ProcessInfo.processInfo.environment
    private nonisolated static let count =
        environment["COREDATASOURCE_RELATED_QUERIES"].flatMap { Int($0) } ?? 600
    private nonisolated static let seed = testSeed()

    @Test(arguments: StorePlace.all) func everyTierFindsTheSameAsACheckOfEachObject(place: StorePlace) async throws {
        var random = SeededRandom(seed: Self.seed &+ (place == .memory ? 1 : 0))
        var asked = 0
        while asked < Self.count / 2 {
            let directory = try TemporaryDirectory()
            let container = try await place.open(directory.store, .mail)
            let mail = try container.dataSource(MailDataSource.self)
            for round in 0..<4 {
                let seed = UInt64.random(in: 0...UInt64.max, using: &random)
                try await mail.perform(waitFor: round % 2 == 0 ? .store : .main) { context in
                    var editor = MailEditor(random: SeededRandom(seed: seed))
                    try editor.edit(context, count: round == 0 ? 80 : 12)
                    try Self.ask(context, seed, 10, "in the batch")
                }
                try Self.ask(mail.main, seed &+ 1, 10, "on main")
                try await container.read { try Self.ask($0, seed &+ 2, 10, "in a snapshot") }
                try await mail.perform { try Self.ask($0, seed &+ 3, 10, "in a batch without edits") }
                try await askInDraft(mail, seed)
                asked += 60
            }
            try await container.close()
        }
    }

    private func askInDraft(_ mail: MailDataSource, _ seed: UInt64) async throws {
        let draft = try mail.draft(inserting: MailTag.self)
        var editor = MailEditor(random: SeededRandom(seed: seed &+ 4))
        try editor.edit(draft.context, count: 12)
        try Self.ask(draft.context, seed &+ 5, 10, "in a draft")
        try await mail.perform { context in
            var editor = MailEditor(random: SeededRandom(seed: seed &+ 6))
            try editor.edit(context, count: 12)
        }
        for _ in 0..<3 where draft.canUndo { draft.undo() }
        try Self.ask(draft.context, seed &+ 7, 10, "in a draft beside which others have saved")
        draft.discard()
    }

    /// The draft and another save each gave the person a card. Until they are merged, two cards lead to one person.
    @Test(arguments: [1, 2] as [Int64])
    func aDraftAsksForTheCardThatThePersonHasThere(drafted: Int64) async throws {
        let directory = try TemporaryDirectory()
        let container = try await StorePlace.sqlite.open(directory.store, .mail)
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { context in
            for code in [1, 2] as [Int64] { try context.insert(MailCard.self).code = code }
            try context.insert(MailPerson.self).name = "Guan Yu"
        }
        let draft = try mail.draft(of: try #require(try mail.fetch(MailPerson.self).first))
        draft.object.card = try draft.context.first(MailCard.self, where: \.code, equals: drafted)
        try await mail.perform { context in
            let other = try context.first(MailCard.self, where: \.code, equals: 3 - drafted)
            try context.fetch(MailPerson.self).first?.card = other
        }
        let code = try #require(draft.object.card?.code)
        for wanted in [1, 2] as [Int64] {
            let found = try draft.context.fetch(
                MailPerson.self, where: FetchPredicate(format: "card.code == %@", wanted))
            #expect(found.count == (wanted == code ? 1 : 0), "card \(wanted), and the person has \(code)")
        }
        draft.discard()
        try await container.close()
    }

    private nonisolated static func ask(
        _ context: ManagedObjectContext, _ seed: UInt64, _ count: Int, _ place: String
    ) throws {
        var questions = MailQuestions(random: SeededRandom(seed: seed))
        for _ in 0..<count {
            if Int.random(in: 0..<3, using: &questions.random) == 0 {
                try ask(MailPerson.self, "Person", context, &questions, place)
            } else {
                try ask(MailMessage.self, "Message", context, &questions, place)
            }
        }
    }

    private nonisolated static func ask<Object: ManagedObject>(
        _ type: Object.Type, _ kind: String, _ context: ManagedObjectContext, _ questions: inout MailQuestions,
        _ place: String
    ) throws {
        let predicate = questions.predicate(kind, 2)
        var request = ObjectRequest(type, where: FetchPredicate<Object>(predicate.node))
        let sort = (0..<Int.random(in: 0..<3, using: &questions.random)).map { _ in questions.value(kind, 2) }
        let directions = sort.map { _ in Bool.random(using: &questions.random) }
        request.order = zip(sort, directions).map {
            FetchOrder($0.path.joined(separator: "."), isAscending: $1)
        }
        let all = try context.fetch(type).filter(predicate.test).map { object in
            (object: object, values: sort.map { $0.value(object) })
        }.sorted { lhs, rhs in
            for (index, value) in sort.enumerated() {
                let order = ordered(lhs.values[index], rhs.values[index], value.kind)
                if order != 0 { return (order < 0) == directions[index] }
            }
            return lhs.object.objectID.key < rhs.object.objectID.key
        }.map(\.object.objectID)
        let found = try context.fetch(request).map(\.objectID)
        let format = FetchPredicate<Object>(predicate.node).predicateFormat
        #expect(found == all, "\(place), \(type), \(format), \(request.order), seed \(seed)")
        #expect(try context.count(request) == all.count, "\(place), \(type), \(format), seed \(seed)")
        request.offset = Int.random(in: 0..<3, using: &questions.random)
        request.limit = Int.random(in: 0..<6, using: &questions.random)
        let page = try context.ids(request)
        let expected = Array(all.dropFirst(request.offset).prefix(request.limit ?? 0))
        #expect(page == expected, "\(place), \(type), \(format), \(request.order), seed \(seed)")
        if let request = request as? ObjectRequest<MailMessage> {
            let (groups, plain) = (try context.linkGroups(request), try context.plainLinkGroups(request))
            #expect(groups == plain, "\(place), \(format), \(request.order), seed \(seed)")
        }
        // What a format says is read as the same.
        let read = try FetchPredicate<Object>(format: format)
        #expect(try context.count(type, where: read) == all.count, "\(place), \(type), \(format), seed \(seed)")
    }

    private nonisolated static func ordered(_ lhs: RowValue, _ rhs: RowValue, _ kind: ValueKind) -> Int {
        if lhs == .null || rhs == .null { return lhs == rhs ? 0 : lhs == .null ? -1 : 1 }
        let order: ValueOrder = kind == .decimal ? .decimal : .natural
        return order.compare(lhs, rhs) ?? 0
    }
}
