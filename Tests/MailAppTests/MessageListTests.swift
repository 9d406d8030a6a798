import CoreDataSource
import Foundation
import MailApp
import Testing

/// The pages of a mailbox, its days, and searches.
@MainActor
struct MessageListTests {
    @Test(arguments: [-10, 0, 9])
    func eachDayOfTheTimeZoneIsASection(hours: Int) async throws {
        let world = try await MailWorld()
        let calendar = try MailWorld.calendar(hours: hours)
        let list = try MessageList(
            world.store.messages, try world.mailbox().objectID, pageSize: 1000, calendar: calendar)
        let listing = world.server.listing(MailWorld.inbox)
        let days = Dictionary(grouping: listing) { calendar.startOfDay(for: $0.date) }
        #expect(list.live.sections.map(\.interval?.start) == days.keys.sorted(by: >).map { $0 })
        #expect(list.live.sections.map(\.numberOfObjects) == days.sorted { $0.key > $1.key }.map(\.value.count))
        #expect(list.live.snapshot.map(\.uid) == listing.reversed().map(\.uid))
    }

    @Test func pagesHaveEveryMessageOnce() async throws {
        let world = try await MailWorld()
        let list = try MessageList(
            world.store.messages, try world.mailbox().objectID, pageSize: 30, calendar: MailWorld.calendar(hours: 0))
        let first = list.live.snapshot.map(\.uid)
        var found = first
        while list.live.count > 0 {
            try list.showNextPage()
            found += list.live.snapshot.map(\.uid)
        }
        #expect(found == world.server.listing(MailWorld.inbox).reversed().map(\.uid))
        let last = list.page
        try list.showNextPage()
        #expect(list.page == last, "there is nothing after an empty page")
        while list.page > 1 { try list.showPreviousPage() }
        try list.showPreviousPage()
        #expect(list.page == 1 && list.live.snapshot.map(\.uid) == first)
    }

    @Test func aListFollowsAnImportWithoutReadingTheStore() async throws {
        let world = try await MailWorld(imports: false)
        let list = try MessageList(
            world.store.messages, try world.mailbox().objectID, pageSize: 17, calendar: MailWorld.calendar(hours: 0))
        var reads = 0
        try await world.store.messages.importAll(world.server.messages, batchSize: 50) { _ in
            reads += list.live.lastUpdateReason.didReadStore ? 1 : 0
        }
        #expect(reads == 0)
        #expect(list.live.snapshot.map(\.uid) == world.server.listing(MailWorld.inbox).reversed().prefix(17).map(\.uid))
    }

    @Test func anIndexFindsAndSortsAMailbox() async throws {
        let world = try await MailWorld()
        let mailbox = try world.mailbox().objectID
        let explanation = try world.main.explain(
            ObjectRequest(
                MessageEntity.self, where: \.mailbox == mailbox, order: MessageList.newestFirst, limit: 17))
        #expect(explanation.warnings == [])
        #expect(explanation.steps.count == 1, "no sorting")
        #expect(explanation.steps[0].contains("\"mailbox\", \"date\" DESC, \"uid\" DESC"))
        #expect(world.store.messages.diagnostics.isEmpty)
    }

    @Test func aSearchFollowsSaves() async throws {
        let world = try await MailWorld()
        let found = try world.store.messages.search("BOATHOUSE")
        let expected = world.server.messages.filter {
            "\($0.subject) \($0.text)".lowercased().contains("boathouse")
        }
        #expect(expected.count > 5)
        #expect(found.snapshot.map(\.uid) == expected.reversed().map(\.uid))

        var message = try #require(expected.first)
        message.uid = "new"
        message.date = MailWorld.now
        try await world.store.messages.add(message)
        #expect(found.snapshot.first?.uid == "new" && found.count == expected.count + 1)
        message.subject = "Pumps"
        message.text = ""
        try await world.store.messages.add(message)
        #expect(found.count == expected.count, "a message that no longer has the word leaves")
    }

    @Test func aBadgeFallsWithEachMessageThatIsRead() async throws {
        let world = try await MailWorld()
        let badges = UnreadBadges(world.store.messages)
        for mailbox in try world.main.fetch(MailboxEntity.self) {
            let unread = world.server.listing(mailbox.path).count { !$0.isRead }
            #expect(try badges.count(mailbox.objectID) == unread)
        }
        let inbox = try world.mailbox()
        let unread = try world.main.ids(
            ObjectRequest(MessageEntity.self, where: \.mailbox == inbox && \.isRead == false))
        try #require(unread.count > 3)
        for (index, id) in unread.enumerated() {
            try await world.store.messages.markRead([id])
            #expect(try badges.count(inbox.objectID) == unread.count - index - 1)
        }
        var message = try #require(world.server.listing(MailWorld.inbox).last)
        message.uid = "new"
        message.isRead = false
        try await world.store.messages.add(message)
        #expect(try badges.count(inbox.objectID) == 1)
        badges.keep([])
        #expect(try badges.count(inbox.objectID) == 1, "a badge that was ended is counted again")
    }
}
