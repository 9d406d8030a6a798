import CoreDataSource
import ErrorExpectations
import Testing

/// Hooks that complete the save of an answer.
extension ScopeLaterAnswerTests {
    /// A hook that deletes an object is no part of the answer.
    @Test(arguments: [true, false])
    func anObjectOfALaterListThatAHookDeletesEndsNoLoad(isConfirmed: Bool) async throws {
        try await withEmptyGraph { container in
            let letters = try container.dataSource(TidyLetterDataSource.self)
            let topics = SyncScope("topics", Topic.self)
            let list = SyncScope("letters", Letter.self)
            try await letters.load(topics, maxAge: .zero) { _ in .list(["topic"], entityTag: "1") }
            let requests = Shared(0)
            try await letters.load(list, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                try await letters.load(topics, maxAge: .zero) { _ in
                    isConfirmed ? .notModified : .list(["topic"], entityTag: "2")
                }
                return .list(["l"])
            }
            #expect(requests.value == 1)
            #expect(try letters.count(Letter.self) == 1)
            #expect(try letters.count(Topic.self) == 0)
            // The deletion has dropped the tag, so the next request brings the topic back.
            #expect(try letters.freshness(of: topics).entityTag == nil)
        }
    }

    /// The answer itself is still compared, with its delete rules.
    @Test(arguments: [true, false])
    func anOlderAnswerThatAHookCompletesDeletesNoObjectOfALaterList(isConfirmed: Bool) async throws {
        try await withEmptyGraph { container in
            let letters = try container.dataSource(TidyLetterDataSource.self)
            let (all, one) = (SyncScope("all", Topic.self), SyncScope("one", Topic.self, where: \.key == "topic a"))
            try await letters.add(["topic a", "topic b"])
            try await letters.load(one, maxAge: .zero) { _ in .list(["topic a"], entityTag: "1") }
            let requests = Shared(0)
            try await letters.load(all, maxAge: .zero, deleting: .all) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list(["topic a"]) }
                try await letters.load(one, maxAge: .zero) { _ in
                    isConfirmed ? .notModified : .list(["topic a"], entityTag: "2")
                }
                return .list(["topic b"])
            }
            #expect(requests.value == 2)
            #expect(try letters.fetch(Topic.self).map(\.key) == ["topic a"])
        }
    }

    /// A hook deletes the topic during each request, because no letter has it. The third answer brings it back with a letter.
    ///
    /// - Parameter isStored: Whether the hook deletes a stored topic, or one that the same save inserts.
    @Test(arguments: [true, false])
    func anObjectThatAHookDeletesDuringEachRequestEndsNoLoad(isStored: Bool) async throws {
        try await withEmptyGraph { container in
            let letters = try container.dataSource(UsedTopics.self)
            let one = SyncScope("one", Letter.self, where: \.key == "l")
            let (other, topics) = (
                SyncScope("other", Letter.self, where: \.key == "k"), SyncScope("topics", Topic.self)
            )
            let requests = Shared(0)
            try await letters.load(one, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                if isStored {
                    try await letters.load(other, maxAge: .zero) { _ in .list(["k"]) }
                    try await letters.load(other, maxAge: .zero) { _ in .gone }
                } else {
                    try await letters.load(topics, maxAge: .zero) { _ in .list(["topic"], entityTag: "2") }
                }
                return .list(["l"], entityTag: "1")
            }
            #expect(requests.value == 3)
            #expect(try letters.fetch(Letter.self).map { $0.topic?.key } == ["topic"])
            #expect(try letters.freshness(of: one).entityTag == "1")
            // The store did not have the whole list, so the next request gets it again.
            #expect(try letters.freshness(of: topics).entityTag == nil)
        }
    }

    /// An object that the other answer itself deletes during each request is not brought back.
    @Test func anObjectThatAnotherAnswerDeletesDuringEachRequestIsNotStored() async throws {
        try await withEmptyGraph { container in
            let letters = try container.dataSource(UsedTopics.self)
            let other = SyncScope("other", Letter.self, where: \.key == "k")
            let (all, requests) = (SyncScope("all", Letter.self), Shared(0))
            await expectError(.scopeChanged) {
                try await letters.load(all, maxAge: .zero) { _ in
                    requests.update { $0 += 1 }
                    try await letters.load(other, maxAge: .zero) { _ in .list(["k"]) }
                    try await letters.load(other, maxAge: .zero) { _ in .gone }
                    return .list(["k", "l"])
                }
            }
            #expect(requests.value == 3)
            #expect(try letters.count(Letter.self) == 0)
        }
    }
}

/// Topics, and letters with a topic. A hook deletes the topics without letters.
private final class UsedTopics: DataSource<String>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [Topic.self, Letter.self, Attachment.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let topic = try context.topic("topic")
        if key == "topic" { return topic }
        let letter = try context.letter(key)
        letter.topic = topic
        return letter
    }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for topic in try context.fetch(Topic.self) where topic.letters.isEmpty { context.delete(topic) }
    }
}

/// Topics, and letters whose hook deletes all topics once there is a letter.
private final class TidyLetterDataSource: DataSource<String>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [Topic.self, Letter.self, Attachment.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        if key.hasPrefix("topic") { return try context.topic(key) }
        return try context.letter(key)
    }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        if try context.count(Letter.self) > 0 { try context.delete(Topic.self, where: nil) }
    }
}
