import CoreDataSource
import Testing

/// Relationships of main's objects are read there and set elsewhere, from whichever side.
struct MainLinkTrapTests {
    @Test func settingAToOneRelationshipOfAMainObjectTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuseMain { letter, _, _ in letter.topic = nil }
        }
        #expect(try #require(result).standardErrorString.contains("Letter.topic was set on an object of a read-only"))
    }

    @Test func insertingIntoAToManyRelationshipOfAMainObjectTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuseMain { letter, topic, _ in topic.letters.insert(letter) }
        }
        #expect(try #require(result).standardErrorString.contains("Topic.letters was set on an object of a read-only"))
    }

    @Test func settingAnOrderedRelationshipOfAMainObjectTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await misuseMain { _, _, label in label.letters = [] }
        }
        #expect(try #require(result).standardErrorString.contains("Label.letters was set on an object of a read-only"))
    }

    @Test func readingThemDoesNot() async throws {
        try await misuseMain { letter, topic, label in
            #expect(letter.topic === topic)
            #expect(topic.letters.contains(letter))
            #expect(label.letters == [letter])
        }
    }
}

@MainActor
private func misuseMain(_ body: @MainActor (Letter, Topic, Label) throws -> Void) async throws {
    let container = try await PersistentContainer(model: .graph, store: .inMemory)
    let source = try container.dataSource(GraphDataSource.self)
    try await source.perform { context in
        let letter = try context.letter("letter")
        letter.topic = try context.topic("topic")
        try context.label("label").letters = [letter]
    }
    let letter = try #require(try source.main.first(Letter.self))
    let topic = try #require(try source.main.first(Topic.self))
    try body(letter, topic, try #require(try source.main.first(Label.self)))
}
