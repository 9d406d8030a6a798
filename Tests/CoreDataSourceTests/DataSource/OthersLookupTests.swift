import CoreDataSource
import ErrorExpectations
import SQLiteStore
import TestSupport
import Testing

#if PostgreSQL
import PostgreSQLStore
#endif

/// Letters by key, each with the key of its topic, which another data source owns.
private final class FiledLetters: DataSource<(key: String, topic: String)> {
    override class var entities: [ManagedObject.Type] { [Letter.self, Attachment.self] }

    override func prepare(_ letters: [(key: String, topic: String)], in context: PrivateContext) throws {
        try context.preload(Letter.self, where: \.key, in: letters.map(\.key))
        try context.preload(Topic.self, where: \.key, in: letters.map(\.topic))
    }

    override func onAdd(_ value: (key: String, topic: String), in context: PrivateContext) throws -> ManagedObject? {
        let letter = try context.findOrInsert(Letter.self, where: \.key, equals: value.key)
        letter.topic = try context.first(Topic.self, where: \.key, equals: value.topic)
        return letter
    }
}

/// Topics, each with its old and its new key.
private final class RenamedTopics: DataSource<(old: String, new: String)> {
    override class var entities: [ManagedObject.Type] { [Topic.self] }

    override func onAdd(_ keys: (old: String, new: String), in context: PrivateContext) throws -> ManagedObject? {
        let topic = try context.topic(keys.old)
        topic.key = keys.new
        return topic
    }
}

/// A letter whose hook runs the closure after the preload, and before it looks at the topic.
private struct CopyingLetter: Sendable {
    let key: String
    let topic: String
    var pause: @Sendable () -> Void = {}
}

/// Letters that copy what they see of their topic.
private final class CopyingLetters: DataSource<CopyingLetter> {
    override class var entities: [ManagedObject.Type] { [Letter.self, Attachment.self] }

    override func prepare(_ letters: [CopyingLetter], in context: PrivateContext) throws {
        try context.preload(Topic.self, where: \.key, in: letters.map(\.topic))
    }

    override func onAdd(_ value: CopyingLetter, in context: PrivateContext) throws -> ManagedObject? {
        value.pause()
        let letter = try context.findOrInsert(Letter.self, where: \.key, equals: value.key)
        letter.topic = try context.first(Topic.self, where: \.key, equals: value.topic)
        letter.subject = letter.topic?.key ?? "none"
        return letter
    }
}

/// Look-ups of objects that another data source owns.
@MainActor
struct OthersLookupTests {
    private func topics(_ count: Int, _ topics: TopicDataSource) async throws {
        try await topics.add((0..<count).map { "topic-\($0)" })
    }

    /// Calls the body in a batch of letters, and returns the number of statements that it made the store run.
    private func statements(
        _ container: PersistentContainer, _ letters: LetterDataSource,
        _ body: @escaping @Sendable (PrivateContext) throws -> Void
    ) async throws -> Int {
        let counters = try #require(container.stack.root.store as? SQLiteStore).counters
        return try await letters.perform { context in
            let before = counters.statementsRun
            try body(context)
            return counters.statementsRun - before
        }
    }

