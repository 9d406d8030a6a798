import CoreDataSource
import ErrorExpectations
import Foundation
import MailApp
import TestSupport
import Testing

/// The messages of a server, and their way into the store.
@MainActor
struct ImportTests {
    @Test func aSeedDeterminesTheMessages() {
        let server = SampleServer(messageCount: 300, now: MailWorld.now)
        #expect(server.messages == SampleServer(messageCount: 300, now: MailWorld.now).messages)
        #expect(server.messages != SampleServer(messageCount: 300, now: MailWorld.now, seed: 2).messages)
    }

    @Test func theMessagesArePlausible() {
        let server = SampleServer(messageCount: 5000, now: MailWorld.now)
        #expect(server.messages.count == 5000 && Set(server.messages.map(\.uid)).count == 5000)
        #expect(Set(server.messages.map(\.mailbox)) == Set(server.mailboxes.map(\.path)))
        #expect(Set(server.messages.map(\.sender)).isSubset(of: server.contacts.map(\.address)))
        #expect(server.messages.allSatisfy { $0.date <= MailWorld.now && $0.size > $0.attachmentSize })
        #expect(server.messages == server.messages.sorted { ($0.date, $0.uid) < ($1.date, $1.uid) })
        let threads = Dictionary(grouping: server.messages, by: \.thread).values
        #expect(threads.contains { $0.count > 4 })
        for thread in threads {
            #expect(Set(thread.map(\.mailbox)).count == 1)
            #expect(thread.dropFirst().allSatisfy { $0.subject == "Re: \(thread[0].subject)" })
        }
        let unread = server.messages.count { !$0.isRead }
        #expect(unread > 50 && unread < 500)
    }

    @Test func anImportStoresEveryMessageWithItsLinks() async throws {
        let world = try await MailWorld()
        #expect(try world.store.messages.count(MessageEntity.self) == 400)
        for mailbox in world.server.mailboxes {
            #expect(try world.stored(mailbox.path) == world.server.listing(mailbox.path))
        }
        let thread = try #require(
            try world.store.messages.fetch(ThreadEntity.self, order: [.descending(\.messageCount)]).first)
        #expect(thread.messageCount > 2)
        #expect(thread.account?.mailboxes.contains { $0 == thread.messages.first { _ in true }?.mailbox } == true)
    }

    @Test func theProgressEndsWithTheLastMessage() async throws {
        let world = try await MailWorld(imports: false)
        var steps: [Int] = []
        var counts: [Int] = []
        try await world.store.messages.importAll(world.server.messages, batchSize: 150) { done in
            steps.append(done)
            counts.append((try? world.store.messages.count(MessageEntity.self)) ?? 0)
        }
        #expect(steps == [150, 300, 400])
        #expect(counts == steps, "each step is stored when it is reported")
    }

    @Test func aSecondImportChangesNothing() async throws {
        let world = try await MailWorld()
        let report = try await world.store.messages.add(world.server.messages)
        #expect(report == SaveReport())
    }

    @Test func aMessageForAnUnknownMailboxIsIgnored() async throws {
        let world = try await MailWorld(imports: false)
        var message = try #require(world.server.messages.first)
        message.mailbox = "nobody@nowhere.example/Inbox"
        #expect(try await world.store.messages.add(message).ignored == 1)
        #expect(try world.store.messages.count(MessageEntity.self) == 0)
    }

    @Test func aMailboxOfAnUnknownAccountIsIgnored() async throws {
        let world = try await MailWorld(imports: false)
        let mailbox = Mailbox(account: "nobody@nowhere.example", name: "Inbox", role: .inbox)
        #expect(try await world.store.mailboxes.add(mailbox).ignored == 1)
    }

    @Test func aMessageThatIsTooLongRefusesItsBatch() async throws {
        let world = try await MailWorld(imports: false)
        var messages = world.server.messages
        messages[300].subject = String(repeating: "a", count: 201)
        await expectError(.validationFailed) {
            try await world.store.messages.importAll(messages, batchSize: 100)
        }
        #expect(try world.store.messages.count(MessageEntity.self) == 300, "the batches before are stored")
    }

    @Test func theStoreIsFoundAgainByItsUserOnly() async throws {
        let world = try await MailWorld()
        let location = StoreLocation.sqlite(world.directory.url.appending(component: "mail.sqlite"))
        try await world.store.container.close()
        let again = try await MailStore(location, user: "lin")
        #expect(try again.messages.count(MessageEntity.self) == 400)
        try await again.container.close()
        let other = try await MailStore(location, user: "mei")
        #expect(other.container.startup.reason.isDatabaseKeyChanged)
        #expect(try other.messages.count(MessageEntity.self) == 0)
        try await other.container.close()
    }
}
