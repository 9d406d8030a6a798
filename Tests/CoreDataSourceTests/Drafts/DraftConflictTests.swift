import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// What others save between the reading of a draft and its save.
@MainActor @Suite struct DraftConflictTests {
    /// Gives the body a draft of the letter "a", which others have changed since.
    private func withDraft(
        setUp: @Sendable (PrivateContext) throws -> Void = { _ in },
        mine: (Draft<Letter>) throws -> Void, theirs: @Sendable (PrivateContext) throws -> Void,
        _ body: (PersistentContainer, Draft<Letter>) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                try context.letter("a").subject = "old"
                try setUp(context)
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            try mine(draft)
            try await source.perform(theirs)
            try await body(container, draft)
        }
    }

    @Test func differentFieldsAreMerged() async throws {
        try await withDraft {
            $0.object.key = "mine"
        } theirs: {
            try $0.letter("a").subject = "theirs"
        } _: { container, draft in
            #expect(try draft.conflicts().isEmpty)
            let report = try await draft.save()
            #expect(report.merged.map(\.description) == ["\(draft.object.objectID).subject (attribute)"])
            #expect(report.merged[0].theirs as? String == "theirs" && report.merged[0].base as? String == "old")
            let letter = try container.main.knownLetter("mine")
            #expect(letter.subject == "theirs" && draft.object.subject == "theirs")
        }
    }

    @Test func theSameFieldIsAConflictThatTheSaveReports() async throws {
        try await withDraft {
            $0.object.subject = "mine"
        } theirs: {
            try $0.letter("a").subject = "theirs"
        } _: { container, draft in
            let error = await expectError(.draftConflict) { try await draft.save() }
            #expect(error?.attributeName == "subject")
            #expect(draft.object.subject == "mine" && draft.hasChanges)
            #expect(try container.main.knownLetter("a").subject == "theirs")
            let conflict = try #require(try draft.conflicts().first)
            #expect(conflict.base as? String == "old" && conflict.mine as? String == "mine")
            #expect(conflict.theirs as? String == "theirs" && conflict.choice == nil)
            let report = try await draft.save(resolving: .keepMine)
            #expect(report.conflicts.map(\.choice) == [.mine])
            #expect(try container.main.knownLetter("a").subject == "mine")
            #expect(try draft.conflicts().isEmpty)
        }
    }

    @Test func theirValuesAreTakenOnRequest() async throws {
        try await withDraft {
            $0.object.subject = "mine"
            $0.object.key = "b"
        } theirs: {
            try $0.letter("a").subject = "theirs"
        } _: { container, draft in
            let report = try await draft.save(resolving: .takeTheirs)
            #expect(report.conflicts.map(\.choice) == [.theirs])
            #expect(try container.main.knownLetter("b").subject == "theirs")
            #expect(draft.object.subject == "theirs" && !draft.hasChanges)
        }
    }

    @Test func aClosureDecidesEachConflict() async throws {
        try await withDraft {
            $0.object.subject = "mine"
            $0.object.key = "mine"
        } theirs: { context in
            let letter = try context.letter("a")
            letter.subject = "theirs"
            letter.key = "theirs"
        } _: { container, draft in
            await expectThrows(Poison.self) { try await draft.save(resolving: .each { _ in throw Poison() }) }
            #expect(draft.object.subject == "mine")
            let error = await expectError(.draftConflict) { try await draft.save() }
            #expect(error?.failures.map(\.attributeName) == ["key", "subject"])
            try await draft.save(resolving: .each { $0.propertyName == "key" ? .mine : .theirs })
            #expect(try container.main.knownLetter("mine").subject == "theirs")
        }
    }

    @Test func theSameChangeOnBothSidesIsNoConflict() async throws {
        try await withDraft { context in
            try context.letter("a").topic = try context.topic("t")
        } mine: {
            $0.object.subject = "same"
            $0.object.topic = nil
        } theirs: { context in
            let letter = try context.letter("a")
            letter.subject = "same"
            letter.topic = nil
        } _: { _, draft in
            let report = try await draft.save()
            #expect(report.save == SaveReport() && report.conflicts.isEmpty && !draft.hasChanges)
        }
    }

    @Test(arguments: [true, false])
    func anObjectThatOthersDeletedIsAConflict(isKept: Bool) async throws {
        try await withDraft { context in
            try context.letter("a").topic = try context.topic("t")
        } mine: {
            $0.object.subject = "mine"
        } theirs: {
            try $0.delete(Letter.self, where: \.key == "a")
        } _: { container, draft in
            #expect(try draft.conflicts().map(\.kind) == [.deletedByOthers])
            await expectError(.draftConflict) { try await draft.save() }
            try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            let letters = try container.main.fetch(Letter.self)
            #expect(letters.map(\.subject) == (isKept ? ["mine"] : []))
            #expect(letters.map(\.objectID) == (isKept ? [draft.object.objectID] : []))
            #expect(letters.map { $0.topic?.key } == (isKept ? ["t"] : []))
            #expect(draft.object.isDeleted == !isKept)
        }
    }

    /// The passport needs its holder, who is gone with it.
    @Test func anObjectThatNeedsWhatOthersHaveDeletedIsNotInsertedAgain() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.passport("1").holder = try $0.person("p") }
            let draft = try source.draft(of: try #require(try container.main.first(Passport.self)))
            draft.object.key = "mine"
            try await source.delete(Person.self, where: nil)
            let conflict = await expectError(.draftConflict) { try await draft.save() }
            #expect(conflict?.message.contains("keepMine") == false)
            let error = await expectError(.validationFailed) { try await draft.save(resolving: .keepMine) }
            #expect(error?.attributeName == "holder")
            #expect(draft.hasChanges)
            try await draft.save(resolving: .takeTheirs)
            #expect(draft.object.isDeleted && !draft.hasChanges)
        }
    }

    /// A passport's own row stores its holder.
    @Test func anObjectThatIsInsertedAgainHasTheLinksOfItsOwnRow() async throws {
        var model = ManagedObjectModel.graph
        model.change("Person", "passport") { $0.deleteRule = .nullify }
        model.change("Passport", "holder") { $0.isOptional = true }
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let source = try container.dataSource(GraphDataSource.self)
        for isPassport in [true, false] {
            try await source.perform { try $0.passport("1").holder = try $0.person("p") }
            let draft = try source.draft(inserting: Station.self)
            draft.object.key = "\(isPassport)"
            let passport = try #require(try draft.context.first(Passport.self))
            #expect(passport.holder?.key == "p")
            if isPassport { passport.key = "mine" } else { passport.holder?.name = "mine" }
            try await source.perform { context in
                if isPassport {
                    try context.delete(Passport.self, where: nil)
                } else {
                    try context.delete(Person.self, where: nil)
                }
            }
            try await draft.save(resolving: .keepMine)
            let saved = try #require(try container.main.first(Passport.self))
            #expect(saved.holder?.key == (isPassport ? "p" : nil))
            #expect(try container.main.first(Person.self)?.name == (isPassport ? "" : "mine"))
            try await source.perform { context in
                try context.delete(Passport.self, where: nil)
                try context.delete(Person.self, where: nil)
            }
        }
        try await container.close()
    }

    @Test func aReportHasTheAttributesAndLinksThatOnlyOthersHaveChanged() async throws {
        try await withDraft { context in
            _ = try (context.topic("t"), context.label("l"), context.letter("b"))
        } mine: {
            $0.object.subject = "mine"
        } theirs: { context in
            let letter = try context.letter("a")
            letter.topic = try context.topic("t")
            letter.key = "theirs"
            letter.labels.insert(try context.label("l"))
            try context.letter("b").subject = "theirs"
        } _: { container, draft in
            let topic = try container.main.knownTopic("t").objectID
            let merged = try await draft.save().merged
            #expect(
                merged.map(\.propertyName) == ["key", "topic"] && merged.map(\.kind) == [.attribute, .relationship])
            #expect(merged.allSatisfy { $0.objectID == draft.object.objectID && $0.choice == nil })
            #expect(merged[1].base == nil && merged[1].theirs as? ManagedObjectID == topic)
            #expect(draft.object.topic?.key == "t" && draft.object.labels.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func aDeletionOfAnObjectThatOthersEditedIsAConflict(isKept: Bool) async throws {
        try await withDraft { draft in
            try draft.context.delete(draft.object)
        } theirs: {
            try $0.letter("a").subject = "theirs"
        } _: { container, draft in
            #expect(try draft.conflicts().map(\.kind) == [.deletedHere])
            try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            #expect(try container.main.count(Letter.self) == (isKept ? 0 : 1))
            #expect(draft.object.isDeleted == isKept)
            if !isKept { #expect(draft.object.subject == "theirs") }
        }
    }

    @Test func bothSidesMayDeleteTheSameObject() async throws {
        try await withDraft { draft in
            try draft.context.delete(draft.object)
        } theirs: {
            try $0.delete(Letter.self, where: nil)
        } _: { _, draft in
            let report = try await draft.save()
            #expect(report.save == SaveReport() && !draft.hasChanges)
        }
    }

    @Test func conflictsAreLookedForInsideTheSave() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").subject = "old" }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.subject = "mine"
            let resolution = DraftResolution.each { $0.theirs as? String == "theirs" ? .theirs : .mine }
            // The batch that comes first has not ended when the save is asked for.
            let report = try await draft.save(waitingFor: source, resolving: resolution) {
            } others: {
                try $0.letter("a").subject = "theirs"
            }
            #expect(report.conflicts.map(\.choice) == [.theirs])
            #expect(try container.main.knownLetter("a").subject == "theirs")
        }
    }

    @Test func mergedValuesAreValidated() async throws {
        try await withDraft { context in
            let person = try context.person("p")
            for key in ["1", "2"] { try context.insert(Cat.self).key = key }
            for cat in try context.fetch(Cat.self) { cat.keeper = person }
        } mine: { draft in
            let cat = try draft.context.insert(Cat.self)
            cat.key = "mine"
            cat.keeper = try draft.context.first(Person.self)
            #expect(draft.errors(of: cat).isEmpty)
            try draft.validate()
        } theirs: { context in
            let cat = try context.insert(Cat.self)
            cat.key = "theirs"
            cat.keeper = try context.first(Person.self)
        } _: { container, draft in
            let error = await expectError(.validationFailed) { try await draft.save() }
            #expect(error?.attributeName == "animals")
            let count = try container.main.count(Cat.self)
            #expect(count == 3)
        }
    }

    @Test func aResetEndsWhatADraftCanSave() async throws {
        try await withDraft {
            $0.object.subject = "mine"
        } theirs: { _ in
        } _: { container, draft in
            try await container.reset()
            await expectError(.storeReset) { try await draft.save(resolving: .keepMine) }
            #expect(try container.main.count(Letter.self) == 0)
        }
    }
}
