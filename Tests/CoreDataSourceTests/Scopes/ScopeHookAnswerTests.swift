import CoreDataSource
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
