import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// How drafts begin, live long, and end.
@MainActor @Suite struct DraftLifeTests {
    @Test func aDiscardedDraftLeavesNothing() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            weak let context = try draft.context
            draft.object.subject = "new"
            try draft.context.insert(Topic.self).key = "t"
            draft.discard()
            #expect(context == nil && container.mainTier.drafts.isEmpty)
            #expect(draft.object.subject == "new" && draft.object.context == nil)
            #expect(!draft.hasChanges && !draft.canUndo && draft.errors(of: draft.object).isEmpty)
            await expectError(.draftDiscarded) { try await draft.save() }
            #expect(try container.main.knownLetter("a").subject == "old")
            #expect(try container.main.count(Topic.self) == 0)
            draft.discard()
        }
    }

    @Test func anObjectOfADraftThatHasEndedHasItsAttributesAndNoLinks() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.subject = "old"
                letter.topic = try context.topic("t")
                letter.labels.insert(try context.label("l"))
                letter.attachments = [try context.attachment("1")]
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            let letter = draft.object
            #expect(letter.topic?.key == "t" && letter.labels.count == 1 && letter.attachments.count == 1)
            letter.subject = "new"
            draft.discard()
            #expect(letter.key == "a" && letter.subject == "new" && !letter.isDeleted)
            #expect(letter.topic == nil && letter.labels.isEmpty && letter.attachments.isEmpty)
        }
    }

    /// As long as anything read the store in a transaction, its log could not be emptied.
    @Test func aDraftHoldsNoTransactionOfTheStore() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { try $0.letter("a").topic = try $0.topic("t") }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            #expect(draft.object.topic?.letters.count == 1)
            draft.object.subject = "new"
            try await source.perform { _ = try $0.letter("b") }
            #expect(try draft.context.fetch(Letter.self).count == 2)
            let raw = try RawConnection(directory.store)
            // Whoever looks things up in batches may keep a transaction for some milliseconds.
            while try raw.column("PRAGMA wal_checkpoint(TRUNCATE)") != ["0"] { await Task.yield() }
            #expect(try raw.column("PRAGMA wal_checkpoint(TRUNCATE)", 1) == ["0"])
            try await draft.save()
            #expect(try container.main.knownLetter("a").subject == "new")
        }
    }

    /// What was inserted in the draft and deleted again leaves no link, which would look like a conflict.
    @Test func anInsertedAndDeletedObjectLeavesNoLink() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            let (topic, label) = (try draft.context.insert(Topic.self), try draft.context.insert(Label.self))
            (topic.key, label.key) = ("t", "l")
            draft.object.topic = topic
            label.letters = [draft.object]
            draft.object.subject = "new"
            try draft.context.delete(topic)
            try draft.context.delete(label)
            #expect(draft.object.topic == nil && draft.object.labels.isEmpty)
            draft.undo()
            #expect(draft.object.labels.count == 1)
            draft.redo()
            try await draft.save()
            let letter = try container.main.knownLetter("a")
            #expect(letter.subject == "new" && letter.topic == nil && letter.labels.isEmpty)
            #expect(try container.main.count(Topic.self) == 0)
        }
    }

    @Test func aDraftThatNobodyHoldsEnds() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            var draft: Draft? = try source.draft(of: container.main.knownLetter("a"))
            #expect(container.mainTier.drafts.count == 1 && draft != nil)
            draft = nil
            while !container.mainTier.drafts.isEmpty { await Task.yield() }
        }
    }

    @Test func aDraftDoesNotKeepTheContainer() async throws {
        let directory = try TemporaryDirectory()
        func makeDraft() async throws -> Draft<Letter> {
            let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { _ = try $0.letter("a") }
            return try source.draft(of: container.main.knownLetter("a"))
        }
        let draft = try await makeDraft()
        let next = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        #expect(draft.object.key == "a")
        await expectError(.storeClosed) { try await draft.save() }
        try await next.close()
    }

    @Test func aSaveAfterCloseThrows() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "new"
            try await container.close()
            await expectError(.storeClosed) { try await draft.save() }
            #expect(draft.object.subject == "new")
        }
    }

    @Test func aDraftOfAClosedContainerIsRefused() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let letter = try container.main.knownLetter("a")
            try await container.close()
            expectError(.storeClosed) { try source.draft(of: letter) }
            expectError(.storeClosed) { try source.draft(of: Letter.self, id: letter.objectID) }
            expectError(.storeClosed) { try source.draft(inserting: Letter.self) }
            #expect(container.mainTier.drafts.isEmpty)
        }
    }

    @Test func aDraftOfADeletedObjectIsRefused() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let letter = try container.main.knownLetter("a")
            try await source.delete(Letter.self, where: nil)
            expectError(.objectGone) { try source.draft(of: letter) }
            #expect(container.mainTier.drafts.isEmpty)
        }
    }

    @Test func anObjectOfAListCanBeDrafted() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let list = try source.list(ObjectRequest(Letter.self))
            let draft = try source.draft(of: try #require(list.object(0)))
            draft.object.subject = "new"
            try await draft.save()
            #expect(list.snapshot.first?.subject == "new")
        }
    }

    @Test func aLongDraftReleasesUnusedObjects() async throws {
        try await withGraph { container, source in
            try await source.perform { context in for number in 0..<500 { _ = try context.letter("\(number)") } }
            let draft = try source.draft(of: container.main.knownLetter("7"))
            for round in 0..<20 {
                try await source.perform { context in
                    for number in 0..<500 { _ = try context.letter("\(round)-\(number)") }
                }
                draft.object.subject = "\(round)"
                #expect(try draft.context.fetch(Letter.self).count == 500 * (round + 2))
            }
            for _ in 0..<2 { #expect(try draft.context.count(Topic.self) == 0) }
            #expect(try draft.context.registeredObjectCount < 2048)
            #expect(try draft.context.knownLetter("7") === draft.object)
            try await draft.save()
            #expect(try draft.context.registeredObjectCount == 1)
        }
    }

    @Test func anEditDuringASaveStaysAnEdit() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "first"
            let topic = try draft.context.insert(Topic.self)
            topic.key = "t"
            let label = try draft.context.insert(Label.self)
            label.key = "l"
            draft.object.labels.insert(label)
            let withdrawn = try draft.context.findOrInsert(Topic.self, where: \.key, equals: "u")
            var second: Task<DraftReport, any Error>?
            let first = try await draft.save(waitingFor: source) {
                draft.undo()
                #expect(withdrawn.isDeleted)
                draft.object.key = "b"
                draft.object.subject = "second"
                draft.object.topic = topic
                try draft.context.delete(label)
                second = Task { try await draft.save() }
            }
            #expect(first.save == SaveReport(inserted: 3, updated: 1))
            #expect(try await second?.value.save == SaveReport(updated: 1, deleted: 2))
            let letter = try container.main.knownLetter("b")
            #expect(letter.subject == "second" && letter.topic?.key == "t" && letter.labels.isEmpty)
            #expect(try container.main.fetch(Topic.self).map(\.key) == ["t"])
            #expect(try container.main.count(Label.self) == 0 && !draft.hasChanges)
        }
    }

    @Test func twoDraftsOfOneObjectAreInConflictLikeOthers() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let letter = try container.main.knownLetter("a")
            let (one, other) = (try source.draft(of: letter), try source.draft(of: letter))
            one.object.subject = "one"
            other.object.subject = "other"
            try await one.save()
            #expect(try other.conflicts().map(\.propertyName) == ["subject"])
            #expect(try one.conflicts().isEmpty)
            try await other.save(resolving: .keepMine)
            #expect(letter.subject == "other")
        }
    }
}

