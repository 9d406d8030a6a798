import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Links that a draft and others change.
@MainActor @Suite struct DraftLinkTests {
    @Test func aToManyIsMergedByElement() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                for key in ["a", "b", "c"] { try context.letter(key).topic = topic }
                for key in ["x", "y"] { _ = try context.letter(key) }
                try context.letter("a").labels.set(try ["1", "2"].map(context.label))
                _ = try context.label("3")
            }
            let draft = try source.draft(of: container.main.knownTopic("t"))
            draft.object.letters.remove(try draft.context.knownLetter("a"))
            draft.object.letters.insert(try draft.context.knownLetter("x"))
            let a = try draft.context.knownLetter("a")
            a.labels.remove(try #require(try draft.context.first(Label.self, where: \.key, equals: "1")))
            a.labels.insert(try #require(try draft.context.first(Label.self, where: \.key, equals: "3")))
            try await source.perform { context in
                let topic = try context.topic("t")
                topic.letters.remove(try context.letter("b"))
                topic.letters.insert(try context.letter("y"))
                try context.letter("a").labels.remove(try context.label("2"))
                try context.letter("a").labels.insert(try context.label("3"))
            }
            let report = try await draft.save()
            #expect(report.conflicts.isEmpty)
            let topic = try container.main.knownTopic("t")
            #expect(topic.letters.map(\.key).sorted() == ["c", "x", "y"])
            #expect(try container.main.knownLetter("a").labels.map(\.key) == ["3"])
            #expect(draft.object.letters.map(\.key).sorted() == ["c", "x", "y"])
            #expect(a.labels.map(\.key) == ["3"] && !draft.hasChanges)
        }
    }

    @Test(arguments: [true, false])
    func anElementThatBothMoveIsAConflict(isKept: Bool) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for key in ["1", "2", "3"] { _ = try context.topic(key) }
                try context.letter("a").topic = try context.topic("1")
            }
            let draft = try source.draft(of: container.main.knownTopic("2"))
            draft.object.letters.insert(try draft.context.knownLetter("a"))
            try await source.perform { try $0.letter("a").topic = try $0.topic("3") }
            let conflict = try #require(try draft.conflicts().first)
            let ids = try ["1", "2", "3"].map { try container.main.knownTopic($0).objectID }
            #expect(conflict.propertyName == "topic" && conflict.kind == .relationship)
            #expect([conflict.base, conflict.mine, conflict.theirs].map { $0 as? ManagedObjectID } == ids)
            try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            #expect(try container.main.knownLetter("a").topic?.key == (isKept ? "2" : "3"))
            #expect(draft.object.letters.count == (isKept ? 1 : 0))
        }
    }

    @Test(arguments: [true, false])
    func aPartnerThatOthersTookIsAConflict(isKept: Bool) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let passport = try context.insert(Passport.self)
                passport.key = "p"
                passport.holder = try context.person("a")
                for key in ["b", "c"] { _ = try context.person(key) }
            }
            let b = try #require(try container.main.first(Person.self, where: \.key, equals: "b"))
            let draft = try source.draft(of: b)
            draft.object.passport = try draft.context.first(Passport.self)
            try await source.perform { context in
                try context.person("c").passport = try context.first(Passport.self)
            }
            #expect(try draft.conflicts().count == 1)
            try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            let passport = try #require(try container.main.first(Passport.self))
            #expect(passport.holder?.key == (isKept ? "b" : "c"))
            #expect((draft.object.passport == nil) == !isKept)
        }
    }

    /// Both give the same person a passport, each another one.
    @Test(arguments: [true, false])
    func aPlaceThatOthersTookIsAConflict(isKept: Bool) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for key in ["1", "2"] {
                    let passport = try context.insert(Passport.self)
                    passport.key = key
                    passport.holder = try context.person("other \(key)")
                }
                _ = try context.person("a")
            }
            let mine = try #require(try container.main.first(Passport.self, where: \.key, equals: "1"))
            let draft = try source.draft(of: mine)
            draft.object.holder = try draft.context.first(Person.self, where: \.key, equals: "a")
            let spare = try draft.context.insert(Passport.self)
            spare.key = "spare"
            spare.holder = try draft.context.first(Person.self, where: \.key, equals: "other 1")
            try await source.perform { context in
                let passport = try context.first(Passport.self, where: \.key, equals: "2")
                passport?.holder = try context.person("a")
                let new = try context.insert(Passport.self)
                new.key = "3"
                new.holder = try context.person("other 2")
            }
            let conflicts = try draft.conflicts()
            #expect(conflicts.map(\.propertyName) == ["passport"])
            #expect(conflicts.first?.mine as? ManagedObjectID == draft.object.objectID)
            guard !isKept else {
                // The passport that loses its holder needs one.
                let error = await expectError(.validationFailed) { try await draft.save(resolving: .keepMine) }
                #expect(error?.attributeName == "holder")
                return
            }
            spare.holder = nil
            try draft.context.delete(spare)
            try await draft.save(resolving: .takeTheirs)
            #expect(mine.holder?.key == "other 1")
        }
    }

    /// Each person has one spouse, whoever sets it.
    @Test(arguments: [true, false])
    func aSymmetricLinkIsKeptOrDroppedOnBothSides(isKept: Bool) async throws {
        try await withGraph { container, source in
            try await source.perform { context in for key in ["a", "b", "c"] { _ = try context.person(key) } }
            let a = try #require(try container.main.first(Person.self, where: \.key, equals: "a"))
            let draft = try source.draft(of: a)
            draft.object.spouse = try draft.context.first(Person.self, where: \.key, equals: "b")
            try await source.perform { try $0.person("c").spouse = try $0.person("a") }
            #expect(try draft.conflicts().count == 1)
            try await draft.save(resolving: isKept ? .keepMine : .takeTheirs)
            let persons = try container.main.fetch(Person.self, order: [.ascending(\.key)])
            #expect(persons.map { $0.spouse?.key } == (isKept ? ["b", "a", nil] : ["c", nil, "a"]))
            #expect(draft.object.spouse?.key == (isKept ? "b" : "c"))
        }
    }

    @Test func linksOfObjectsThatOthersDeletedAreConflicts() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                _ = try (context.letter("a"), context.topic("t"), context.label("l"))
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.topic = try draft.context.first(Topic.self)
            draft.object.labels.insert(try #require(try draft.context.first(Label.self)))
            draft.object.subject = "mine"
            try await source.perform { context in
                try context.delete(Topic.self, where: nil)
                try context.delete(Label.self, where: nil)
            }
            #expect(try draft.conflicts().compactMap(\.propertyName) == ["topic", "letters"])
            await expectError(.objectGone) { try await draft.save(resolving: .keepMine) }
            #expect(try await draft.save(resolving: .takeTheirs).save == SaveReport(updated: 1))
            let letter = try container.main.knownLetter("a")
            #expect(letter.subject == "mine" && letter.topic == nil && letter.labels.isEmpty)
            #expect(draft.object.topic == nil && draft.object.labels.isEmpty)
        }
    }

    @Test func anOrderIsMergedAsOneField() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.attachments = try ["1", "2", "3", "4"].map(context.attachment)
            }
            let draft = try source.draft(of: container.main.knownLetter("a"))
            draft.object.attachments.swapAt(0, 1)
            let new = try draft.context.insert(Attachment.self)
            new.key = "new"
            draft.object.attachments.insert(new, at: 1)
            #expect(draft.object.attachments.map(\.key) == ["2", "new", "1", "3", "4"])
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.attachments.append(try context.attachment("5"))
                context.delete(try context.attachment("3"))
            }
            #expect(try draft.conflicts().isEmpty)
            try await draft.save()
            let letter = try container.main.knownLetter("a")
            #expect(letter.attachments.map(\.key) == ["2", "new", "1", "4", "5"])

            draft.object.attachments.swapAt(0, 1)
            try await source.perform { try $0.letter("a").attachments.swapAt(3, 4) }
            let conflict = try #require(try draft.conflicts().first)
            #expect(conflict.kind == .order && conflict.propertyName == "attachments")
            #expect((conflict.mine as? [ManagedObjectID])?.count == 5)
            try await draft.save(resolving: .takeTheirs)
            #expect(letter.attachments.map(\.key) == ["2", "new", "1", "5", "4"])
            #expect(draft.object.attachments.map(\.key) == ["2", "new", "1", "5", "4"])
        }
    }

    @Test func anElementOfTwoOrdersIsPutAtTheEndOfBoth() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for key in ["1", "2"] { try context.tour("t").stops.append(context.station(key)) }
                for key in ["u", "v"] { try context.station("s").tours.append(context.tour(key)) }
            }
            let draft = try source.draft(inserting: Letter.self)
            draft.object.key = "a"
            let tour = try #require(try draft.context.first(Tour.self, where: \.key, equals: "t"))
            let station = try #require(try draft.context.first(Station.self, where: \.key, equals: "s"))
            tour.stops.append(station)
            try await draft.save()
            let saved = try #require(try container.main.first(Tour.self, where: \.key, equals: "t"))
            #expect(saved.stops.map(\.key) == ["1", "2", "s"])
            let other = try #require(try container.main.first(Station.self, where: \.key, equals: "s"))
            #expect(other.tours.map(\.key) == ["u", "v", "t"])
        }
    }

    @Test func anOrderOfManyToManyLinksIsMerged() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                try context.label("l").letters = try ["a", "b", "c"].map(context.letter)
                _ = try context.letter("d")
            }
            let label = try #require(try container.main.first(Label.self))
            let draft = try source.draft(of: label)
            draft.object.letters.reverse()
            try await source.perform { context in try context.letter("d").labels.insert(try context.label("l")) }
            // The draft shows what others have added, and at which end.
            #expect(draft.object.letters.map(\.key) == ["c", "b", "a", "d"])
            try await draft.save()
            #expect(label.letters.map(\.key) == ["c", "b", "a", "d"])
            #expect(draft.object.letters.map(\.key) == label.letters.map(\.key))
        }
    }
}
