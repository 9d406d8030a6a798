import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Aggregates by a to-many relationship: an object counts in the group of each related object.
@MainActor
struct LinkGroupTests {
    /// Messages `a` with the tags red and blue, `b` with red, and `c` without a tag; `b` and `c` answer `a`.
    private nonisolated static func insertMail(_ context: EditingContext) throws {
        let (red, blue) = (try context.insert(MailTag.self), try context.insert(MailTag.self))
        (red.name, blue.name) = ("red", "blue")
        try context.insert(MailTag.self).name = "unused"
        let messages = try ["a", "b", "c"].map { subject in
            let message = try context.insert(MailMessage.self)
            message.subject = subject
            return message
        }
        (messages[0].size, messages[1].size, messages[2].size) = (1, 2, 4)
        (messages[0].tags, messages[1].tags) = ([blue, red], [red])
        (messages[1].replyTo, messages[2].replyTo) = (messages[0], messages[0])
    }

    private func withMail(
        _ place: StorePlace, _ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void
    ) async throws {
        try await place.withMail { container, mail in
            try await mail.perform { try Self.insertMail($0) }
            try await body(container, mail)
        }
    }

    private func tag(_ name: String, _ mail: MailDataSource) throws -> ManagedObjectID {
        try #require(try mail.main.first(MailTag.self, where: \.name, equals: name)).objectID
    }

    private func message(_ subject: String, _ mail: MailDataSource) throws -> ManagedObjectID {
        try #require(try mail.main.first(MailMessage.self, where: \.subject, equals: subject)).objectID
    }

    private let all = ObjectRequest(MailMessage.self, order: [.ascending(\.subject)])

