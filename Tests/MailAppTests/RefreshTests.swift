import CoreDataSource
import ErrorExpectations
import Foundation
import MailApp
import Testing

/// A mailbox that is made equal to the server's, labels, and what leaves with an account.
@MainActor
struct RefreshTests {
    @Test func aMailboxBecomesEqualToItsListing() async throws {
        let world = try await MailWorld()
        world.server.passTime(in: MailWorld.inbox, reads: 3, deletes: 10, replies: 2)
        let listing = world.server.listing(MailWorld.inbox)
        let others = try world.stored("lin@garden.example/Archive")
        let report = try await world.store.messages.refresh(MailWorld.inbox, from: listing)
        #expect(report.inserted == 2 && report.updated == 3 && report.deleted == 10)
        #expect(report.unchanged == listing.count - 5)
        #expect(try world.stored(MailWorld.inbox) == listing)
        #expect(try world.stored("lin@garden.example/Archive") == others)
        #expect(try world.store.messages.count(ThreadEntity.self, where: .none(\.messages)) == 0)
        let again = try await world.store.messages.refresh(MailWorld.inbox, from: listing)
        #expect(again.unchanged == listing.count && again.inserted + again.updated + again.deleted == 0)
    }

    @Test func aListingThatLacksMostMessagesIsRefused() async throws {
        let world = try await MailWorld()
        let before = try world.stored(MailWorld.inbox)
        await expectError(.tooManyDeletions) {
            try await world.store.messages.refresh(MailWorld.inbox, from: Array(before.prefix(3)))
        }
        #expect(try world.stored(MailWorld.inbox) == before)
    }

    @Test func aThreadLeavesWithItsLastMessage() async throws {
        let world = try await MailWorld()
        let threads = Dictionary(grouping: world.server.messages, by: \.thread)
        let thread = try #require(threads.values.first { $0.count == 2 })
        try await world.store.messages.delete(thread[0])
        #expect(try world.main.exists(ThreadEntity.self, where: \.uid == thread[0].thread))
        try await world.store.messages.delete(thread[1])
        #expect(try !world.main.exists(ThreadEntity.self, where: \.uid == thread[0].thread))
        #expect(try world.store.messages.count(MessageEntity.self) == 398)
    }

    @Test func aRuleGivesALabelToMessagesWithItsWord() async throws {
        let world = try await MailWorld()
        let labels = try world.store.labels.all()
        try await world.store.labels.applyRules(to: world.store.messages, in: world.store.container)
        #expect(labels.snapshot.map(\.name) == world.server.labels.map(\.name).sorted())
        for (index, row) in labels.snapshot.enumerated() {
            let word = row.word
            let expected = world.server.messages.count { $0.subject.lowercased().contains(word) }
            #expect(expected > 0 && labels.object(index)?.messages.count == expected)
        }
        // A rule that changes takes the label from messages, too.
        try await world.store.labels.add(Label(name: "Travel", word: "regatta"))
        try await world.store.labels.applyRules(to: world.store.messages, in: world.store.container)
        let travel = try #require(try world.main.first(LabelEntity.self, where: \.name, equals: "Travel"))
        #expect(travel.messages.allSatisfy { $0.subject.contains("regatta") } && travel.messages.count > 0)
    }

    @Test func aLabelLeavesItsMessages() async throws {
        let world = try await MailWorld()
        try await world.store.labels.applyRules(to: world.store.messages, in: world.store.container)
        try await world.store.labels.delete(Label(name: "Plans", word: ""))
        #expect(try world.store.messages.count(MessageEntity.self) == 400)
        #expect(try world.store.messages.count(MessageEntity.self, where: .any(\.labels, \.name == "Plans")) == 0)
    }

    @Test func anAccountLeavesWithItsMailboxesThreadsAndMessages() async throws {
        let world = try await MailWorld()
        let (store, account) = (world.store, world.server.accounts[0])
        let totals = try store.totals()
        let sidebar = try store.mailboxes.sidebar()
        #expect(totals.value.0 == 400 && totals.value.1 == world.server.messages.reduce(0) { $0 + $1.size })
        #expect(sidebar.sections.map(\.name) == ["Work", "Home", "Rowing club"])
        try await store.accounts.delete(account)
        let left = world.server.messages.filter { !$0.mailbox.hasPrefix("\(account.address)/") }
        #expect(left.count < 300)
        #expect(totals.value.0 == left.count && totals.value.1 == left.reduce(0) { $0 + $1.size })
        #expect(Set(try world.main.fetch(MessageEntity.self).map(\.uid)) == Set(left.map(\.uid)))
        #expect(Set(try world.main.fetch(ThreadEntity.self).map(\.uid)) == Set(left.map(\.thread)))
        #expect(sidebar.count == 6 && sidebar.sections.map(\.name) == ["Work", "Rowing club"])
        #expect(try store.contacts.count(ContactEntity.self) == world.server.contacts.count)
    }

    @Test func aMailboxLeavesWithItsMessagesAndItsThreads() async throws {
        let world = try await MailWorld()
        let mailbox = world.server.mailboxes[0]
        try await world.store.delete(mailbox)
        #expect(try world.stored(mailbox.path) == [])
        let left = world.server.messages.filter { $0.mailbox != mailbox.path }
        #expect(left.count < 400 && !left.isEmpty)
        #expect(Set(try world.main.fetch(ThreadEntity.self).map(\.uid)) == Set(left.map(\.thread)))
    }

    @Test func accountsWithOneNameAreTwoSections() async throws {
        let world = try await MailWorld(imports: false)
        let sidebar = try world.store.mailboxes.sidebar()
        try await world.store.accounts.add(Account(address: "other@garden.example", name: "Home"))
        try await world.store.mailboxes.add(Mailbox(account: "other@garden.example", name: "Inbox", role: .inbox))
        #expect(sidebar.sections.map(\.name) == ["Work", "Home", "Home", "Rowing club"])
        #expect(sidebar.sections.map(\.range.count) == [3, 3, 1, 3])
    }
}
