import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Delete rules in a draft.
@MainActor @Suite struct DraftDeleteTests {
    /// Gives the body a draft of the topic "t", which has the letters "a", "b" and "c".
    private func withTopic(
        _ body: (PersistentContainer, GraphDataSource, Draft<Topic>) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                for key in ["a", "b", "c"] { try context.letter(key).topic = topic }
                try context.letter("a").attachments = try ["1", "2"].map(context.attachment)
                _ = try context.topic("u")
            }
            try await body(container, source, try source.draft(of: container.main.knownTopic("t")))
        }
    }

    private func insertLetter(_ key: String, _ topic: Topic, in draft: Draft<Topic>) throws -> Letter {
        let letter = try draft.context.insert(Letter.self)
        letter.key = key
        letter.topic = topic
        return letter
    }

    @Test func deletingANewObjectDeletesTheNewOnesThatItsRulesReach() async throws {
        try await withTopic { container, _, draft in
            let topic = try draft.context.insert(Topic.self)
            topic.key = "new"
            let letters = try ["x", "y"].map { try insertLetter($0, topic, in: draft) }
            let attachment = try draft.context.insert(Attachment.self)
            attachment.key = "new"
            letters[0].attachments.append(attachment)
            try draft.context.delete(topic)
            #expect(letters.allSatisfy(\.isDeleted) && attachment.isDeleted && !draft.hasChanges)
            draft.undo()
            #expect(letters.allSatisfy { $0.topic === topic } && letters[0].attachments == [attachment])
            draft.redo()
            #expect(letters.allSatisfy(\.isDeleted) && attachment.isDeleted && !draft.hasChanges)
            #expect(try await draft.save().save == SaveReport())
            #expect(try container.main.count(Letter.self) == 3)
        }
    }

    /// The passport needs its holder.
    @Test func nothingIsLeftThatCannotBeSaved() async throws {
        try await withTopic { container, _, draft in
            let person = try draft.context.insert(Person.self)
            person.key = "p"
            let passport = try draft.context.insert(Passport.self)
            passport.key = "p"
            passport.holder = person
            try draft.context.delete(person)
            try draft.validate()
            #expect(try await draft.save().save == SaveReport())
            #expect(passport.isDeleted)
            #expect(try container.main.count(Passport.self) == 0)
        }
    }

    @Test func deletingAStoredObjectDeletesWhatTheDraftHasAddedToIt() async throws {
        try await withTopic { container, _, draft in
            let new = try insertLetter("x", draft.object, in: draft)
            let moved = try draft.context.insert(Topic.self)
            moved.key = "moved"
            try draft.context.knownLetter("b").topic = moved
            try draft.context.delete(draft.object)
            #expect(new.isDeleted)
            #expect(try draft.context.fetch(Letter.self).map(\.key) == ["b"])
            #expect(try draft.context.count(Attachment.self) == 0)
            let report = try await draft.save()
            #expect(report.save == SaveReport(inserted: 1, updated: 1, deleted: 5))
            #expect(try container.main.fetch(Letter.self).map(\.key) == ["b"])
            #expect(try container.main.count(Attachment.self) == 0)
        }
    }

    @Test func aStoredObjectThatWasMovedToANewOneLosesItsLinkWithIt() async throws {
        try await withTopic { container, _, draft in
            let topic = try draft.context.insert(Topic.self)
            topic.key = "new"
            let letter = try draft.context.knownLetter("a")
            letter.topic = topic
            try draft.context.delete(topic)
            #expect(!letter.isDeleted && letter.topic == nil)
            try await draft.save()
            #expect(try container.main.fetch(Letter.self).map { $0.topic?.key } == [nil, "t", "t"])
            #expect(try container.main.count(Attachment.self) == 2)
        }
    }

    @Test(arguments: [true, false])
    func editsOfOthersToCascadedObjectsAreConflicts(isKept: Bool) async throws {
        try await withTopic { container, source, draft in
            try draft.context.delete(draft.object)
            try await source.perform { context in
                try context.letter("a").subject = "theirs"
                try context.letter("d").topic = try context.topic("t")
                try context.attachment("1").key = "one"
            }
            let conflicts = try draft.conflicts()
            #expect(conflicts.map(\.kind) == [.deletedHere, .deletedHere, .deletedHere])
            #expect(Set(conflicts.map(\.objectID.entityName)) == ["Letter", "Attachment"])
            let error = await expectError(.draftConflict) { try await draft.save() }
            #expect(error?.failures.count == 3)
            #expect(try container.main.count(Letter.self) == 4)
            let report = try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            #expect(report.conflicts.map(\.choice) == Array(repeating: isKept ? .mine : .theirs, count: 3))
            #expect(try container.main.count(Letter.self) == (isKept ? 0 : 4))
            #expect(try container.main.count(Attachment.self) == (isKept ? 0 : 2))
            #expect(try container.main.count(Topic.self) == (isKept ? 1 : 2))
            #expect(draft.object.isDeleted == isKept && !draft.hasChanges)
            #expect(try draft.context.count(Letter.self) == (isKept ? 0 : 4))
        }
    }

    /// Who keeps an object keeps everything whose cascades would delete it.
    @Test func aKeptObjectKeepsEverythingThatCascadesToIt() async throws {
        try await withTopic { container, source, draft in
            try draft.context.delete(draft.object)
            try await source.perform { try $0.attachment("1").key = "one" }
            let conflicts = try draft.conflicts()
            #expect(conflicts.map(\.objectID.entityName) == ["Attachment"])
            try await draft.save(resolving: .takeTheirs)
            #expect(try container.main.fetch(Topic.self).map(\.key).sorted() == ["t", "u"])
            #expect(try container.main.fetch(Letter.self).map(\.key).sorted() == ["a", "b", "c"])
            #expect(try container.main.count(Attachment.self) == 2)
        }
    }

    @Test func aPlaceThatOthersChangeIsNoEditOfWhatIsDeleted() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                try context.letter("a").attachments = try ["1", "2", "3"].map(context.attachment)
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            try draft.context.delete(draft.object.attachments[2])
            try await source.perform { try $0.letter("a").attachments = try ["3", "2", "1"].map($0.attachment) }
            #expect(try draft.conflicts().isEmpty)
            try await draft.save()
            #expect(try container.main.knownLetter("a").attachments.map(\.key) == ["2", "1"])
        }
    }

    @Test func anObjectThatOthersMoveIntoACascadeIsAConflict() async throws {
        try await withTopic { container, source, draft in
            try await source.perform { try $0.letter("d").topic = try $0.topic("u") }
            let letter = try draft.context.knownLetter("d")
            letter.subject = "mine"
            try draft.context.delete(draft.object)
            try await source.perform { try $0.letter("d").topic = try $0.topic("t") }
            #expect(try draft.conflicts().map(\.objectID) == [letter.objectID])
            await expectError(.draftConflict) { try await draft.save() }
            try await draft.save(resolving: .takeTheirs)
            #expect(try container.main.count(Letter.self) == 4)
            #expect(try container.main.knownLetter("d").subject == "mine")
        }
    }

    @Test(arguments: [true, false])
    func anObjectThatOthersMoveOutOfACascadeIsAConflict(isKept: Bool) async throws {
        try await withTopic { container, source, draft in
            try draft.context.delete(draft.object)
            try await source.perform { try $0.letter("a").topic = try $0.topic("u") }
            #expect(try draft.conflicts().map(\.kind) == [.deletedHere])
            try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            #expect(try container.main.fetch(Letter.self).map(\.key) == (isKept ? [] : ["a"]))
            #expect(try container.main.fetch(Topic.self).map(\.key) == ["u"])
        }
    }

    @Test func aConflictAboutTheRootKeepsWhatItsCascadeReaches() async throws {
        try await withTopic { container, source, draft in
            try draft.context.delete(draft.object)
            try await source.perform { try $0.topic("t").title = "theirs" }
            try await draft.save(resolving: .takeTheirs)
            #expect(try container.main.count(Letter.self) == 3)
            #expect(try draft.context.count(Letter.self) == 3)
            #expect(try container.main.count(Attachment.self) == 2)
            #expect(!draft.object.isDeleted && draft.object.title == "theirs" && !draft.hasChanges)
        }
    }

    @Test func aCascadeOverEntitiesThatNobodyOwnsIsSaved() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { _, source in
            try await source.perform { context in
                try context.letter("a").topic = try context.topic("t")
                try context.letter("a").attachments = [try context.attachment("1")]
            }
        }
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let topics = try container.dataSource(TopicDataSource.self)
        let draft = try topics.draft(of: container.main.knownTopic("t"))
        try draft.context.delete(draft.object)
        try draft.validate()
        try await draft.save()
        #expect(try container.main.count(Topic.self) == 0 && container.main.count(Letter.self) == 0)
        #expect(try container.main.count(Attachment.self) == 0)
        try await container.close()
    }

    @Test func aDenyRuleIsKnownBeforeTheSave() async throws {
        try await withTopic { container, source, draft in
            try await source.perform { context in
                try context.letter("a").author = try context.person("p")
            }
            let person = try #require(try draft.context.first(Person.self))
            try draft.context.delete(person)
            let error = expectError(.deletionDenied) { try draft.validate() }
            #expect(error?.attributeName == "letters")
            await expectError(.deletionDenied) { try await draft.save() }
            #expect(person.isDeleted && draft.hasChanges)
            // Moved away, so that nothing denies it.
            try draft.context.knownLetter("a").author = nil
            try draft.validate()
            #expect(try draft.context.knownLetter("a").author == nil)
            try await draft.save()
            #expect(try container.main.count(Person.self) == 0)
        }
    }

    @Test func aDenyRuleHoldsForNewObjects() async throws {
        try await withTopic { container, _, draft in
            let person = try draft.context.insert(Person.self)
            person.key = "p"
            let letter = try insertLetter("x", draft.object, in: draft)
            letter.author = person
            try draft.context.delete(person)
            expectError(.deletionDenied) { try draft.validate() }
            await expectError(.deletionDenied) { try await draft.save() }
            draft.undo()
            try draft.validate()
            #expect(letter.author === person)
            draft.redo()
            try draft.context.delete(letter)
            try draft.validate()
            #expect(try await draft.save().save == SaveReport())
            #expect(try container.main.count(Person.self) == 0)
        }
    }

    /// The validation tries the rules on the draft, and must leave nothing of that.
    @Test func validatingChangesNothing() async throws {
        try await withTopic { container, source, draft in
            try await source.perform { context in
                let person = try context.person("p")
                person.spouse = try context.person("q")
                try context.letter("a").readBy = person
            }
            let person = try #require(try draft.context.first(Person.self, where: \.key, equals: "p"))
            let letter = try draft.context.knownLetter("a")
            try draft.context.delete(person)
            try draft.validate()
            #expect(!letter.hasChanges && draft.canUndo)
            draft.undo()
            #expect(letter.readBy === person && person.spouse?.key == "q" && !draft.hasChanges && !draft.canUndo)
            draft.redo()
            try await draft.save()
            #expect(try container.main.knownLetter("a").readBy == nil)
        }
    }
}
