import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

extension MailMessage {
    /// Properties of the app's own, which follow relationships where nobody sees it from outside.
    fileprivate var loudThread: String { thread?.title?.uppercased() ?? "NONE" }
    fileprivate var tagCount: Int { tags.count }
    /// One that needs nothing but the object's own attributes.
    fileprivate var loudSubject: String { subject?.uppercased() ?? "NONE" }
}

extension MailThread {
    fileprivate var shout: String { title?.uppercased() ?? "NONE" }
    fileprivate var replyCount: Int { messages.ids.count }
}

/// The objects of a list's predicate, and of a computed section, are made from rows alone. A property that follows a relationship
/// would find none, so it is refused wherever a list is made.
@MainActor
struct ObjectListTests {
    private func withMail(
        rows: Bool = true, _ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void
    ) async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            if rows { try await insert(mail) }
            try await body(container, mail)
        }
    }

    private func insert(_ mail: MailDataSource) async throws {
        try await mail.perform { context in
            let thread = try context.insert(MailThread.self)
            thread.title = "red"
            for subject in ["a", "b"] {
                let message = try context.insert(MailMessage.self)
                message.subject = subject
                if subject == "a" { message.thread = thread }
            }
        }
    }

    /// Predicates in which the relationship can be seen.
    private static let visible: [Predicate<MailMessage>] = [
        #Predicate { $0.thread?.shout == "RED" },
        #Predicate { !($0.thread?.shout == "RED") },
        #Predicate { $0.loudSubject == "A" && $0.thread?.shout == "RED" },
        #Predicate { $0.replies.contains { $0.loudSubject == "A" } },
    ]

    /// Predicates in which a property hides it.
    private static let hidden: [Predicate<MailMessage>] = [
        #Predicate { $0.loudThread == "RED" }, #Predicate { !($0.loudThread == "RED") },
        #Predicate { $0.tagCount == 0 },
    ]

    private func expectRefused(_ request: ObjectRequest<MailMessage>, _ mail: MailDataSource) async throws {
        let registering = expectError(.unsupportedQuery) {
            try mail.register(RecordingDelegate(), dataKey: "list", request)
        }
        let observing = expectError(.unsupportedQuery) { try mail.list(request) }
        let late = await expectError(.unsupportedQuery) {
            try await mail.registerOffMain(RecordingDelegate(), dataKey: "list", request)
        }
        var updates = mail.updates(request).makeAsyncIterator()
        let update = try #require(await updates.next())
        #expect(update.reason.kind == .failure)
        for error in [registering, observing, late, update.reason.failure] {
            #expect(error?.code == .unsupportedQuery)
            #expect(error?.message.contains("relationship") == true)
            #expect(error?.entityName == "Message")
        }
    }

    @Test(arguments: [true, false])
    func aPredicateWhoseRelationshipsCanBeSeenIsRefusedEvenIfThereAreNoRows(rows: Bool) async throws {
        try await withMail(rows: rows) { _, mail in
            for predicate in Self.visible {
                try await expectRefused(ObjectRequest(where: FetchPredicate(predicate)), mail)
            }
        }
    }

    @Test func aPredicateWhoseRelationshipsAreHiddenIsRefusedOnceARowIsTested() async throws {
        try await withMail { _, mail in
            for predicate in Self.hidden {
                try await expectRefused(ObjectRequest(where: FetchPredicate(predicate)), mail)
            }
        }
    }

    @Test func aSecondLoopOverAListThatCannotBeReadIsToldToo() async throws {
        try await withMail { _, mail in
            let request = ObjectRequest<MailMessage>(where: FetchPredicate(Self.hidden[0]))
            var first = mail.updates(request).makeAsyncIterator()
            #expect(await first.next()?.reason.failure?.code == .unsupportedQuery)
            var second = mail.updates(request).makeAsyncIterator()
            #expect(await second.next()?.reason.failure?.code == .unsupportedQuery)
        }
    }

    @Test func aListIsRefusedWhenASaveBringsItsFirstRow() async throws {
        try await withMail(rows: false) { container, mail in
            let request = ObjectRequest<MailMessage>(where: FetchPredicate(Self.hidden[0]))
            let delegate = RecordingDelegate()
            try mail.register(delegate, dataKey: "list", request)
            let list = try mail.list(request)
            try await insert(mail)
            await container.mainTier.waitForLists()
            for reason in [mail.lastUpdateReason(dataKey: "list"), list.lastUpdateReason] {
                #expect(reason?.kind == .failure)
                #expect(reason?.failure?.code == .unsupportedQuery)
            }
        }
    }

    @Test func aPredicateThatNeedsOnlyTheObjectsAttributesIsFollowed() async throws {
        try await withMail { container, mail in
            let predicate = FetchPredicate(#Predicate<MailMessage> { $0.loudSubject == "A" })
            #expect(predicate.needsObjects != nil)
            let list = try mail.list(ObjectRequest(where: predicate))
            #expect(list.count == 1)
            try await mail.perform { try $0.first(MailMessage.self, where: \.subject, equals: "b")?.subject = "a" }
            await container.mainTier.waitForLists()
            #expect(list.count == 2)
        }
    }

    @Test func aComputedSectionThatFollowsARelationshipIsRefused() async throws {
        try await withMail { _, mail in
            let request = ObjectRequest(MailMessage.self)
            for section in [\MailMessage.loudThread as PartialKeyPath<MailMessage>, \.tagCount, \.thread?.shout] {
                let registering = expectError(.unsupportedQuery) {
                    try mail.register(RecordingDelegate(), dataKey: "list", request, sectionBy: section)
                }
                let observing = expectError(.unsupportedQuery) { try mail.list(request, sectionBy: section) }
                var updates = mail.updates(request, sectionBy: section).makeAsyncIterator()
                let update = try #require(await updates.next())
                for error in [registering, observing, update.reason.failure] {
                    #expect(error?.code == .unsupportedQuery)
                    #expect(error?.message.contains("relationship") == true)
                }
            }
            let loud = try mail.list(request, sectionBy: \.loudSubject)
            #expect(loud.sections.map(\.name) == ["A", "B"])
        }
    }

    /// A save changes too few rows to be merged elsewhere.
    @Test func aComputedSectionThatFollowsARelationshipIsRefusedAfterASaveToo() async throws {
        try await withMail(rows: false) { container, mail in
            let list = try mail.list(ObjectRequest(MailMessage.self), sectionBy: \.loudThread)
            try await insert(mail)
            await container.mainTier.waitForLists()
            #expect(list.lastUpdateReason.kind == .failure)
            #expect(list.lastUpdateReason.failure?.code == .unsupportedQuery)
            #expect(list.count == 0)
        }
    }

    @Test func theIdsOfRelatedObjectsAreARelationshipToo() async throws {
        try await withMail { _, mail in
            let predicate = FetchPredicate(#Predicate<MailThread> { $0.replyCount == 0 })
            expectError(.unsupportedQuery) { try mail.list(ObjectRequest(where: predicate)) }
        }
    }

    /// A fetch has a context in which relationships are read.
    @Test func aFetchWithSuchAPredicateFindsTheObjects() async throws {
        try await withMail { _, mail in
            for predicate in [Self.visible[0], Self.hidden[0]] {
                let request = ObjectRequest<MailMessage>(where: FetchPredicate(predicate))
                let found = try mail.main.fetch(request)
                #expect(found.map(\.subject) == ["a"])
            }
        }
    }
}
