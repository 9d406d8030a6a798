import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Aggregates and sections by a to-one relationship: the key is the id of the related object.
@MainActor
struct RelationshipGroupTests {
    private func withMail(
        _ place: StorePlace, _ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void
    ) async throws {
        try await place.withMail { container, mail in
            try await mail.perform { context in
                let (a, b) = (try context.insert(MailThread.self), try context.insert(MailThread.self))
                (a.title, b.title) = ("a", "b")
                let note = try context.insert(MailNote.self)
                (note.subject, note.size) = ("note", 10)
                for (subject, thread, size) in [("a1", a, 1), ("a2", a, 5), ("b1", b, 3), ("c1", nil, 4)] {
                    let message = try context.insert(MailMessage.self)
                    (message.subject, message.thread, message.size) = (subject, thread, Int64(size))
                    if subject == "a2" { message.replyTo = note }
                    if subject == "c1" {
                        message.replyTo = try context.first(MailMessage.self, where: \.subject, equals: "a1")
                    }
                }
            }
            try await body(container, mail)
        }
    }

    private let all = ObjectRequest(MailMessage.self, order: [.ascending(\.subject)])

    private func thread(_ title: String, _ mail: MailDataSource) throws -> ManagedObjectID {
        try #require(try mail.main.first(MailThread.self, where: \.title, equals: title)).objectID
    }

    @Test(arguments: StorePlace.all)
    func theKeyOfAGroupIsTheIDOfTheRelatedObject(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            let (a, b) = (try thread("a", mail), try thread("b", mail))
            let groups = try mail.main.aggregate(all, groupBy: \.thread, .count(), .sum(\.size))
            #expect(groups.map(\.key) == [a, b, nil])
            #expect(groups.map(\.values.0) == [2, 1, 2] && groups.map(\.values.1) == [6, 3, 14])
        }
    }

    @Test(arguments: StorePlace.all)
    func theKeyHasTheObjectsOwnEntity(place: StorePlace) async throws {
        try await withMail(place) { container, mail in
            let note = try #require(try mail.main.first(MailNote.self)).objectID
            let a1 = try #require(try mail.main.first(MailMessage.self, where: \.subject, equals: "a1")).objectID
            let groups = try mail.main.aggregate(all, groupBy: \.replyTo, .count())
            #expect(groups.map(\.key) == [nil, note, a1] && groups.map(\.values) == [3, 1, 1])
            #expect(groups.map { $0.key?.entityName } == [nil, "Note", "Message"])
            let live = try mail.liveAggregate(all, groupBy: \.replyTo, .count())
            #expect(live.value == [nil: 3, note: 1, a1: 1])
            try await mail.perform(waitFor: .main) { context in
                for note in try context.fetch(MailNote.self) { context.delete(note) }
            }
            await container.mainTier.waitForLists()
            #expect(live.value == [nil: 3, a1: 1])
        }
    }

    @Test(arguments: StorePlace.all)
    func groupsFollowTheLinksAndTheirObjects(place: StorePlace) async throws {
        try await withMail(place) { container, mail in
            let (a, b) = (try thread("a", mail), try thread("b", mail))
            let live = try mail.liveAggregate(all, groupBy: \.thread, .count())
            #expect(live.value == [a: 2, b: 1, nil: 2])
            try await mail.perform(waitFor: .main) { context in
                let message = try context.first(MailMessage.self, where: \.subject, equals: "a1")
                message?.thread = try context.first(MailThread.self, where: \.title, equals: "b")
            }
            await container.mainTier.waitForLists()
            #expect(live.value == [a: 1, b: 2, nil: 2])
            try await mail.delete(MailThread.self, where: \.title == "b", waitFor: .main)
            await container.mainTier.waitForLists()
            #expect(live.value == [a: 1, nil: 4])
        }
    }

    /// Unsaved edits count, and the new object has its id already.
    @Test(arguments: StorePlace.local)
    func aBatchGroupsItsOwnEdits(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            let all = all
            let (new, groups) = try await mail.perform { context in
                let thread = try context.insert(MailThread.self)
                for message in try context.fetch(MailMessage.self, where: \.subject == "b1") { message.thread = thread }
                let groups = try context.aggregate(all, groupBy: \.thread, .count())
                return (thread.objectID, groups.map { ($0.key, $0.values) })
            }
            #expect(groups.map(\.0)[1...] == [new, nil] && groups.map(\.1) == [2, 1, 2])
        }
    }

    @Test(arguments: StorePlace.local)
    func linksInTheRowsOfOtherObjectsMakeGroups(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            try await mail.perform { context in
                let (person, card) = (try context.insert(MailPerson.self), try context.insert(MailCard.self))
                (person.card, card.code) = (card, 1)
                _ = try context.insert(MailPerson.self)
                _ = try context.insert(MailCard.self)
            }
            let card = try #require(try mail.main.first(MailCard.self, where: \.code, equals: 1)).objectID
            let person = try #require(try mail.main.fetch(MailPerson.self).first).objectID
            let cards = try mail.main.aggregate(ObjectRequest<MailPerson>(), groupBy: \.card, .count())
            #expect(cards.map(\.key) == [card, nil] && cards.map(\.values) == [1, 1])
            let holders = try mail.main.aggregate(ObjectRequest<MailCard>(), groupBy: \.holder, .count())
            #expect(holders.map(\.key) == [person, nil] && holders.map(\.values) == [1, 1])
        }
    }

    @Test(arguments: StorePlace.all)
    func aSectionHasItsRelatedObject(place: StorePlace) async throws {
        try await withMail(place) { container, mail in
            let (a, b) = (try thread("a", mail), try thread("b", mail))
            var request = all
            request.sections = .by(\.thread)
            let list = try mail.list(request)
            #expect(list.snapshot.sections.map(\.objectID) == [nil, a, b])
            #expect(list.snapshot.sections.map(\.numberOfObjects) == [2, 2, 1])
            #expect(list.snapshot.sections.map(\.name) == ["", "\(a.key)", "\(b.key)"])
            request.sections = .by(\.replyTo, isAscending: false)
            let note = try #require(try mail.main.first(MailNote.self)).objectID
            let a1 = try #require(try mail.main.first(MailMessage.self, where: \.subject, equals: "a1")).objectID
            let answers = try mail.list(request)
            #expect(answers.snapshot.sections.map(\.objectID) == [a1, note, nil])
            try await mail.delete(MailThread.self, where: \.title == "b", waitFor: .main)
            await container.mainTier.waitForLists()
            #expect(list.snapshot.sections.map(\.objectID) == [nil, a])
            request.sections = .by(\.thread?.title)
            #expect(try mail.list(request).snapshot.sections.map(\.objectID) == [nil, nil])
        }
    }

    /// The row of the message does not say of which entity the answered object of another message is.
    @Test func sectionsByADistantObjectOfSeveralEntitiesAreRefused() async throws {
        try await withMail(.memory) { _, mail in
            var request = all
            request.sections = .by(\.replyTo?.replyTo)
            expectError(.unsupportedQuery) { _ = try mail.list(request) }
            let groups = try mail.main.aggregate(all, groupBy: \.replyTo?.replyTo, .count())
            #expect(groups.map(\.key) == [nil])
        }
    }
}
