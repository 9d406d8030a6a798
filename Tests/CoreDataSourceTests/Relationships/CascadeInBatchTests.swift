import CoreDataSource
import ErrorExpectations
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// What a cascade reaches is not found by the next query of the same batch.
@MainActor struct CascadeInBatchTests {
    /// A topic with letters, each with attachments.
    nonisolated private static func prepare(_ context: PrivateContext, topics: Int = 1) throws {
        for number in 0..<topics {
            let topic = try context.topic("t\(number)")
            for place in 0..<3 {
                let letter = try context.letter("\(number)-\(place)")
                letter.topic = topic
                letter.attachments = [try context.attachment("\(number)-\(place)a")]
            }
        }
    }

    @Test(arguments: [true, false]) func noQueryFindsObjectsThatACascadeReaches(isSaved: Bool) async throws {
        for location in [nil, StoreLocation.inMemory] {
            try await withGraph(location) { container, source in
                if isSaved {
                    try await source.perform { try Self.prepare($0) }
                    await source.tier.forgetObjects()
                }
                try await source.perform { context in
                    if !isSaved { try Self.prepare(context) }
                    let letter = try context.knownLetter("0-0")
                    context.delete(try context.knownTopic("t0"))
                    // It shows its links until something is asked, as before.
                    #expect(!letter.isDeleted)
                    #expect(try context.count(Letter.self) == 0)
                    #expect(letter.isDeleted)
                    #expect(try context.fetch(Attachment.self).isEmpty)
                    #expect(try context.first(Letter.self, where: \.key, equals: "0-1") == nil)
                    #expect(try context.exists(Letter.self, where: \.key == "0-2") == false)
                    #expect(try context.object(Letter.self, id: letter.objectID) == nil)
                    // A new one can have its key.
                    try context.letter("0-1").subject = "new"
                }
                #expect(try container.main.fetch(Letter.self).map(\.subject) == ["new"])
                #expect(try container.main.count(Attachment.self) == 0)
            }
        }
    }

    @Test(arguments: ["before the owner is deleted", "before the next query", "after the next query"])
    func anObjectMovedBeforeTheCascadeStays(moment: String) async throws {
        try await withGraph { container, source in
            try await source.perform { try Self.prepare($0, topics: 2) }
            let isLate = moment == "after the next query"
            let isDeleted = try await source.perform { context in
                let (letter, topic) = (try context.knownLetter("0-0"), try context.knownTopic("t0"))
                let other = try context.knownTopic("t1")
                if moment == "before the owner is deleted" { letter.topic = other }
                context.delete(topic)
                if moment == "before the next query" { letter.topic = other }
                #expect(try context.count(Letter.self) == (isLate ? 3 : 4))
                return letter.isDeleted
            }
            #expect(isDeleted == isLate)
            let letters = try container.main.knownTopic("t1").letters.map(\.key)
            #expect(Set(letters) == Set(["1-0", "1-1", "1-2"] + (isLate ? [] : ["0-0"])))
        }
    }

    @Test func allOtherRulesWaitForTheSave() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let (letter, label) = (try context.letter("a"), try context.label("l"))
                letter.labels.insert(label)
                letter.topic = try context.topic("t")
            }
            try await source.perform { context in
                context.delete(try context.knownTopic("t"))
                #expect(try context.count(Letter.self) == 0)
                context.delete(try context.label("l"))
                #expect(try context.count(Label.self) == 0)
            }
            #expect(try container.main.count(Letter.self) == 0)
            for table in container.stack.layout.entities where table.links != nil {
                #expect(try container.stack.root.rows.rows(RowQuery(entity: table.index), table).rows.isEmpty)
            }
        }
    }

    @Test func aBatchOfTwoDataSourcesCascadesToBoth() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            try await container.perform(in: topics, letters) { first, second in
                first.delete(try first.knownTopic("t"))
                #expect(try second.count(Letter.self) == 0)
            }
            #expect(try container.main.count(Letter.self) == 0)
        }
    }

    /// A rollback undoes what a cascade has done in contexts that the work cannot reach.
    @Test func aRollbackUndoesCascadesIntoOtherDataSources() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            try await topics.perform { context in
                context.delete(try context.knownTopic("t"))
                #expect(try context.count(Topic.self) == 0)
                context.rollback()
                try context.knownTopic("t").title = "kept"
            }
            #expect(try container.main.fetch(Letter.self).map { $0.topic?.title } == ["kept"])
        }
    }

    /// The work goes on after a query that could not apply all of the cascade.
    @Test(arguments: 0..<6) func aCascadeThatFailedIsFinishedByTheSave(reads: Int) async throws {
        let directory = try TemporaryDirectory()
        let base = try SQLiteStore.open(
            SQLiteStore.Options(
                url: directory.store, layout: ModelLayout(.graph),
                identity: StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1"),
                synchronous: .normal, resetPolicy: .fail))
        let store = FaultyStore(over: base)
        let container = PersistentContainer(ModelLayout(.graph), store, startup: base.startup, configuration: .init())
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { try Self.prepare($0) }
        await source.tier.forgetObjects()
        try await source.perform { context in
            context.delete(try context.knownTopic("t0"))
            store.failReads(with: DataSourceError(.storeUnreadable, "Broken."), after: reads)
            _ = try? context.count(Label.self)
            store.failReads(with: nil)
        }
        #expect(try container.main.count(Letter.self) + container.main.count(Attachment.self) == 0)
        try await container.close()
    }

    @Test func aBatchThatFailsLeavesWhatItsCascadeReached() async throws {
        try await withGraph { container, source in
            try await source.perform { try Self.prepare($0) }
            await expectThrows(Poison.self) {
                try await source.perform { context in
                    context.delete(try context.knownTopic("t0"))
                    #expect(try context.count(Letter.self) == 0)
                    throw Poison()
                }
            }
            #expect(try container.main.count(Letter.self) == 3)
            #expect(try await source.perform { try $0.count(Letter.self) } == 3)
        }
    }

    /// Each deletion is followed once, however many queries come after it.
    @Test(arguments: [10, 100, 1000]) func aCascadeFollowsEachDeletionOnce(count: Int) async throws {
        try await withGraph { container, source in
            try await source.perform { try Self.prepare($0, topics: count) }
            let statements = try await source.perform { context in
                let topics = try context.fetch(Topic.self)
                _ = try (context.fetch(Letter.self), context.fetch(Attachment.self))
                for topic in topics { context.delete(topic) }
                #expect(try context.count(Letter.self) == 0)
                let before = container.statementCount
                for _ in 0..<count {
                    let exists = try context.exists(Letter.self)
                    #expect(!exists)
                }
                return container.statementCount - before
            }
            #expect(statements <= count, "\(statements)")
        }
    }
}