    @Test(arguments: StorePlace.all)
    func anObjectIsInTheGroupOfEachRelatedObject(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            let (red, blue) = (try tag("red", mail), try tag("blue", mail))
            let tags = try mail.main.aggregate(all, groupBy: \.tags, .count(), .sum(\.size))
            #expect(tags.map(\.key) == [blue, red])
            #expect(tags.map(\.values.0) == [1, 2] && tags.map(\.values.1) == [1, 3])
            // From the other side.
            let (a, b) = (try message("a", mail), try message("b", mail))
            let messages = try mail.main.aggregate(ObjectRequest<MailTag>(), groupBy: \.messages, .count())
            #expect(messages.map(\.key) == [a, b] && messages.map(\.values) == [2, 1])
            // Of one to many.
            let replies = try mail.main.aggregate(all, groupBy: \.replies, .count())
            #expect(replies.map(\.key) == [b, try message("c", mail)] && replies.map(\.values) == [1, 1])
        }
    }

    @Test(arguments: StorePlace.all)
    func theLimitIsOneOfObjects(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            var request = all
            (request.limit, request.offset) = (1, 1)
            let tags = try mail.main.aggregate(request, groupBy: \.tags, .count())
            #expect(tags.map(\.key) == [try tag("red", mail)] && tags.map(\.values) == [1])
        }
    }

    @Test(arguments: StorePlace.all)
    func liveGroupsFollowTheLinksFromBothSides(place: StorePlace) async throws {
        try await withMail(place) { container, mail in
            let (red, blue, unused) = (try tag("red", mail), try tag("blue", mail), try tag("unused", mail))
            let request = ObjectRequest(MailMessage.self, where: \.isRead == false)
            let live = try mail.liveAggregate(request, groupBy: \.tags, .count(), .max(\.size))
            @MainActor func expect(_ wanted: [ManagedObjectID: (Int, Int64?)], line: Int = #line) async {
                await container.mainTier.waitForLists()
                #expect(live.value.mapValues { "\($0)" } == wanted.mapValues { "\($0)" }, "line \(line)")
            }
            await expect([red: (2, 2), blue: (1, 1)])
            try await mail.perform(waitFor: .main) { context in
                let message = try context.first(MailMessage.self, where: \.subject, equals: "c")
                message?.tags = try context.fetch(MailTag.self, where: \.name != "red")
            }
            await expect([red: (2, 2), blue: (2, 4), unused: (1, 4)])
            try await mail.perform(waitFor: .main) { context in
                let red = try context.first(MailTag.self, where: \.name, equals: "red")
                for message in try context.fetch(MailMessage.self, where: \.subject == "b") {
                    red?.messages.remove(message)
                }
            }
            await expect([red: (1, 1), blue: (2, 4), unused: (1, 4)])
            try await mail.update(
                MailMessage.self, where: \.subject == "c", set: [.set(\.isRead, true)], waitFor: .main)
            await expect([red: (1, 1), blue: (1, 1)])
            try await mail.perform(waitFor: .main) { context in
                for message in try context.fetch(MailMessage.self) { (message.isRead, message.size) = (false, 8) }
            }
            await expect([red: (1, 8), blue: (2, 8), unused: (1, 8)])
            try await mail.delete(MailTag.self, where: \.name == "blue", waitFor: .main)
            await expect([red: (1, 8), unused: (1, 8)])
            try await mail.delete(MailMessage.self, where: \.subject == "a", waitFor: .main)
            await expect([unused: (1, 8)])
        }
    }

    /// A tag that the batch has deleted makes no group, although its links are not deleted yet.
    @Test(arguments: StorePlace.local)
    func aBatchGroupsItsOwnLinks(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            let red = try tag("red", mail)
            let request = all
            try await mail.perform { context in
                let new = try context.insert(MailTag.self)
                for message in try context.fetch(MailMessage.self, where: \.subject == "c") { message.tags = [new] }
                for tag in try context.fetch(MailTag.self, where: \.name == "blue") { context.delete(tag) }
                let groups = try context.aggregate(request, groupBy: \.tags, .count())
                #expect(groups.map(\.key) == [red, new.objectID] && groups.map(\.values) == [2, 1])
            }
        }
    }

    @Test func aSaveReadsOnlyTheChangedObjectsAndTheirLinks() async throws {
        let (container, store) = PersistentContainer.faulty(.mail)
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { try Self.insertMail($0) }
        let links = try #require(container.stack.layout.entities.first { $0.links != nil }?.index)
        let red = try tag("red", mail)
        let request = ObjectRequest(MailMessage.self, where: \.isRead == false)
        let live = try mail.liveAggregate(request, groupBy: \.tags, .sum(\.size))
        _ = store.takeQueries()
        try await mail.perform(waitFor: .main) { context in
            try context.first(MailMessage.self, where: \.subject, equals: "b")?.size = 7
        }
        #expect(live.value[red] == 8)
        #expect(live.lastUpdateReason.didReadStore && live.lastUpdateReason.ranOffMain)
        let queries = store.takeQueries().filter { $0.entity == links }
        let owners = queries.map { if case .isMember(_, let keys) = $0.predicate { keys.elements.count } else { 0 } }
        #expect(owners == [1])
        try await mail.perform(waitFor: .main) { context in
            try context.first(MailMessage.self, where: \.subject, equals: "a")?.subject = "d"
        }
        #expect(store.takeQueries().allSatisfy { $0.entity != links })
        try await container.close()
    }

    /// The links tell the entities of the related objects. A query for these objects could find that one of them was deleted since.
    @Test func theRelatedObjectsAreNotRead() async throws {
        let (container, store) = PersistentContainer.faulty(.graph)
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            let keeper = try context.person("keeper")
            try context.cat("cat").keeper = keeper
            try context.dog("dog").keeper = keeper
        }
        let animals = try Set(container.main.fetch(Animal.self).map(\.objectID))
        _ = store.takeQueries()
        let groups = try container.main.aggregate(ObjectRequest<Person>(), groupBy: \.animals, .count())
        let live = try source.liveAggregate(ObjectRequest<Person>(), groupBy: \.animals, .count())
        #expect(animals.count == 2 && Set(groups.map(\.key)) == animals && Set(live.value.keys) == animals)
        let readsByKey = store.takeQueries().contains { query in
            if case .isMember(.key, _) = query.predicate { true } else { false }
        }
        #expect(!readsByKey)
        try await container.close()
    }

    /// The links of the tag are still in the join table, and lead nowhere.
    @Test func aTagThatAnotherProgramHasDeletedMakesNoGroup() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .mail, store: .sqlite(directory.store))
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { try Self.insertMail($0) }
        let blue = try tag("blue", mail)
        let live = try mail.liveAggregate(all, groupBy: \.tags, .count())
        #expect(live.value.count == 2)
        try RawConnection(directory.store).execute("DELETE FROM \"Tag\" WHERE \"name\" = 'red'")
        try await mail.perform(waitFor: .main) { _ in }
        await container.mainTier.waitForLists()
        #expect(try mail.main.linkGroups(all) == mail.main.plainLinkGroups(all))
        #expect(live.value == [blue: 1])
        // A change of a message reads its links again.
        try await mail.update(MailMessage.self, where: \.subject == "a", set: [.set(\.size, 9)], waitFor: .main)
        await container.mainTier.waitForLists()
        #expect(live.value == [blue: 1])
        let request = all
        try await mail.perform { context in
            try context.first(MailMessage.self, where: \.subject, equals: "c")?.size = 3
            #expect(try context.linkGroups(request) == context.plainLinkGroups(request))
        }
        try await container.close()
    }

    /// Friends are friends of each other.
    @Test func aRelationshipThatIsItsOwnInverseMakesGroups() async throws {
        let container = try await PersistentContainer(model: .peers(), store: .inMemory)
        let peers = try container.dataSource(PeerDataSource.self)
        let live = try peers.liveAggregate(ObjectRequest<Peer>(), groupBy: \.friends, .count())
        try await peers.perform(waitFor: .main) { context in
            let (a, b, c) = (
                try context.insert(Peer.self), try context.insert(Peer.self), try context.insert(Peer.self)
            )
            (a.key, b.key, c.key) = ("a", "b", "c")
            a.friends.insert(contentsOf: [b, c])
        }
        func id(_ key: String) throws -> ManagedObjectID {
            try #require(try peers.main.first(Peer.self, where: \.key, equals: key)).objectID
        }
        #expect(try live.value == [id("a"): 2, id("b"): 1, id("c"): 1])
        try await peers.perform(waitFor: .main) { context in
            for peer in try context.fetch(Peer.self, where: \.key == "b") { peer.friends.removeAll() }
        }
        #expect(try live.value == [id("a"): 1, id("c"): 1])
        let groups = try peers.main.aggregate(ObjectRequest<Peer>(), groupBy: \.friends, .count())
        #expect(try groups.map(\.key) == [id("c"), id("a")])
        try await container.close()
    }

    @Test func groupsOfAPinnedContextStandStill() async throws {
        try await withMail(.sqlite) { container, mail in
            let (red, blue) = (try tag("red", mail), try tag("blue", mail))
            let live = try mail.liveAggregate(all, groupBy: \.tags, .count())
            try container.main.pin(for: .ample)
            try await mail.perform(waitFor: .main) { context in
                for message in try context.fetch(MailMessage.self, where: \.subject == "b") { context.delete(message) }
            }
            await container.mainTier.waitForLists()
            #expect(live.value == [red: 2, blue: 1])
            try container.main.advance()
            await container.mainTier.waitForLists()
            #expect(live.value == [red: 1, blue: 1])
        }
    }

    @Test func aToManyRelationshipOfARelatedObjectIsRefused() async throws {
        try await withMail(.memory) { _, mail in
            expectError(.unsupportedQuery) {
                _ = try mail.main.aggregate(all, groupBy: \.thread?.messages, .count())
            }
            expectError(.unsupportedQuery) {
                _ = try mail.liveAggregate(all, groupBy: \.thread?.messages, .count())
            }
        }
    }
}
