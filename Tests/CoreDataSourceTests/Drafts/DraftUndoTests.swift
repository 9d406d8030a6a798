import CoreDataSource
import Observation
import TestSupport
import Testing

/// Steps of a draft, back and forth.
@MainActor @Suite struct DraftUndoTests {
    /// Everything that a draft shows of letters, topics and attachments.
    private func state(_ context: DraftContext) throws -> [String] {
        try context.fetch(Letter.self, order: [.ascending(\.key)]).map { letter in
            "\(letter.key) \(letter.subject) \(letter.topic?.key ?? "-") \(letter.attachments.map(\.key)) "
                + "\(letter.labels.map(\.key).sorted())"
        } + context.fetch(Topic.self, order: [.ascending(\.key)]).map { "\($0.key) \($0.letters.map(\.key).sorted())" }
            + [
                "\(try context.count(Letter.self)) \(try context.count(Attachment.self)) \(try context.count(Label.self))"
            ]
    }

    @Test func observersOfADraftAreNotified() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                _ = try (context.letter("a"), context.letter("b"), context.label("l"))
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            let (letter, noticeCount) = (draft.object, Shared(0))
            /// The number of notices to an observer of the properties that a form shows.
            @MainActor func notices(of change: @MainActor () async throws -> Void) async throws -> Int {
                let before = noticeCount.value
                withObservationTracking {
                    _ = (draft.object.subject, draft.canUndo, draft.canRedo, draft.hasChanges)
                } onChange: {
                    noticeCount.update { $0 += 1 }
                }
                try await change()
                return noticeCount.value - before
            }
            #expect(try await notices { letter.subject = "new" } == 1)
            #expect(draft.canUndo && draft.hasChanges)
            #expect(try await notices { draft.undo() } == 1)
            #expect(try await notices { draft.redo() } == 1)
            let label = try #require(try draft.context.first(Label.self))
            #expect(try await notices { letter.labels.insert(label) } == 1)
            #expect(try await notices { draft.undo() } == 1)
            #expect(try await notices { _ = try (draft.errors(of: letter), container.main.count(Letter.self)) } == 0)
            // The observer of the reads was not notified, so there are two observers now.
            #expect(try await notices { try await draft.save() } == 2)
            #expect(!draft.canUndo && !draft.hasChanges)
            let other = try source.draft(of: container.main.knownLetter("b"))
            other.object.subject = "other"
            #expect(try await notices { try await other.save(waitFor: .main) } == 1)
            #expect(try await notices { draft.discard() } == 1)
        }
    }

    @Test func eachEditIsAStepThatIsUndoneAndRedone() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.topic = try context.topic("t")
                letter.attachments = try ["1", "2"].map(context.attachment)
                _ = try (context.topic("u"), context.label("l"), context.letter("b"))
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            let context = try draft.context
            var states = [try state(context)]
            let edits: [() throws -> Void] = [
                { draft.object.subject = "new" },
                { draft.object.topic = try context.first(Topic.self, where: \.key, equals: "u") },
                { draft.object.attachments.swapAt(0, 1) },
                { draft.object.labels.insert(try #require(try context.first(Label.self))) },
                { draft.undoGroup { draft.object.attachments.removeAll() } },
                { context.delete(try context.knownLetter("b")) },
                { _ = try context.findOrInsert(Letter.self, where: \.key, equals: "c") },
                { draft.object.topic?.letters.set([try context.knownLetter("c")]) },
                { context.delete(try context.knownLetter("c")) },
                { draft.object.labels.removeAll() },
            ]
            for edit in edits {
                try edit()
                states.append(try state(context))
            }
            #expect(Set(states.map(\.description)).count == states.count)
            for _ in 0..<2 {
                for expected in states.dropLast().reversed() {
                    #expect(draft.canUndo)
                    draft.undo()
                    #expect(try state(context) == expected)
                }
                #expect(!draft.canUndo && !draft.hasChanges)
                for expected in states.dropFirst() {
                    #expect(draft.canRedo)
                    draft.redo()
                    #expect(try state(context) == expected)
                }
                #expect(!draft.canRedo)
            }
            for _ in 0..<6 { draft.undo() }
            draft.object.subject = "other"
            #expect(!draft.canRedo)
            try await draft.save()
            #expect(!draft.canUndo)
            let saved = try container.main.knownLetter("a")
            #expect(saved.subject == "other" && saved.topic?.key == "u" && saved.attachments.map(\.key) == ["2", "1"])
        }
    }

    @Test func aGroupIsOneStep() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "1"
            draft.undoGroup {
                draft.object.subject = "2"
                draft.undoGroup { draft.object.key = "b" }
                #expect(!draft.canUndo)
                draft.undo()
            }
            draft.undo()
            #expect(draft.object.subject == "1" && draft.object.key == "a")
            draft.redo()
            #expect(draft.object.subject == "2" && draft.object.key == "b")
        }
    }

    @Test func theNumberOfStepsIsBounded() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            for number in 0..<250 { draft.object.subject = "\(number)" }
            var count = 0
            while draft.canUndo {
                draft.undo()
                count += 1
            }
            #expect(count == 100 && draft.object.subject == "149")
            draft.undoLimit = 3
            for number in 0..<10 { draft.object.subject = "\(number)" }
            for _ in 0..<10 { draft.undo() }
            #expect(draft.object.subject == "6")
        }
    }
}
