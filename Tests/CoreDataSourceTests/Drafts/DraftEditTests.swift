import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Edits that are refused, or cannot be finished, leave nothing; links to what is deleted read as none.
@MainActor @Suite struct DraftEditTests {
    /// Each read in turn is the one that fails.
    @Test func anEditOfLinksThatCannotBeReadLeavesNothing() async throws {
        var failed = 0
        while try await !isEdited(reads: failed) { failed += 1 }
        #expect(failed > 2)
    }

    /// - Returns: Whether the edit was made, with so many reads.
    private func isEdited(reads: Int) async throws -> Bool {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(over: InMemoryStore(layout))
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            for key in ["a", "b"] { _ = try context.letter(key) }
            try context.label("l").letters = [try context.letter("c")]
        }
        let draft = try source.draft(of: try #require(try container.main.first(Label.self)))
        let letters = try ["a", "b"].map { try draft.context.knownLetter($0) }
        store.failReads(with: noRoom, after: reads)
        draft.object.letters = letters
        store.failReads(with: nil)
        let isEdited = draft.object.letters.map(\.key) == ["a", "b"]
        #expect(draft.hasChanges == isEdited && draft.canUndo == isEdited, "\(reads) reads")
        if !isEdited {
            #expect(draft.object.letters.map(\.key) == ["c"], "\(reads) reads")
            await expectError(.diskFull) { try await draft.save() }
        }
        try await draft.save()
        let stored = try #require(try container.main.first(Label.self)).letters.map(\.key)
        #expect(stored == (isEdited ? ["a", "b"] : ["c"]), "\(reads) reads")
        try await container.close()
        return isEdited
    }

