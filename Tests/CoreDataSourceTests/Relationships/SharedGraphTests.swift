import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Relationships between objects of several data sources, and what a batch that fails leaves of them.
@MainActor @Suite struct SharedGraphTests {
    @Test func aBatchThatFailedLeavesNothingStaleForTheNext() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            await expectThrows(Poison.self) {
                try await letters.perform { context in
                    let letter = try context.letter("a")
                    #expect(letter.topic?.title == "")
                    throw Poison()
                }
            }
            try await topics.perform { try $0.topic("t").title = "new" }
            try await letters.perform { context in
                let letter = try context.letter("a")
                #expect(letter.topic?.title == "new")
            }
            await expectThrows(Poison.self) {
                try await letters.perform { context in
                    let letter = try context.letter("a")
                    #expect(letter.topic != nil)
                    throw Poison()
                }
            }
            try await topics.delete("t")
            try await letters.perform { context in
                let found = try context.fetch(Letter.self)
                #expect(found.allSatisfy { $0.topic == nil })
            }
        }
    }

    @Test func aDeletionIsSeenByAllContextsOfTheBatch() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add(["a", "b"])
            try await container.perform(in: topics, letters) { topics, letters in
                let topic = try topics.topic("t")
                #expect(topic.letters.count == 2)
                letters.delete(try letters.letter("a"))
                #expect(topic.letters.map(\.key) == ["b"] && topic.letters.count == 1)
                // Through the context of the other one it is the same.
                if let letter = topic.letters.first(where: { _ in true }) { topics.delete(letter) }
                #expect(topic.letters.isEmpty)
            }
            #expect(try container.main.count(Letter.self) == 0)
        }
    }

    @Test func aRollbackIsOneOfAllContextsOfTheBatch() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await letters.add("a")
            try await container.perform(in: topics, letters) { topics, letters in
                try letters.letter("a").topic = try topics.topic("new")
                topics.rollback()
                #expect(try letters.letter("a").topic == nil)
            }
            #expect(try container.main.count(Topic.self) == 0)
            #expect(try container.main.first(Letter.self)?.topic == nil)
        }
    }

    @Test func objectsOfAnotherDataSourceAreNotEditedByItsRelationships() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            // The queue of letters is held, for a topic may be deleted; its objects are not there to be changed.
            await expectError(.entityNotOwned) {
                try await topics.perform { context in
                    for letter in try context.topic("t").letters { letter.subject = "changed" }
                }
            }
            #expect(try container.main.first(Letter.self)?.subject == "")
        }
    }

    @Test func aSaveThatLinksWhatIsRolledBackIsRolledBackToo() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let topics = try container.dataSource(TopicDataSource.self)
        let letters = try container.dataSource(LetterDataSource.self)
        store.fail(with: noRoom)
        try await topics.add("t", waitFor: .main)
        try await letters.add("a", waitFor: .main)
        #expect(try container.main.first(Letter.self)?.topic?.key == "t")
        await expectThrows(DataSourceError.self) { try await topics.add("other") }
        store.fail(with: nil)
        try await container.flush()
        let letter = try container.main.first(Letter.self)
        let topic = try container.main.first(Topic.self, where: \.key, equals: "t")
        #expect((letter?.topic == nil) == (topic == nil))
        if letter != nil { #expect(letter?.topic === topic) }
        try await container.close()
    }

    @Test func aDeletedObjectMayBeTakenOutOfARelationship() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add(["a", "b"])
            try await container.perform(in: topics, letters) { topics, letters in
                let topic = try topics.topic("t")
                for letter in topic.letters {
                    letters.delete(letter)
                    topic.letters.remove(letter)
                }
            }
            #expect(try container.main.count(Letter.self) == 0 && container.main.count(Topic.self) == 1)
        }
    }

    @Test func aBatchThatWasRefusedGivesNoRightToWhatNobodyOwns() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await letters.add("a")
            await expectError(.entityNotOwned) {
                try await topics.perform { context in
                    for letter in try context.fetch(Letter.self) { context.delete(letter) }
                }
            }
            await expectError(.entityNotOwned) {
                try await topics.perform { try $0.insert(Person.self).key = "p" }
            }
            #expect(try container.main.count(Person.self) == 0)
        }
    }

    /// It was remembered as gone for as long as no link changed.
    @Test func anObjectThatComesBackIsLedToAgain() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            let place = try context.insert(Station.self)
            place.key = "p"
            try context.letter("a").place = place
        }
        let letter = try #require(try container.main.first(Letter.self))
        store.fail(with: noRoom)
        try await source.delete(Station.self, where: nil, waitFor: .main)
        #expect(try container.main.count(Station.self) == 0)
        #expect(letter.place == nil)
        #expect(await container.discardPending() == 1)
        #expect(try container.main.count(Station.self) == 1)
        #expect(letter.place?.key == "p")
        #expect(letter.place?.letters.map(\.key) == ["a"])
        store.fail(with: nil)
        try await container.close()
    }
}