    @Test func eachValueIsReadOnceInABatch() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(6, topics)
            let count = try await statements(container, letters) { context in
                for number in 0..<1000 {
                    let topic = try context.first(Topic.self, where: \.key, equals: "topic-\(number % 8)")
                    #expect((topic?.key == "topic-\(number % 8)") == (number % 8 < 6))
                }
            }
            #expect(count == 8)
        }
    }

    @Test func valuesThatWerePreloadedAreNotRead() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(1500, topics)
            let count = try await statements(container, letters) { context in
                try context.preload(Topic.self, where: \.key, in: (0..<2000).map { "topic-\($0)" })
                for number in 0..<2000 {
                    let topic = try context.first(Topic.self, where: \.key, equals: "topic-\(number)")
                    #expect((topic != nil) == (number < 1500))
                }
            }
            #expect(count == 2)
        }
    }

    /// More values than a limit of the look-ups could be, which a list of any length may have.
    @Test func anyNumberOfPreloadedValuesIsKept() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(1, topics)
            let count = try await statements(container, letters) { context in
                try context.preload(Topic.self, where: \.key, in: (0..<70_000).map { "topic-\($0)" })
                for number in 0..<70_000 {
                    let topic = try context.first(Topic.self, where: \.key, equals: "topic-\(number)")
                    if (topic != nil) != (number == 0) { throw Poison() }
                }
            }
            #expect(count == 70)
            #expect(letters.diagnostics.isEmpty)
        }
    }

    /// A cascade reaches rows that no data source owns, and a rollback brings them back.
    @Test func aRollbackForgetsWhatADeletionHasMadeOfALookUp() async throws {
        let directory = try TemporaryDirectory()
        let first = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        try await first.dataSource(GraphDataSource.self).perform { context in
            try context.letter("l").topic = try context.topic("t")
        }
        try await first.close()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let topics = try container.dataSource(TopicDataSource.self)
        try await topics.perform { context in
            let topic = try #require(try context.first(Topic.self, where: \.key, equals: "t"))
            context.delete(topic)
            #expect(try context.first(Letter.self, where: \.key, equals: "l") == nil)
            context.rollback()
            #expect(try context.first(Letter.self, where: \.key, equals: "l") != nil)
        }
        try await container.close()
    }

    @Test func anObjectThatTheBatchHasReadIsFoundByItsID() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(3, topics)
            let ids = try container.main.fetch(Topic.self).map(\.objectID)
            let count = try await statements(container, letters) { context in
                try context.preload(Topic.self, where: \.key, in: (0..<3).map { "topic-\($0)" })
                for id in ids + ids { #expect(try context.object(Topic.self, id: id)?.objectID == id) }
            }
            #expect(count == 1)
        }
    }

    /// A batch sees changes that were saved before it began.
    @Test func theNextBatchReadsAgain() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            for round in 0..<3 {
                let found = try await letters.perform { context in
                    try context.preload(Topic.self, where: \.key, in: (0..<3).map { "topic-\($0)" })
                    return try (0..<3).map { try context.first(Topic.self, where: \.key, equals: "topic-\($0)") != nil }
                }
                #expect(found == (0..<3).map { $0 < round })
                try await topics.add("topic-\(round)")
            }
        }
    }

    @Test func aSubEntityIsFoundByAnAttributeOfItsParent() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let animals = try container.dataSource(PlainDataSource<Animal>.self)
        let letters = try container.dataSource(LetterDataSource.self)
        try await animals.perform { context in
            for number in 0..<10 { _ = number % 2 == 0 ? try context.cat("\(number)") : try context.dog("\(number)") }
        }
        try await letters.perform { context in
            try context.preload(Animal.self, where: \.key, in: (0..<12).map { "\($0)" })
            for number in 0..<12 {
                let animal = try context.first(Animal.self, where: \.key, equals: "\(number)")
                #expect(animal is Cat == (number < 10 && number % 2 == 0))
                #expect(animal is Dog == (number < 10 && number % 2 == 1))
            }
        }
        try await container.close()
    }

    /// Of a value that many rows have, the first row is found, whatever the limit of the read has left out.
    @Test(arguments: [1, 5, 400])
    func theFirstOfManyIsFound(copies: Int) async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let people = try container.dataSource(PlainDataSource<Person, Passport>.self)
        let letters = try container.dataSource(LetterDataSource.self)
        try await people.perform { context in
            for copy in 0..<copies {
                for number in 0..<20 { try context.person("\(number)-\(copy)").name = "name \(number)" }
            }
        }
        try await letters.perform { context in
            try context.preload(Person.self, where: \.name, in: (0..<24).map { "name \($0)" })
            for number in 0..<24 {
                let person = try context.first(Person.self, where: \.name, equals: "name \(number)")
                #expect(person?.key == (number < 20 ? "\(number)-0" : nil))
            }
        }
        try await container.close()
    }

    @Test func anObjectWhoseValueChangedMeanwhileIsLookedUpAgain() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let topics = try container.dataSource(RenamedTopics.self)
        let letters = try container.dataSource(LetterDataSource.self)
        try await topics.add([("topic-0", "topic-0"), ("topic-1", "topic-1")])
        let (hasRead, isChanged) = (Gate(), Gate())
        let reading = Task {
            try await letters.perform { context in
                defer { hasRead.open() }
                try context.preload(Topic.self, where: \.key, in: ["topic-0", "topic-1"])
                hasRead.open()
                isChanged.wait()
                // The batch still has what it read.
                #expect(try context.first(Topic.self, where: \.key, equals: "topic-0") != nil)
                // A fetch brings the newer row.
                #expect(try Set(context.fetch(Topic.self).map(\.key)) == ["moved", "topic-1"])
                #expect(try context.first(Topic.self, where: \.key, equals: "topic-0") == nil)
            }
        }
        await hasRead.opened()
        // A batch that only adds does not wait for the batches of other data sources.
        try await topics.add(("topic-0", "moved"))
        isChanged.open()
        try await reading.value
        try await container.close()
    }

    /// The batch keeps the values that it has read, its link is saved, and its save leaves the new value alone.
    @Test(arguments: SharedPlace.Kind.all)
    func aValueThatAnotherProcessChangesIsReadByTheNextBatch(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(model: .graph) { one, other in
            try await one.dataSource(TopicDataSource.self).add(["t", "u"])
            let letters = try one.dataSource(CopyingLetters.self)
            let topics = try other.dataSource(RenamedTopics.self)
            @MainActor func described(_ container: PersistentContainer) async throws -> [String] {
                try await container.read { context in
                    try context.fetch(Letter.self, order: [.ascending(\.key)]).map {
                        "\($0.key): \($0.subject), \($0.topic?.key ?? "none")"
                    }
                }
            }
            try await hold { pause in
                try await letters.add([
                    CopyingLetter(key: "1", topic: "t", pause: pause), CopyingLetter(key: "2", topic: "u"),
                ])
            } meanwhile: {
                try await topics.add(("t", "moved"))
                let keys = try await other.read { try $0.fetch(Topic.self, order: [.ascending(\.key)]).map(\.key) }
                #expect(keys == ["moved", "u"])
            }
            for container in [one, other] { #expect(try await described(container) == ["1: t, moved", "2: u, u"]) }
            try await letters.add([CopyingLetter(key: "3", topic: "t"), CopyingLetter(key: "4", topic: "moved")])
            for container in [one, other] {
                #expect(
                    try await described(container)
                        == ["1: t, moved", "2: u, u", "3: none, none", "4: moved, moved"])
            }
        }
    }

    @Test func anObjectOfAnotherDataSourceIsNotEdited() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(2, topics)
            await expectError(.entityNotOwned) {
                try await letters.perform { context in
                    try context.preload(Topic.self, where: \.key, in: ["topic-0", "topic-1"])
                    try context.first(Topic.self, where: \.key, equals: "topic-0")?.key = "x"
                }
            }
            #expect(try Set(container.main.fetch(Topic.self).map(\.key)) == ["topic-0", "topic-1"])
        }
    }

    /// The deletion waits for the batch, and then applies the delete rule to the new link.
    @Test func anObjectThatABatchHasLinkedIsDeletedAfterIt() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(2, topics)
            let deleting = try await hold { pause in
                try await letters.perform { context in
                    try context.preload(Topic.self, where: \.key, in: ["topic-0", "topic-1"])
                    try context.letter("l").topic = try context.first(Topic.self, where: \.key, equals: "topic-0")
                    pause()
                }
            } meanwhile: {
                let deleting = Task { _ = try await topics.delete("topic-0") }
                for _ in 0..<100 { await Task.yield() }
                let count = try container.main.count(Topic.self)
                #expect(count == 2)
                return deleting
            }
            try await deleting.value
            #expect(try container.main.fetch(Topic.self).map(\.key) == ["topic-1"])
            // The topic's letters are deleted with it.
            #expect(try container.main.count(Letter.self) == 0)
        }
    }

    @Test func aHookThatReadsOneByOneIsReported() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await self.topics(1100, topics)
            let filed = (0..<1100).map { (key: "\($0)", topic: "topic-\($0)") }
            try await letters.perform { context in
                for (_, topic) in filed[..<1000] { _ = try context.first(Topic.self, where: \.key, equals: topic) }
            }
            #expect(letters.diagnostics.isEmpty)
            try await letters.perform { context in
                for (_, topic) in filed { _ = try context.first(Topic.self, where: \.key, equals: topic) }
            }
            #expect(letters.diagnostics.map(\.attributeName) == ["key"])
            #expect(letters.diagnostics.first?.message.contains("each look-up is a query") == true)
        }
    }

    /// What an import of letters into six topics asks of the store, hooks and save.
    @Test func anImportAsksOnceForEachThousandValues() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let topics = try container.dataSource(TopicDataSource.self)
        let letters = try container.dataSource(FiledLetters.self)
        try await self.topics(6, topics)
        let counters = try #require(container.stack.root.store as? SQLiteStore).counters
        for round in 0..<2 {
            let filed = (0..<1000).map { (key: "\(round)-\($0)", topic: "topic-\($0 % 6)") }
            let before = counters.statementsRun
            try await letters.add(filed)
            // Each new row is a statement, too.
            #expect(counters.statementsRun - before - 1000 <= 5)
        }
        #expect(letters.diagnostics.isEmpty)
        try await container.close()
    }

    #if PostgreSQL
    /// Rows that are sent while hooks run take round trips of their own: two for each 1,000.
    @Test(
        .enabled(
            if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed; Scripts/prepare --postgresql installs it."))
    func anImportWaitsForTheServerAFewTimes() async throws {
        let place = try SharedPlace(.postgreSQL)
        let container = try place.open(model: .graph)
        let topics = try container.dataSource(TopicDataSource.self)
        let letters = try container.dataSource(FiledLetters.self)
        try await self.topics(6, topics)
        let counters = try #require(container.stack.root.store as? PostgreSQLStore).counters
        var before = counters.roundTrips
        try await letters.add(("first", "topic-0"))
        let one = counters.roundTrips - before
        before = counters.roundTrips
        try await letters.add((0..<5000).map { (key: "\($0)", topic: "topic-\($0 % 6)") })
        let many = counters.roundTrips - before
        #expect(many <= one + 4 * 5 + 4, "\(one) for one letter, \(many) for 5,000")
        #expect(letters.diagnostics.isEmpty)
        try await container.close()
    }
    #endif
}
