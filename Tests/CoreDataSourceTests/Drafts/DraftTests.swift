import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// What a draft shows, and what a save of it does.
@MainActor @Suite struct DraftTests {
    @Test func editsAreInvisibleUntilTheyAreSaved() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let letter = try container.main.knownLetter("a")
            let list = try source.list(ObjectRequest(Letter.self))
            let draft = try source.draft(of: letter)
            #expect(draft.object !== letter && draft.object.subject == "old" && !draft.hasChanges)
            draft.object.subject = "new"
            let topic = try draft.context.insert(Topic.self)
            topic.key = "t"
            draft.object.topic = topic
            #expect(draft.hasChanges && letter.subject == "old" && letter.topic == nil)
            #expect(try container.main.count(Topic.self) == 0)
            #expect(try await container.read { try $0.count(Topic.self) } == 0)
            #expect(list.snapshot.first?.subject == "old")

            let report = try await draft.save()
            #expect(report.save == SaveReport(inserted: 1, updated: 1))
            #expect(report.merged.isEmpty && report.conflicts.isEmpty)
            #expect(letter.subject == "new" && letter.topic?.key == "t")
            #expect(letter.topic?.objectID == topic.objectID)
            #expect(list.snapshot.first?.subject == "new")
        }
    }

    /// For example of a row of a list, or of a link that was opened.
    @Test func anIDIsEnoughForADraft() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let id = try #require(try container.main.ids(ObjectRequest(Letter.self)).first)
            let draft = try source.draft(of: Letter.self, id: id)
            #expect(draft.object.objectID == id && draft.object.subject == "old" && !draft.hasChanges)
            try await source.perform { try $0.letter("a").key = "b" }
            draft.object.subject = "new"
            try await draft.save()
            let letter = try #require(try container.main.object(Letter.self, id: id))
            #expect(letter.subject == "new" && letter.key == "b")
            expectError(.unknownEntity) { _ = try source.draft(of: Topic.self, id: id) }
            try await source.perform { context in
                for letter in try context.fetch(Letter.self) { context.delete(letter) }
            }
            let gone = expectError(.objectGone) { _ = try source.draft(of: Letter.self, id: id) }
            #expect(gone?.message.hasPrefix("The store has no object Letter/") == true)
        }
    }

    @Test func anIDOfAnotherStoreHasNoDraft() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let id = try #require(try container.main.ids(ObjectRequest(Letter.self)).first)
            try await withGraph { _, other in expectError(.objectGone) { _ = try other.draft(of: Letter.self, id: id) }
            }
        }
    }

    @Test func aDraftShowsNoEditsOfAnotherDraft() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let letter = try container.main.knownLetter("a")
            let (one, other) = (try source.draft(of: letter), try source.draft(of: letter))
            one.object.subject = "new"
            let topic = try one.context.insert(Topic.self)
            topic.key = "t"
            one.object.topic = topic
            #expect(other.object !== one.object && other.object.subject == "old" && other.object.topic == nil)
            #expect(try other.context.count(Topic.self) == 0 && !other.hasChanges)
            try await one.save()
            #expect(other.object.subject == "new" && other.object.topic?.key == "t" && !other.hasChanges)
        }
    }

    @Test func aDraftGoesOnAfterItsSave() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            let attachment = try draft.context.insert(Attachment.self)
            attachment.key = "1"
            draft.object.attachments.append(attachment)
            try await draft.save()
            #expect(!draft.hasChanges && !draft.canUndo && !attachment.isInserted)
            #expect(try await draft.save().save == SaveReport())
            attachment.key = "2"
            draft.object.subject = "new"
            #expect(try await draft.save().save == SaveReport(updated: 2))
            let letter = try container.main.knownLetter("a")
            #expect(letter.subject == "new" && letter.attachments.map(\.key) == ["2"])
        }
    }

    @Test func relationshipsOfADraftLeadToCopies() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                for key in ["a", "b"] { try context.letter(key).topic = topic }
                try context.letter("a").labels.insert(try context.label("l"))
            }
            let letter = try container.main.knownLetter("a")
            let draft = try source.draft(of: letter)
            let topic = try #require(draft.object.topic)
            #expect(topic !== letter.topic && topic.letters.map(\.key) == ["a", "b"])
            #expect(topic.letters.contains(draft.object))
            topic.letters.remove(draft.object)
            #expect(draft.object.topic == nil && topic.letters.map(\.key) == ["b"])
            draft.object.labels.removeAll()
            #expect(letter.topic != nil && letter.labels.count == 1)
            try await draft.save()
            #expect(letter.topic == nil && letter.labels.isEmpty)
        }
    }

    @Test func fetchesOfADraftIncludeItsEdits() async throws {
        try await withGraph { container, source in
            try await source.perform { context in for key in ["a", "b"] { try context.letter(key).subject = "old" } }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "new"
            try draft.context.insert(Letter.self).key = "c"
            try draft.context.delete(draft.context.knownLetter("b"))
            #expect(try draft.context.fetch(Letter.self, order: [.ascending(\.key)]).map(\.key) == ["a", "c"])
            #expect(try draft.context.count(Letter.self, where: \.subject == "new") == 1)
            #expect(try draft.context.count(Letter.self) == 2)
            #expect(try draft.context.findOrInsert(Letter.self, where: \.key, equals: "c").isInserted)
            draft.undo()
            #expect(try draft.context.count(Letter.self) == 3)
            // What others insert is found, however often it was looked for before.
            #expect(try draft.context.first(Letter.self, where: \.key, equals: "d") == nil)
            try await source.perform { _ = try $0.letter("d") }
            #expect(try draft.context.first(Letter.self, where: \.key, equals: "d") != nil)
        }
    }

    @Test func aDraftOfANewObjectIsInsertedByItsSave() async throws {
        try await withGraph { container, source in
            let draft = try source.draft(inserting: Letter.self)
            #expect(draft.object.isInserted && !draft.canUndo && draft.hasChanges)
            let error = await expectError(.validationFailed) { try await draft.save() }
            #expect(error?.attributeName == "key")
            #expect(draft.object.isInserted)
            draft.object.key = "a"
            #expect(try await draft.save().save.inserted == 1)
            #expect(try container.main.fetch(Letter.self).map(\.objectID) == [draft.object.objectID])
        }
    }

    @Test func deletionsFollowTheRulesOfTheModelWhenTheyAreSaved() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.attachments = [try context.attachment("1")]
                letter.topic = try context.topic("t")
                try context.letter("b").author = try context.person("p")
            }
            let draft = try source.draft(of: container.main.knownTopic("t"))
            try draft.context.delete(draft.object)
            #expect(try await draft.save().save == SaveReport(deleted: 3))
            #expect(draft.object.isDeleted)

            let person = try #require(try container.main.first(Person.self))
            let other = try source.draft(of: person)
            try other.context.delete(other.object)
            await expectError(.deletionDenied) { try await other.save() }
            #expect(other.hasChanges)
            other.undo()
            #expect(!other.hasChanges && !other.object.isDeleted)
        }
    }

    @Test func aDraftIsSavedByTheOwnersOfItsEdits() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            let draft = try letters.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "new"
            draft.object.topic?.title = "renamed"
            let other = try draft.context.insert(Topic.self)
            other.key = "u"
            other.letters.insert(draft.object)
            #expect(try await draft.save().save == SaveReport(inserted: 1, updated: 2))
            let letter = try container.main.knownLetter("a")
            #expect(letter.subject == "new" && letter.topic?.key == "u")
            #expect(try container.main.knownTopic("t").title == "renamed")

            try draft.context.delete(other)
            #expect(try await draft.save().save.deleted == 2)

            let label = try draft.context.insert(Label.self)
            label.key = "l"
            let error = await expectError(.entityNotOwned) { try await draft.save() }
            #expect(error?.entityName == "Label")
        }
    }

    @Test func aSaveThatThrowsLeavesTheDraftAndTheStoreAsTheyWere() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add(["a", "b"])
            let draft = try letters.draft(of: container.main.knownLetter("a"))
            draft.object.topic?.title = "renamed"
            draft.object.key = "b"
            await expectError(.uniquenessViolated) { try await draft.save() }
            #expect(try container.main.knownTopic("t").title == "")
            #expect(draft.object.key == "b" && draft.object.topic?.title == "renamed" && draft.canUndo)
            draft.object.key = "c"
            #expect(try await draft.save().save.updated == 2)
            #expect(try container.main.knownTopic("t").title == "renamed")
        }
    }

    @Test func aRefusedEditMakesOneSaveThrow() async throws {
        try await withGraph { container, source in
            try await source.perform { _ = try $0.letter("a") }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            let topic = try draft.context.insert(Topic.self)
            try draft.context.delete(topic)
            topic.key = "t"
            await expectError(.objectGone) { try await draft.save() }
            draft.object.subject = "new"
            #expect(try await draft.save().save == SaveReport(updated: 1))
        }
    }
}
