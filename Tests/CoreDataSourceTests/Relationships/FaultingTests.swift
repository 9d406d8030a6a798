import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// How many statements it takes to follow relationships.
@MainActor @Suite struct FaultingTests {
    private func withLetters(
        _ count: Int, topics: Int, _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        do {
            let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { context in
                let all = try (0..<topics).map { try context.topic("\($0)") }
                for number in 0..<count { try context.letter("\(number)").topic = all[number % topics] }
            }
            try await container.close()
        }
        let container = try await PersistentContainer(
            model: .graph, store: .sqlite(directory.store), configuration: .uncached)
        try await body(container, try container.dataSource(GraphDataSource.self))
        try await container.close()
    }

    private func statements(_ container: PersistentContainer, _ body: () throws -> Void) rethrows -> Int {
        let before = container.statementCount
        try body()
        return container.statementCount - before
    }

    @Test func relatedObjectsOfManyObjectsAreReadAtOnce() async throws {
        try await withLetters(1000, topics: 100) { container, _ in
            let counted = try statements(container) {
                let letters = try container.main.fetch(Letter.self)
                #expect(letters.count == 1000)
                for letter in letters.shuffled() {
                    #expect(letter.topic?.letters.count == 10)
                }
            }
            #expect(counted == 3)
        }
    }

    @Test func theOrderOfAskingDoesNotMatter() async throws {
        try await withLetters(300, topics: 30) { container, _ in
            let counted = try statements(container) {
                let topics = try container.main.fetch(Topic.self)
                for topic in topics.reversed() { #expect(topic.letters.count == 10) }
                for topic in topics.shuffled() {
                    for letter in topic.letters { #expect(letter.topic === topic) }
                }
            }
            #expect(counted == 3)
        }
    }

    @Test func countingRelatedObjectsReadsNoneOfThem() async throws {
        try await withLetters(300, topics: 3) { container, _ in
            let topics = try container.main.fetch(Topic.self)
            let before = container.main.registeredObjectCount
            let counted = statements(container) {
                for topic in topics { #expect(topic.letters.count == 100 && topic.letters.ids.count == 100) }
            }
            #expect(counted == 1 && container.main.registeredObjectCount == before)
        }
    }

    /// Animals are cats and dogs, which have tables of their own.
    @Test func eachSubEntityHasQueriesOfItsOwn() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { _, source in
            try await source.perform { context in
                for number in 0..<50 {
                    let person = try context.person("\(number)")
                    try context.cat("\(number)").keeper = person
                    try context.dog("dog \(number)").keeper = person
                }
            }
        }
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let people = try container.main.fetch(Person.self)
        let read = statements(container) { for person in people { #expect(person.animals.map(\.key).count == 2) } }
        // Two for the links and two for the objects.
        #expect(read == 4)
        try await container.close()
    }

    @Test func prefetchedObjectsAreNotReadLater() async throws {
        try await withLetters(1000, topics: 100) { container, _ in
            var letters: [Letter] = []
            let fetched = try statements(container) {
                var request = ObjectRequest(Letter.self)
                request.prefetch = [\.topic, \.labels]
                letters = try container.main.fetch(request)
            }
            #expect(fetched == 3)
            let followed = statements(container) {
                for letter in letters { #expect(letter.topic != nil && letter.labels.isEmpty) }
            }
            #expect(followed == 0)
            var wrong = ObjectRequest(Letter.self)
            wrong.prefetch = [\.subject]
            expectThrows(DataSourceError.self) { try container.main.fetch(wrong) }
        }
    }

    @Test func aBatchReadsAtOnceToo() async throws {
        try await withLetters(1000, topics: 100) { container, source in
            let before = container.statementCount
            try await source.perform { context in
                for letter in try context.fetch(Letter.self) { #expect(letter.topic != nil) }
            }
            #expect(container.statementCount - before <= 3)
        }
    }

    @Test func aLinkThatLeadsNowhereIsAskedForOnce() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            for number in 0..<200 {
                let cat = try context.insert(Cat.self)
                cat.key = "\(number)"
                cat.keeper = try context.person("\(number / 3)")
            }
        }
        try await source.delete(Person.self, where: nil)
        let cats = try container.main.fetch(Cat.self)
        let before = container.statementCount
        for cat in cats { #expect(cat.keeper == nil) }
        #expect(container.statementCount - before == 1)
        try await container.close()
    }

    @Test func manyOwnersOfManyAreReadInParts() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .graph, store: .sqlite(directory.store), configuration: .uncached)
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            for number in 0..<300 {
                let topic = try context.topic("\(number)")
                for letter in 0..<500 {
                    let object = try context.insert(Letter.self)
                    object.key = "\(number) \(letter)"
                    object.topic = topic
                }
            }
        }
        let topics = try container.main.fetch(Topic.self)
        let before = container.statementCount
        for topic in topics { #expect(topic.letters.count == 500) }
        #expect(container.statementCount - before < 20)
        try await container.close()
    }

    /// The way of a to-one relationship is by key, so that it costs the same however many saves wait for the store.
    @Test(arguments: [100, 10_000])
    func followingAToOneRelationshipLooksAtFewPendingRows(count: Int) async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: .uncached)
        let source = try container.dataSource(GraphDataSource.self)
        store.fail(with: noRoom)
        // In saves that are small enough to be looked up in one table.
        for start in stride(from: 0, to: count, by: 50) {
            try await source.perform(waitFor: .main) { context in
                for number in start..<start + 50 { try context.letter("\(number)").topic = context.topic("\(number)") }
            }
        }
        let letter = try #require(try container.main.first(Letter.self, where: \.key, equals: "7"))
        let before = container.stack.root.examinedPendingRows
        #expect(letter.topic?.key == "7")
        #expect(container.stack.root.examinedPendingRows - before <= 10)
        store.fail(with: nil)
        try await container.close()
    }

    @Test func relationshipsReadOneByOneAreNamed() async throws {
        try await withLetters(20, topics: 20) { container, _ in
            var request = ObjectRequest(Letter.self)
            #expect(try container.main.explain(request).readOneByOne == [:])
            for number in 0..<7 {
                let letter = try container.main.first(Letter.self, where: \.key, equals: "\(number)")
                #expect(letter?.topic?.key == "\(number)" && letter?.labels.isEmpty == true)
            }
            let alone = try container.main.explain(request)
            #expect(alone.readOneByOne == ["topic": 7, "labels": 7] && alone.prefetched.isEmpty)
            #expect(alone.warnings.contains { $0.contains("Letter.topic") && $0.contains("7 times") })
            request.prefetch = [\.topic]
            let ahead = try container.main.explain(request)
            #expect(ahead.prefetched == ["topic"] && ahead.readOneByOne == ["labels": 7])
            // Together it is one query.
            for letter in try container.main.fetch(Letter.self) { _ = letter.author }
            #expect(try container.main.explain(request).readOneByOne == ["labels": 7])
        }
    }

    // MARK: What is not stored yet

    /// Gives the body a container of which nothing has come to the store: so many letters, each of its own topic and with a
    /// label of its own.
    private func withPendingLetters(
        _ count: Int, atOnce: Int,
        _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: .uncached)
        let source = try container.dataSource(GraphDataSource.self)
        store.fail(with: noRoom)
        for start in stride(from: 0, to: count, by: atOnce) {
            try await source.perform(waitFor: .main) { context in
                for number in start..<start + atOnce {
                    let letter = try context.letter("\(number)")
                    letter.topic = try context.topic("\(number)")
                    letter.labels.insert(try context.label("\(number)"))
                }
            }
        }
        try await body(container, source)
        store.fail(with: nil)
        try await container.close()
    }

