import CoreDataSource
import Foundation
import Observation
import FrameworkNames
import Testing

/// The examples in comments that need classes written by hand.
@MainActor
struct MailSnippets {
    /// A thread with two of three messages, of which one has two attachments.
    private func withMail(_ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void) async throws {
        let container = try await PersistentContainer(model: .mail, store: .inMemory)
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { context in
            let thread = try context.insert(ThreadEntity.self)
            thread.title = "Oath"
            for (index, subject) in ["Garden", "Oath", "Single"].enumerated() {
                let message = try context.insert(MessageEntity.self)
                message.subject = subject
                message.size = Int64(2000 * index)
                message.date = Date(timeIntervalSinceReferenceDate: Double(index))
                if subject != "Single" { thread.messages.insert(message) }
            }
            let attachments = try ["Peach", "Plum"].map { name in
                let attachment = try context.insert(AttachmentEntity.self)
                attachment.name = name
                attachment.size = name == "Peach" ? 2_000_000 : 1
                return attachment
            }
            try context.first(MessageEntity.self, where: \.subject == "Oath")?.attachments = attachments
        }
        try await body(container, mail)
        try await container.close()
    }

    @Test func columnsAreReadByTheirIndexes() async throws {
        try await withMail { _, mail in
            try await mail.perform { context in
                let message = try context.fetch(MessageEntity.self)[0]
                #expect(!message.hasPriority)
                message.priority = 1
                message.labels = ["private"]
                #expect(message.hasPriority)
                message.forgetPriority()
                #expect(message.priority == nil && message.labels == ["private"])
            }
            #expect(try mail.fetch(ThreadEntity.self).map(\.messageCount) == [2])
            #expect("\(openTasks)".contains("state"))
        }
    }

    @Test func aBadgeFollowsUnreadMessages() async throws {
        try await withMail { _, mail in
            let unread = try mail.liveAggregate(
                ObjectRequest(MessageEntity.self, where: \.isRead == false), .count())
            print(unread.value)  // 2
            #expect(try unread.value == mail.count(MessageEntity.self, where: \.isRead == false))
            let loop = Task {
                for await count in Observations({ unread.value }) {
                    print("\(count) unread")
                }
            }
            loop.cancel()
            await loop.value
        }
        try await withMail { _, mail in
            let unread = try mail.liveAggregate(
                ObjectRequest(MessageEntity.self, where: \.isRead == false),
                groupBy: \.priority, .count())
            print(unread.value[1] ?? 0)
            #expect(unread.value.values.reduce(0, +) > 0)
        }
        try await withMail { _, mail in
            let thread = try #require(try mail.main.fetch(ThreadEntity.self).first)
            let sizes = try mail.liveAggregate(
                ObjectRequest<MessageEntity>(), groupBy: \.thread, .sum(\.size))
            print(sizes.value[thread.objectID] ?? 0)
            let context: ManagedObjectContext = mail.main
            let groups = try { () throws -> Int in
                let sizes = try context.aggregate(
                    ObjectRequest<MessageEntity>(), groupBy: \.thread, .sum(\.size))
                for (thread, size) in sizes {
                    print(thread?.description ?? "no thread", size)
                }
                return sizes.count
            }()
            #expect(groups == 2 && sizes.value.count == 2)
        }
    }

    @Test func aSectionHasItsThread() async throws {
        try await withMail { _, mail in
            var request = ObjectRequest<MessageEntity>()
            request.sections = .by(\.thread)
            let list = try mail.list(request)
            let section = try #require(list.sections.last)
            let thread = try section.objectID.flatMap {
                try mail.main.object(ThreadEntity.self, id: $0)
            }
            #expect(thread?.title == "Oath")
        }
    }

    @Test func aSearchMakesNewLists() async throws {
        try await withMail { _, mail in
            @MainActor func search(_ text: String) throws -> LiveList<MessageEntity> {
                let found: FetchPredicate<MessageEntity> = .contains(
                    \.subject, text, [.caseInsensitive, .diacriticInsensitive])
                return try mail.list(
                    ObjectRequest(where: found, order: [.descending(\.date)], limit: 50))
            }
            let (found, none) = (try search("OATH"), try search("nothing of that"))
            #expect(found.count == 1 && none.count == 0)
        }
    }

    @Test func aListHasSectionsByDays() async throws {
        try await withMail { _, mail in
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            var request = ObjectRequest(MessageEntity.self, order: [.descending(\.date)])
            request.sections = .days(of: \.date, in: calendar)
            let list = try mail.list(request)
            for section in list.sections {
                print(section.name, section.numberOfObjects)  // 2026-11-28 2
            }
            #expect(list.sections.map(\.numberOfObjects).reduce(0, +) == list.count)
            let section = list.sections[0]
            let isToday = section.interval?.contains(.now) ?? false
            #expect(isToday == section.interval?.contains(Date()))
        }
    }

    @Test func everyKindOfSectionsDividesAList() async throws {
        let swedish = FetchCollation {
            $0.compare($1, locale: Locale(identifier: "sv"))
        }
        try await withMail { _, mail in
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            var request = ObjectRequest(MessageEntity.self, order: [.ascending(\.date)])
            @MainActor func check() throws {
                let list = try mail.list(request)
                #expect(list.sections.map(\.numberOfObjects).reduce(0, +) == list.count)
            }
            request.sections = .by(\.isRead, isAscending: false)
            try check()
            request.sections = .weeks(of: \.date, in: calendar)
            try check()
            request.sections = .months(of: \.date, in: calendar)
            try check()
            request.sections = .firstLetters(of: \.subject, swedish)
            try check()
        }
    }