/// What a draft shows of other saves.
@MainActor @Suite struct DraftFollowTests {
    @Test func uneditedObjectsFollowOtherSaves() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                try context.letter("a").topic = try context.topic("t")
                try context.letter("b").subject = "old"
            }
            let draft = try source.draft(of: container.main.knownTopic("t"))
            let (a, b) = (try draft.context.knownLetter("a"), try draft.context.knownLetter("b"))
            #expect(draft.object.letters.map(\.key) == ["a"])
            b.subject = "mine"
            try await source.perform { context in
                let b = try context.letter("b")
                b.subject = "theirs"
                b.topic = try context.topic("t")
                try context.letter("a").subject = "theirs"
                try context.topic("t").title = "theirs"
            }
            #expect(draft.object.title == "theirs" && a.subject == "theirs" && b.subject == "mine")
            #expect(b.topic == nil && draft.object.letters.map(\.key) == ["a"])
            draft.undo()
            #expect(b.subject == "theirs" && b.topic === draft.object && !draft.hasChanges)
            #expect(draft.object.letters.map(\.key) == ["a", "b"])
            draft.redo()
            #expect(b.subject == "mine" && draft.object.letters.map(\.key) == ["a"])
            try await source.delete(Letter.self, where: nil)
            #expect(a.isDeleted && !b.isDeleted)
            draft.undo()
            #expect(b.isDeleted && !draft.hasChanges)
        }
    }

    @Test func aDraftFollowsWhenMainCouldNotTakeInEverySave() async throws {
        let container = try await PersistentContainer(
            model: .graph, store: .inMemory,
            configuration: PersistentContainer.Configuration(mainBacklogByteLimit: 0))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in for key in ["a", "b", "c"] { _ = try context.letter(key) } }
        let draft = try source.draft(of: container.main.knownLetter("a"))
        let (b, c) = (try draft.context.knownLetter("b"), try draft.context.knownLetter("c"))
        draft.object.subject = "mine"
        try await source.perform { context in
            for key in ["a", "b"] { try context.letter(key).subject = "theirs" }
            try context.delete(Letter.self, where: \.key == "c")
        }
        #expect(draft.object.subject == "mine" && b.subject == "theirs" && c.isDeleted)
        draft.undo()
        #expect(draft.object.subject == "theirs")
        try await container.close()
    }

    /// Both put the same label on a letter.
    @Test func aLinkThatBothMakeIsThereOnce() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try ($0.letter("a"), $0.label("l")) }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.labels.insert(try #require(try draft.context.first(Label.self)))
            try await source.perform { try $0.letter("a").labels.insert(try $0.label("l")) }
            #expect(draft.object.labels.count == 1)
            try await draft.save()
            #expect(draft.object.labels.count == 1 && !draft.hasChanges)
            #expect(try container.main.knownLetter("a").labels.count == 1)
        }
    }
}
