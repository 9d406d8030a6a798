import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// What is undone, and what others save, while a save of the draft is under way.
@MainActor @Suite struct DraftSaveTests {
    @Test func anEditThatIsUndoneDuringItsSaveStaysUndone() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.subject = "old"
                letter.topic = try context.topic("t")
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.undoGroup {
                draft.object.subject = "new"
                draft.object.topic = nil
            }
            let report = try await draft.save(waitingFor: source) {
                draft.undo()
            } others: {
                try $0.letter("a").key = "b"
            }
            #expect(report.save == SaveReport(updated: 1))
            let saved = try container.main.knownLetter("b")
            #expect(saved.subject == "new" && saved.topic == nil)
            #expect(draft.object.subject == "old" && draft.object.topic?.key == "t" && draft.object.key == "b")
            #expect(draft.hasChanges)
            let second = try await draft.save()
            #expect(second.save == SaveReport(updated: 1) && second.merged.isEmpty && second.conflicts.isEmpty)
            #expect(saved.subject == "old" && saved.topic?.key == "t" && saved.key == "b")
            #expect(!draft.hasChanges)
        }
    }

    @Test func anUndoneEditIsReadAgainDuringItsSave() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "new"
            let gate = Gate()
            let report = try await draft.save(waitingFor: source) {
                draft.undo()
                gate.open()
            } others: { _ in
                gate.wait()
            }
            #expect(report.save == SaveReport(updated: 1))
            #expect(try draft.context.fetch(Letter.self).map(\.subject) == ["old"])
        }
    }

    @Test func aDeletionThatIsUndoneDuringItsSaveIsMadeGood() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.subject = "old"
                letter.topic = try context.topic("t")
                letter.labels.insert(try context.label("l"))
            }
            let id = try container.main.knownLetter("a").objectID
            let draft = try source.draft(of: container.main.knownTopic("t"))
            let letter = try draft.context.knownLetter("a")
            letter.labels.removeAll()
            try draft.context.delete(letter)
            let report = try await draft.save(waitingFor: source) {
                draft.undo()
                draft.undo()
            }
            #expect(report.save.deleted == 1)
            #expect(try container.main.count(Letter.self) == 0)
            #expect(!letter.isDeleted && letter.topic === draft.object && draft.hasChanges)
            try await draft.save()
            let restored = try container.main.knownLetter("a")
            #expect(restored.objectID == id && restored.subject == "old" && restored.topic?.key == "t")
            #expect(restored.labels.map(\.key) == ["l"])
            #expect(!draft.hasChanges && letter.labels.count == 1)
        }
    }

    /// Who takes an object out of the draft while it is saved, and edits it once it is there, keeps the edit.
    @Test func aNewObjectThatIsEditedAgainBeforeItsSaveHasEndedStays() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.topic("t") }
            let draft = try source.draft(of: container.main.knownTopic("t"))
            let letter = try draft.context.insert(Letter.self)
            letter.key = "new"
            let recorder = GroupRecorder()
            recorder.onDid = {
                do { try draft.context.knownLetter("new").subject = "later" } catch { Issue.record(error) }
            }
            try source.register(recorder, dataKey: "letters", ObjectRequest(Letter.self, order: [.ascending(\.key)]))
            try await draft.save(waitingFor: source) {
                try draft.context.delete(letter)
            }
            #expect(draft.hasChanges)
            try await draft.save()
            #expect(try container.main.knownLetter("new").subject == "later")
        }
    }

    @Test func anEditUndoneDuringAFailedSaveGetsTheValueOfOthers() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "mine"
            await expectError(.draftConflict) {
                try await draft.save(waitingFor: source) {
                    draft.undo()
                } others: {
                    try $0.letter("a").subject = "theirs"
                }
            }
            #expect(draft.object.subject == "theirs" && !draft.hasChanges)
            #expect(try await draft.save().save == SaveReport())
            #expect(try container.main.knownLetter("a").subject == "theirs")
        }
    }

    @Test func anUndoneEditThatWasNotSavedGetsTheValueOfOthers() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "mine"
            try await draft.save(waitingFor: source, resolving: .takeTheirs) {
                draft.undo()
            } others: {
                try $0.letter("a").subject = "theirs"
            }
            #expect(draft.object.subject == "theirs" && !draft.hasChanges)
        }
    }

    @Test func anObjectThatIsDeletedBeforeMainHasMergedItIsNotDrafted() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let letter = try container.main.knownLetter("a")
            let done = Gate()
            Task.detached {
                try await source.delete(Letter.self, where: nil)
                done.open()
            }
            done.wait()
            #expect(!letter.isDeleted)
            expectError(.objectGone) { try source.draft(of: letter) }
            #expect(container.mainTier.drafts.isEmpty)
        }
    }
}

extension Draft {
    /// Saves the draft, and runs the bodies while it waits for its turn.
    @MainActor @discardableResult
    func save(
        waitingFor source: GraphDataSource, resolving resolution: DraftResolution = .fail,
        _ body: () throws -> Void, others: @escaping @Sendable (PrivateContext) throws -> Void = { _ in }
    ) async throws -> DraftReport {
        let save = try await hold { pause in
            try await source.perform { context in
                pause()
                try others(context)
            }
        } meanwhile: {
            let save = Task { try await self.save(resolving: resolution) }
            while !isSaving { await Task.yield() }
            try body()
            return save
        }
        return try await save.value
    }
}