    @Test func predicatesFollowRelationships() async throws {
        try await withMail { _, mail in
            let threads = try mail.fetch(ThreadEntity.self, where: .any(\.messages, \.isRead == false && \.size > 1000))
            #expect(threads.map(\.title) == ["Oath"])
            let found = try mail.fetch(MessageEntity.self, where: .isIn(\.thread, threads.map(\.objectID)))
            #expect(found.map(\.subject) == ["Garden", "Oath"])
            let same = threads
            do {
                let threads = same
                let found = try mail.fetch(
                    ThreadEntity.self, where: .isIn(\.objectID, threads.map(\.objectID)), order: [.ascending(\.title)])
                #expect(found.map(\.title) == ["Oath"])
            }
            let message = try #require(found.last)
            do {
                let thread = try mail.fetch(ThreadEntity.self, where: .contains(\.messages, message))
                #expect(thread.map(\.title) == ["Oath"])
            }
            let attachment = try #require(message.attachments.first)
            do {
                let message = try mail.fetch(MessageEntity.self, where: .contains(\.attachments, attachment))
                #expect(message.map(\.subject) == ["Oath"])
            }
            let large: FetchPredicate<MessageEntity> = .any(\.attachments, \.size > 1_000_000)
            let small: FetchPredicate<MessageEntity> = .all(\.attachments, \.size < 1_000_000)
            let plain: FetchPredicate<MessageEntity> = .none(\.attachments)
            let subjects = try [large, small, plain].map {
                try mail.fetch(MessageEntity.self, where: $0).map(\.subject)
            }
            #expect(subjects == [["Oath"], ["Garden", "Single"], ["Garden", "Single"]])
        }
    }

    @Test func groupsAreCheckedForAllAndForNone() {
        let grown: FetchPredicate<GroupEntity> = .all(\.members, \.age >= 18)
        let empty: FetchPredicate<GroupEntity> = .none(\.members)
        #expect(grown != empty)
    }

    @Test func anIDIsCompared() async throws {
        try await withMail { _, mail in
            let thread = try #require(try mail.fetch(ThreadEntity.self).first)
            let message = try #require(try mail.fetch(MessageEntity.self, where: \.thread == thread).first)
            let found = try mail.fetch(MessageEntity.self, where: \.objectID == message.objectID)
            #expect(found.count == 1)
        }
    }

    @Test func aRelationshipIsComparedWithAnID() async throws {
        try await withMail { _, mail in
            let thread = try #require(try mail.fetch(ThreadEntity.self).first)
            let messages = try mail.fetch(MessageEntity.self, where: \.thread == thread.objectID)
            let others = try mail.fetch(MessageEntity.self, where: \.thread != thread.objectID)
            #expect(messages.count == 2 && others.map(\.subject) == ["Single"])
        }
    }

    @Test func aRelationshipIsComparedWithAnObject() async throws {
        try await withMail { _, mail in
            let thread = try #require(try mail.fetch(ThreadEntity.self).first)
            let messages = try mail.fetch(MessageEntity.self, where: \.thread == thread)
            let others = try mail.fetch(MessageEntity.self, where: \.thread != thread)
            #expect(messages.count == 2 && others.map(\.subject) == ["Single"])
            let single = try mail.fetch(MessageEntity.self, where: \.thread == nil)
            let inThreads = try mail.fetch(MessageEntity.self, where: \.thread != nil)
            #expect(single == others && inThreads == messages)
        }
    }

    @Test func theObjectsOfARelationshipAreRequested() async throws {
        try await withMail { _, mail in
            let thread = try #require(try mail.fetch(ThreadEntity.self).first)
            let message = try #require(try mail.fetch(MessageEntity.self, where: \.subject == "Oath").first)
            let large = ObjectRequest(message, \.attachments, where: \.size > 1_000_000, order: [.ascending(\.name)])
            #expect(try mail.fetch(large).map(\.name) == ["Peach"])
            let loop = Task {
                let unread = ObjectRequest(thread, \.messages, where: \.isRead == false, order: [.descending(\.date)])
                for await update in mail.updates(unread) { print(update.snapshot.count) }
            }
            loop.cancel()
            await loop.value
        }
    }

    @Test func aSetOfObjectsIsChanged() async throws {
        try await withMail { _, mail in
            try await mail.perform { context in
                let thread = try context.fetch(ThreadEntity.self)[0]
                let message = try context.fetch(MessageEntity.self, where: \.subject == "Single")[0]
                thread.messages.insert(message)
                for message in try thread.messages.sorted(by: [.descending(\.date)]) { print(message.subject) }
                print(thread.messages.count)
                #expect(thread.messages.count == 3)
                if thread.messages.contains(message) { print(message.subject) }
                for message in thread.messages { print(message.subject) }
                let threads = try context.values(
                    ObjectRequest<ThreadEntity>(), \.title, \.messages.count, \.messages[max: \.date])
                #expect(threads.map(\.0) == ["Oath"] && threads.map(\.1) == [3])
                thread.messages.removeAll()
                #expect(thread.messages.isEmpty)
                thread.messages.set(try context.fetch(MessageEntity.self, where: \.subject == "Oath"))
            }
            #expect(try mail.fetch(ThreadEntity.self).map { $0.messages.map(\.subject) } == [["Oath"]])
        }
    }
}