    /// Each reading of the letters of a topic went through everything that was pending.
    @Test(arguments: [(100, 50), (10_000, 50), (6_000, 2_000)])
    func followingAToManyRelationshipLooksAtFewPendingRows(count: Int, atOnce: Int) async throws {
        try await withPendingLetters(count, atOnce: atOnce) { container, source in
            let topic = try #require(try container.main.first(Topic.self, where: \.key, equals: "7"))
            let label = try #require(try container.main.first(Label.self, where: \.key, equals: "7"))
            let before = container.stack.root.examinedPendingRows
            #expect(topic.letters.map(\.key) == ["7"])
            #expect(label.letters.map { $0.topic?.key } == ["7"])
            #expect(container.stack.root.examinedPendingRows - before <= 40)
        }
    }

    @Test(arguments: [(100, 50), (10_000, 50), (6_000, 2_000)])
    func aCascadeLooksAtFewPendingRows(count: Int, atOnce: Int) async throws {
        try await withPendingLetters(count, atOnce: atOnce) { container, source in
            let before = container.stack.root.examinedPendingRows
            try await source.perform(waitFor: .main) { context in
                guard let topic = try context.first(Topic.self, where: \.key, equals: "7") else { return }
                context.delete(topic)
            }
            #expect(container.stack.root.examinedPendingRows - before <= 100)
            #expect(try container.main.first(Letter.self, where: \.key, equals: "7") == nil)
            #expect(try container.main.first(Label.self, where: \.key, equals: "7")?.letters.isEmpty == true)
        }
    }

    /// The edits of a batch are looked at all together once or twice, and then by what they lead to: those of rows that have
    /// no owner too.
    @Test func followingALinkTestsFewEditsOfALargeBatch() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let labels = try container.dataSource(LabelDataSource.self)
        let letters = try container.dataSource(LetterDataSource.self)
        try await container.perform(in: labels, letters) { labels, letters in
            for number in 0..<2_000 {
                try labels.label("\(number)").letters = [letters.letter("\(number)")]
                try letters.letter("\(number)").attachments = [letters.attachment("\(number)")]
            }
            let before = labels.rowsTested + letters.rowsTested
            for number in 0..<100 {
                #expect(try labels.label("\(number)").letters.map(\.key) == ["\(number)"])
                #expect(try letters.letter("\(number)").attachments.map(\.key) == ["\(number)"])
            }
            #expect(labels.rowsTested + letters.rowsTested - before <= 10_000)
        }
        try await container.close()
    }
}
