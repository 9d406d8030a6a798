import CoreDataSource
import ErrorExpectations
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

    // MARK: Limits of the store

    private nonisolated static func tag(_ name: String, _ context: ManagedObjectContext) throws -> MailTag {
        try #require(try context.first(MailTag.self, where: \.name, equals: name))
    }

    /// A join table has one row for the keys of a message and a tag.
    @Test(arguments: ["the note", "the tag"]) func onlyOneOfThemCanHaveATag(edited: String) async throws {
        try await withEqualOwners { container, mail in
            let error = await expectError(.uniquenessViolated) {
                try await mail.perform { context in
                    let (note, red) = (try Self.found("note", context), try Self.tag("red", context))
                    if edited == "the note" { note.tags.append(red) } else { red.messages.insert(note) }
                }
            }
            #expect(error?.entityName == (edited == "the note" ? "Note" : "Tag"))
            try await mail.perform(waitFor: .main) { context in
                let red = try Self.tag("red", context)
                red.messages.remove(try Self.found("note", context))
            }
            for (subject, tag) in [("message", "red"), ("note", "blue")] {
                #expect(try Self.found(subject, container.main).tags.map(\.name) == [tag])
            }
            try await mail.perform(waitFor: .main) { context in
                let (message, note) = (try Self.found("message", context), try Self.found("note", context))
                message.tags = []
                note.tags = [try Self.tag("red", context)]
            }
            #expect(try Self.found("message", container.main).tags.isEmpty)
            #expect(try Self.found("note", container.main).tags.map(\.name) == ["red"])
        }
    }

    /// A tag that another save has given to the message, while the draft gave it to the note.
    @Test func aDraftDoesNotSaveTheSameTag() async throws {
        try await withEqualOwners { container, mail in
            try await mail.perform(waitFor: .main) { try $0.insert(MailTag.self).name = "green" }
            let draft = try mail.draft(of: Self.found("note", container.main))
            draft.object.tags.append(try Self.tag("red", draft.context))
            #expect(draft.object.tags.map(\.name) == ["blue"] && !draft.hasChanges)
            await expectError(.uniquenessViolated) { try await draft.save() }
            draft.object.tags.append(try Self.tag("green", draft.context))
            try await mail.perform(waitFor: .main) { context in
                try Self.found("message", context).tags.append(try Self.tag("green", context))
            }
            await expectError(.uniquenessViolated) { try await draft.save() }
            #expect(try Self.found("note", container.main).tags.map(\.name) == ["blue"])
            #expect(Set(try Self.found("message", container.main).tags.map(\.name)) == ["red", "green"])
            draft.discard()
        }
    }

    /// Another program has given the key of a draft's new note to a message with a tag. The note gets another key and the same tag.
    @Test func aNewObjectOfADraftHasTheSameTag() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .mail, store: .sqlite(directory.store))
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { context in
            let red = try context.insert(MailTag.self)
            red.name = "red"
            let message = try context.insert(MailMessage.self)
            message.subject = "message"
            message.tags = [red]
        }
        let draft = try mail.draft(inserting: MailNote.self)
        draft.object.subject = "note"
        let key = try Self.found("message", container.main).objectID.key
        let (taken, raw) = (draft.object.objectID.key, try RawConnection(directory.store))
        try raw.execute("UPDATE \"Message\" SET \"_key\" = \(taken) WHERE \"_key\" = \(key)")
        try raw.execute("UPDATE \"_Message_tags\" SET \"_source\" = \(taken) WHERE \"_source\" = \(key)")
        try await mail.perform { _ in }
        let red = try Self.tag("red", draft.context)
        for tags in [[red], [], [red]] {
            draft.object.tags = tags
            #expect(draft.object.tags == tags)
        }
        try await draft.save()
        for subject in ["message", "note"] {
            #expect(try Self.found(subject, container.main).tags.map(\.name) == ["red"])
        }
        try await container.close()
    }

    /// A predicate along a relationship goes by the keys of the owners alone, in the file and beside edits.
    @Test func aPredicateAlongALinkFindsBoth() async throws {
        try await withEqualOwners { container, mail in
            let isAnswered: FetchPredicate<MailMessage> = .any(\.replies, \.subject == "to note")
            let found = try container.main.fetch(MailMessage.self, where: isAnswered)
            #expect(Set(found.compactMap(\.subject)) == ["message", "note"])
            let count = try await mail.perform { context in
                try Self.found("to note", context).size = 7
                return try context.count(MailMessage.self, where: isAnswered)
            }
            #expect(count == 2)
        }
    }

    // MARK: One-to-one

    private final class Badge: ManagedObject {
        override class var entityName: String { "Badge" }
        override class var attributeKeyPaths: [AnyKeyPath: String] { [\Badge.code: "code"] }

        var code: String {
            get { attribute(at: 0) }
            set { setAttribute(newValue, at: 0) }
        }
    }

    private class Visitor: ManagedObject {
        override class var entityName: String { "Visitor" }
        override class var attributeKeyPaths: [AnyKeyPath: String] { [\Visitor.name: "name"] }

        var name: String {
            get { attribute(at: 0) }
            set { setAttribute(newValue, at: 0) }
        }

        var badge: Badge? {
            get { relatedObject(at: 0) }
            set { setRelatedObject(newValue, at: 0) }
        }
    }

    private final class Guest: Visitor {
        override class var entityName: String { "Guest" }
    }

    private static let visitors = ManagedObjectModel(
        name: "Visitors",
        entities: [
            EntityDescription(
                name: "Badge", attributes: [AttributeDescription(name: "code", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "holder", destinationName: "Visitor", inverseName: "badge", isOptional: true)
                ]),
            EntityDescription(name: "Guest", parentName: "Visitor"),
            EntityDescription(
                name: "Visitor", attributes: [AttributeDescription(name: "name", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "badge", destinationName: "Badge", inverseName: "holder", isOptional: true)
                ]),
        ], classes: ["Badge": Badge.self, "Guest": Guest.self, "Visitor": Visitor.self])

    private nonisolated static func visitor(_ name: String, _ context: ManagedObjectContext) throws -> Visitor {
        try #require(try context.first(Visitor.self, where: \.name, equals: name))
    }

    /// The badges have the keys of their holders in a unique column. A new link does not take the badge of the other.
    @Test func onlyOneOfThemCanHaveABadge() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: Self.visitors, store: .sqlite(directory.store))
        let source = try container.dataSource(PlainDataSource<Badge, Visitor, Guest>.self)
        try await source.perform { context in
            let visitor = try context.insert(Visitor.self)
            visitor.name = "visitor"
            try context.insert(Guest.self).name = "guest"
            for code in ["1", "2"] { try context.insert(Badge.self).code = code }
            visitor.badge = try context.first(Badge.self, where: \.code, equals: "1")
        }
        let key = try Self.visitor("visitor", container.main).objectID.key
        try RawConnection(directory.store).execute("UPDATE \"Guest\" SET \"_key\" = \(key)")
        try await source.perform { _ in }
        #expect(try Self.visitor("guest", container.main).objectID.key == key)
        @Sendable func giveBadge(_ context: ManagedObjectContext) throws {
            try Self.visitor("guest", context).badge = try context.first(Badge.self, where: \.code, equals: "2")
        }
        await expectError(.uniquenessViolated) { try await source.perform { try giveBadge($0) } }
        #expect(try Self.visitor("visitor", container.main).badge?.code == "1")
        #expect(try Self.visitor("guest", container.main).badge == nil)
        try await source.perform(waitFor: .main) { context in
            try Self.visitor("visitor", context).badge = nil
            try giveBadge(context)
        }
        #expect(try Self.visitor("visitor", container.main).badge == nil)
        #expect(try Self.visitor("guest", container.main).badge?.code == "2")
        try await container.close()
    }
}
