import CoreDataSource
import TestSupport
import Testing

/// Another program can give a message and a note the same key. Each has its own links.
@MainActor @Suite struct EqualOwnerTests {
    private nonisolated static func found(_ subject: String, _ context: ManagedObjectContext) throws -> MailMessage {
        try #require(try context.first(MailMessage.self, where: \.subject, equals: subject))
    }

    /// - Parameter body: Gets a message and a note that have the same key. Each has a tag and an answer.
    private func withEqualOwners(
        _ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .mail, store: .sqlite(directory.store))
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { context in
            for subject in ["message", "to message", "to note"] {
                try context.insert(MailMessage.self).subject = subject
            }
            try context.insert(MailNote.self).subject = "note"
            for name in ["red", "blue"] { try context.insert(MailTag.self).name = name }
        }
        let key = try Self.found("message", container.main).objectID.key
        try RawConnection(directory.store).execute("UPDATE \"Note\" SET \"_key\" = \(key)")
        try await mail.perform { _ in }
        try await mail.perform(waitFor: .main) { context in
            for (subject, tag) in [("message", "red"), ("note", "blue")] {
                let message = try Self.found(subject, context)
                message.tags = try context.fetch(MailTag.self, where: \.name == tag)
                try Self.found("to " + subject, context).replyTo = message
            }
        }
        #expect(try Self.found("note", container.main).objectID.key == key)
        try await body(container, mail)
        try await container.close()
    }

    @Test func eachHasItsOwnLinks() async throws {
        try await withEqualOwners { container, mail in
            for (subject, tag) in [("message", "red"), ("note", "blue")] {
                let message = try Self.found(subject, container.main)
                #expect(message.replies.map(\.subject) == ["to " + subject])
                #expect(message.tags.map(\.name) == [tag])
            }
            // Of both at once.
            let counts = try await mail.perform { context in
                try context.fetch(MailMessage.self).filter { $0.subject?.hasPrefix("to") == false }
                    .map { [$0.replies.count, $0.tags.count] }
            }
            #expect(counts == [[1, 1], [1, 1]])
        }
    }

    @Test func eachIsInTheGroupsOfItsOwnLinks() async throws {
        try await withEqualOwners { container, _ in
            for subject in ["message", "note"] {
                let groups = try container.main.aggregate(
                    ObjectRequest<MailMessage>(where: \.subject == subject), groupBy: \.replies, .count())
                #expect(groups.map(\.key) == [try Self.found("to " + subject, container.main).objectID])
            }
            let groups = try container.main.aggregate(ObjectRequest<MailMessage>(), groupBy: \.replies, .count())
            #expect(groups.map(\.values) == [1, 1])
        }
    }

    @Test(arguments: ["message", "note"])
    func aDeletionTakesOnlyItsOwnLinks(deleted: String) async throws {
        try await withEqualOwners { container, mail in
            try await mail.perform(waitFor: .main) { context in
                context.delete(try Self.found(deleted, context))
            }
            let (rest, tag) = deleted == "note" ? ("message", "red") : ("note", "blue")
            let message = try Self.found(rest, container.main)
            #expect(message.replies.map(\.subject) == ["to " + rest])
            #expect(message.tags.map(\.name) == [tag])
            #expect(try Self.found("to " + rest, container.main).replyTo === message)
            #expect(try Self.found("to " + deleted, container.main).replyTo == nil)
        }
    }

    @Test(arguments: ["message", "note"])
    func aSweepDeletesOnlyItsOwnChildren(swept: String) async throws {
        try await withEqualOwners { container, mail in
            try await mail.perform(waitFor: .main) { context in
                let parent = try Self.found(swept, context)
                try context.sweep(\.replies, of: parent, keeping: [], options: .allowsEmpty)
            }
            let rest = swept == "note" ? "message" : "note"
            let subjects = try container.main.fetch(MailMessage.self).compactMap(\.subject)
            #expect(Set(subjects) == ["message", "note", "to " + rest])
            #expect(try Self.found(rest, container.main).replies.map(\.subject) == ["to " + rest])
        }
    }

    /// An object that the batch has moved to the other owner is no child of the swept one.
    @Test func aSweepSparesAChildThatWasMovedToTheOther() async throws {
        try await withEqualOwners { container, mail in
            try await mail.perform(waitFor: .main) { context in
                let (message, note) = (try Self.found("message", context), try Self.found("note", context))
                try Self.found("to message", context).replyTo = note
                try context.sweep(\.replies, of: message, keeping: [], options: .allowsEmpty)
            }
            let note = try Self.found("note", container.main)
            #expect(Set(note.replies.compactMap(\.subject)) == ["to message", "to note"])
        }
    }

    /// An object that the batch has taken from the other owner is a child of the swept one.
    @Test func aSweepDeletesAChildThatWasMovedFromTheOther() async throws {
        try await withEqualOwners { container, mail in
            try await mail.perform(waitFor: .main) { context in
                let note = try Self.found("note", context)
                try Self.found("to message", context).replyTo = note
                try context.sweep(\.replies, of: note, keeping: [], options: .allowsEmpty)
            }
            #expect(Set(try container.main.fetch(MailMessage.self).compactMap(\.subject)) == ["message", "note"])
        }
    }
}