    @Test func aGroupThatThrowsLeavesNothing() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "new"
            draft.undo()
            expectThrows(Poison.self) {
                try draft.undoGroup {
                    draft.object.subject = "newer"
                    try draft.context.insert(Topic.self).key = "t"
                    draft.undoGroup { draft.object.key = "b" }
                    throw Poison()
                }
            }
            #expect(draft.object.subject == "old" && draft.object.key == "a" && !draft.hasChanges)
            #expect(try draft.context.count(Topic.self) == 0)
            #expect(draft.canRedo && !draft.canUndo)
            draft.redo()
            #expect(draft.object.subject == "new")
        }
    }

    /// Each object that was set back was removed from the lists of edited objects by itself, and all cached links were forgotten.
    @Test func settingManyObjectsBackVisitsEachOfThemOnce() async throws {
        try await withGraph { container, source in
            let count = 50
            try await source.perform { context in
                let letters = try (0..<count).map { try context.letter("\($0)") }
                for letter in letters { letter.subject = "old" }
                try context.label("l").letters = letters
            }
            let draft = try source.draft(of: container.main.knownLetter("0"))
            let context = try draft.context
            let letters = try context.fetch(Letter.self)
            for letter in letters { letter.subject = "new" }
            #expect(try context.first(Label.self)?.letters.map(\.subject) == Array(repeating: "new", count: count))
            let (visited, links) = (context.visitedEditCount, context.linkCacheStorage)
            for letter in letters.dropLast() { letter.subject = "old" }
            #expect(context.visitedEditCount == visited && context.linkCacheStorage == links)
            #expect("\(context)" == "DraftContext (edited objects: 1)")
            #expect(try context.count(Letter.self, where: \.subject == "new") == 1)
            #expect(context.visitedEditCount == visited + count)
            // An object that is edited again at once is in the lists only once.
            for subject in ["newer", "old", "newest"] { letters[0].subject = subject }
            #expect(try context.fetch(Letter.self, where: \.subject != "old").count == 2)
            #expect(try context.count(Letter.self) == count)
            #expect(try context.count(Letter.self, where: \.subject == "old") == count - 2)
            #expect(try await draft.save().save == SaveReport(updated: 2))
            #expect(try container.main.knownLetter(letters[0].key).subject == "newest")
        }
    }

    @Test func anObjectThatIsSetBackHasTheLinksThatOthersHaveSaved() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                _ = try context.topic("u")
                let letter = try context.letter("a")
                (letter.subject, letter.topic) = ("old", try context.topic("t"))
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "new"
            try await source.perform { try $0.letter("a").topic = $0.topic("u") }
            let topic = try #require(try draft.context.first(Topic.self, where: \.key, equals: "u"))
            #expect(topic.letters.map(\.key).isEmpty && draft.object.topic?.key == "t")
            draft.object.subject = "old"
            #expect(topic.letters.map(\.key) == ["a"] && draft.object.topic?.key == "u" && !draft.hasChanges)
        }
    }

    @Test func anObjectThatTheDraftHasDeletedKeepsItsValues() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            try draft.context.delete(draft.object)
            draft.object.subject = "new"
            draft.object.topic = nil
            #expect(draft.object.subject == "old")
            #expect(try draft.conflicts().isEmpty)
            await expectError(.objectGone) { try await draft.save() }
            #expect(try await draft.save().save == SaveReport(deleted: 1))
            draft.object.subject = "new"
            #expect(draft.object.subject == "old" && !draft.hasChanges)
        }
    }

    @Test func anObjectThatABatchHasDeletedKeepsItsValues() async throws {
        try await withGraph { _, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            await expectError(.objectGone) {
                try await source.perform { context in
                    let letter = try context.letter("a")
                    context.delete(letter)
                    letter.subject = "new"
                    #expect(letter.subject == "old")
                }
            }
            // What the context knows of it is what is stored.
            try await source.perform { context in
                let letter = try context.letter("a")
                #expect(letter.subject == "old")
                #expect(try context.count(Letter.self, where: \.subject == "new") == 0)
            }
        }
    }

    @Test func linksToWhatTheDraftHasDeletedReadAsNone() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let (letter, other) = (try context.letter("a"), try context.letter("b"))
                letter.readBy = try context.person("p")
                letter.labels.insert(try context.label("l"))
                for one in [letter, other] { one.author = try context.person("q") }
            }
            try await source.perform { context in
                context.delete(try context.person("p"))
                context.delete(try context.label("l"))
                try Self.expectNoLinks(context)
                throw Poison()
            } ignoring: {
                $0 is Poison
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            for person in try draft.context.fetch(Person.self, where: \.key == "p") { try draft.context.delete(person) }
            for label in try draft.context.fetch(Label.self) { try draft.context.delete(label) }
            try Self.expectNoLinks(draft.context)
            draft.undo()
            #expect(draft.object.labels.count == 1)
            try await draft.save()
        }
    }

    @Test func linksToWhatOthersHaveDeletedReadAsNone() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let (letter, other) = (try context.letter("a"), try context.letter("b"))
                letter.readBy = try context.person("p")
                for one in [letter, other] { one.author = try context.person("q") }
                _ = try context.label("l")
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "mine"
            draft.object.labels.insert(try #require(try draft.context.first(Label.self)))
            try await source.perform { context in
                context.delete(try context.person("p"))
                context.delete(try context.label("l"))
            }
            try Self.expectNoLinks(draft.context)
            #expect(draft.object.labels.isEmpty)
            try await draft.save(resolving: .takeTheirs)
            try Self.expectNoLinks(draft.context)
        }
    }

    /// The letter a is read by nobody and has no labels, like the letter b.
    private nonisolated static func expectNoLinks(_ context: ManagedObjectContext) throws {
        let letter = try context.knownLetter("a")
        #expect(letter.readBy == nil && letter.labels.isEmpty && letter.labels.ids.isEmpty)
        #expect(letter.labels.count == 0 && Array(letter.labels).isEmpty)
        #expect(try context.count(Letter.self, where: \.readBy == nil) == 2)
        #expect(try context.count(Letter.self, where: FetchPredicate(format: "readBy != nil")) == 0)
        #expect(try context.count(Letter.self, where: FetchPredicate(format: "labels.@count == 0")) == 2)
        #expect(try context.count(Letter.self, where: FetchPredicate(format: "ANY labels.key == 'l'")) == 0)
        // Both are read by nobody, and come in the order of their creation.
        let order = FetchOrder<Letter>("readBy.key", isAscending: false)
        #expect(try context.fetch(Letter.self, order: [order]).map(\.key) == ["a", "b"])
        let author = try #require(letter.author)
        #expect(try author.letters.sorted(by: [order]).map(\.key) == ["a", "b"])
        #expect(
            try author.letters.sorted(by: [FetchOrder<Letter>("labels.@count", isAscending: false)]).map(\.key) == [
                "a", "b",
            ])
    }
}

extension GraphDataSource {
    /// Runs the body, which throws what is expected, so that nothing is saved.
    fileprivate func perform(
        _ body: @escaping @Sendable (PrivateContext) throws -> Void, ignoring isExpected: (any Error) -> Bool
    ) async throws {
        do { try await perform(body) } catch { if !isExpected(error) { throw error } }
    }
}
