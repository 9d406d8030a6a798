import CoreDataSource
import Foundation
import Observation
import RowStore
import TestSupport
import Testing

/// Live aggregates are what a plain computation over a fetch gives, whatever was saved.
@MainActor
struct LiveAggregateTests {
    private nonisolated static let seed = testSeed()

    /// The aggregates of a request, and the groups.
    private struct Followed {
        typealias Totals = (Int, Int, Int64, Double?, Decimal, Int64?, Int64?, Decimal?, Date?, String?)
        let request: ObjectRequest<MailMessage>
        let totals: LiveAggregate<Totals>
        let unread: LiveAggregate<Int>
        let threads: LiveAggregate<[String?: (Int, Int64)]>
        let sizes: LiveAggregate<[Int64: (Int, Date?)]>
        let related: LiveAggregate<[ManagedObjectID?: (Int, Int64)]>
        /// Messages of two entities.
        let replies: LiveAggregate<[ManagedObjectID?: Int]>
        let owners: LiveAggregate<[ManagedObjectID?: Int]>
        let links: LiveLinkGroups

        @MainActor init(_ mail: MailDataSource, _ request: ObjectRequest<MailMessage>) throws {
            self.request = request
            totals = try mail.liveAggregate(
                request, .count(), .count(\.subject), .sum(\.size), .average(\.size), .sum(\.price), .min(\.size),
                .max(\.size), .max(\.price), .min(\.sent), .max(\.subject))
            unread = try mail.liveAggregate(request, .count())
            threads = try mail.liveAggregate(request, groupBy: \.thread?.title, .count(), .sum(\.size))
            sizes = try mail.liveAggregate(request, groupBy: \.size, .count(), .max(\.sent))
            related = try mail.liveAggregate(request, groupBy: \.thread, .count(), .sum(\.size))
            replies = try mail.liveAggregate(request, groupBy: \.replyTo, .count())
            owners = try mail.liveAggregate(request, groupBy: \.thread?.owner, .count())
            links = try LiveLinkGroups(mail, request)
        }

        @MainActor func problems(_ mail: MailDataSource) throws -> [String] {
            let all = try mail.main.fetch(request)
            let sizes = all.map(\.size)
            let sum = sizes.reduce(0, +)
            let prices = all.compactMap(\.price)
            let least = { (one: String, other: String) in one.utf8.lexicographicallyPrecedes(other.utf8) }
            let plain: Totals = (
                all.count, all.count { $0.subject != nil }, sum,
                all.isEmpty ? nil : Double(sum) / Double(all.count), prices.reduce(0, +), sizes.min(), sizes.max(),
                prices.max(), all.compactMap(\.sent).min(), all.compactMap(\.subject).max(by: least)
            )
            var found: [String] = []
            if "\(totals.value)" != "\(plain)" { found.append("\(totals.value) instead of \(plain)") }
            if unread.value != all.count { found.append("\(unread.value) instead of \(all.count)") }
            let byThread = Dictionary(grouping: all) { $0.thread?.title }.mapValues {
                "\(($0.count, $0.map(\.size).reduce(0, +)))"
            }
            let threads = threads.value.mapValues { "\($0)" }
            if threads != byThread { found.append("\(threads) instead of \(byThread)") }
            let bySize = Dictionary(grouping: all, by: \.size).mapValues {
                "\(($0.count, $0.compactMap(\.sent).max()))"
            }
            let shown = self.sizes.value.mapValues { "\($0)" }
            if shown != bySize { found.append("\(shown) instead of \(bySize)") }
            return try found + relatedProblems(all, mail) + links.problems(mail.main)
        }

        /// The groups by relationships, live and calculated at once.
        @MainActor private func relatedProblems(_ all: [MailMessage], _ mail: MailDataSource) throws -> [String] {
            var found: [String] = []
            let byThread = Dictionary(grouping: all) { $0.thread?.objectID }.mapValues {
                "\(($0.count, $0.map(\.size).reduce(0, +)))"
            }
            let related = related.value.mapValues { "\($0)" }
            if related != byThread { found.append("\(related) instead of \(byThread)") }
            let byAnswered = Dictionary(grouping: all) { $0.replyTo?.objectID }.mapValues(\.count)
            if replies.value != byAnswered { found.append("\(replies.value) instead of \(byAnswered)") }
            let byOwner = Dictionary(grouping: all) { $0.thread?.owner?.objectID }.mapValues(\.count)
            if owners.value != byOwner { found.append("\(owners.value) instead of \(byOwner)") }
            let atOnce = try mail.main.aggregate(request, groupBy: \.replyTo, .count())
            let answered = Dictionary(uniqueKeysWithValues: atOnce.map { ($0.key, $0.values) })
            if answered != byAnswered { found.append("\(answered) instead of \(byAnswered)") }
            return found
        }
    }

    private static func requests() throws -> [ObjectRequest<MailMessage>] {
        [
            ObjectRequest(), ObjectRequest(where: \.isRead == false),
            ObjectRequest(where: \.size > 2, order: [.ascending(\.subject)]), ObjectRequest(where: \.thread?.rank > 1),
            ObjectRequest(order: [.descending(\.size)], limit: 5),
            ObjectRequest(where: FetchPredicate(#Predicate { $0.subject?.first?.isLowercase == true })),
        ]
    }

    @Test(arguments: StorePlace.all)
    func randomSavesLeaveEveryAggregateAsAPlainComputation(place: StorePlace) async throws {
        var random = SeededRandom(seed: Self.seed &+ (place == .sqlite ? 1 : 0))
        for _ in 0..<(place == .postgreSQL ? 1 : 3) {
            try await place.withMail { container, mail in
                let followed = try Self.requests().map { try Followed(mail, $0) }
                for round in 0..<16 {
                    let seed = random.next()
                    let isLarge = round == 9
                    try await mail.perform(waitFor: round % 2 == 0 ? .store : .main) { context in
                        var editor = MailEditor(random: SeededRandom(seed: seed))
                        try editor.edit(context, count: round == 0 ? 60 : isLarge ? 500 : 4)
                        // An extreme leaves.
                        let last = try context.fetch(MailMessage.self, order: [.descending(\.size)]).first
                        if seed % 3 == 0, let last { context.delete(last) }
                    }
                    if seed % 7 == 0 { try await container.reset() }
                    if seed % 5 == 0 { container.mainTier.reloadLists() }
                    container.mainTier.merge()
                    await container.mainTier.waitForLists()
                    for follower in followed {
                        let problems = try follower.problems(mail)
                        #expect(problems == [], "\(place), round \(round), \(follower.request), seed \(Self.seed)")
                    }
                }
            }
        }
    }

    /// Saves that nobody waits for, several at once.
    @Test func aggregatesFollowSavesThatComeInWhileTheyRead() async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            var random = SeededRandom(seed: Self.seed)
            let followed = try Self.requests().map { try Followed(mail, $0) }
            for _ in 0..<60 {
                let seed = random.next()
                try mail.performAndWait { context in
                    var editor = MailEditor(random: SeededRandom(seed: seed))
                    try editor.edit(context, count: seed % 11 == 0 ? 400 : 3)
                    let first = try context.fetch(MailMessage.self, order: [.ascending(\.size)]).first
                    if let first { context.delete(first) }
                }
                if seed % 4 == 0 { await Task.yield() }
                if seed % 13 == 0 { try await container.reset() }
            }
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            for follower in followed { #expect(try follower.problems(mail) == []) }
        }
    }

    private var request: ObjectRequest<Item> { ObjectRequest(Item.self) }

    private func items(_ range: Range<Int>) -> [ItemData] { range.map { ItemData(key: "k\($0)", number: Int64($0)) } }

    @Test func discardedSavesAreRolledBack() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let totals = try senders.liveAggregate(request, .count(), .sum(\.number), .max(\.number))
        store.fail(with: DataSourceError(.storeUnavailable, "a test"))
        try await senders.perform(waitFor: .main) { context in
            for sender in try context.fetch(Sender.self) { sender.number += 10 }
            try context.insert(Sender.self).key = "lost"
        }
        #expect("\(totals.value)" == "\((4, Int64(33), Int64?(12)))")
        await container.discardPending()
        store.fail(with: nil)
        await container.mainTier.waitForLists()
        #expect("\(totals.value)" == "\((3, Int64(3), Int64?(2)))")
        #expect(totals.lastUpdateReason.kind == .rolledBack)
        try await container.close()
    }

    @Test(arguments: SharedPlace.Kind.all) func anAggregateFollowsAnotherProcess(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let contacts = try one.dataSource(ContactDataSource.self)
        let followed = try other.dataSource(ContactDataSource.self)
        let totals = try followed.liveAggregate(ObjectRequest(ContactEntity.self), .count(), .max(\.name))
        func wait(until count: Int, _ name: String?) async throws {
            while totals.value.0 != count || totals.value.1 != name {
                await withCheckedContinuation { continuation in
                    let isResumed = Shared(false)
                    withObservationTracking {
                        _ = totals.value
                    } onChange: {
                        if !isResumed.value { continuation.resume() }
                        isResumed.value = true
                    }
                }
            }
        }
        try await contacts.add(contactList(0..<3))
        try await wait(until: 3, "name 2")
        try await contacts.delete(contactList(2..<3))
        try await wait(until: 2, "name 1")
        #expect(totals.lastUpdateReason.processes.count == 1)
        try await other.close()
        try await one.close()
        // A container does not wait for its lists and aggregates when it is closed.
        while totals.lastUpdateReason.kind != .closed { await Task.yield() }
        #expect(totals.value.0 == 2)
    }

    @Test func aSaveReadsNoRowsUnlessAnExtremeLeaves() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<1000))
        let totals = try senders.liveAggregate(request, .count(), .sum(\.number), .max(\.number))
        let badge = try senders.liveAggregate(ObjectRequest(Item.self, where: \.number < 500), .count())
        _ = store.takeQueries()
        try await senders.add(items(1000..<1010), waitFor: .main)
        try await senders.delete(items(3..<6), waitFor: .main)
        #expect(totals.value.0 == 1007 && totals.value.2 == 1009 && badge.value == 497)
        #expect(!totals.lastUpdateReason.didReadStore && !totals.lastUpdateReason.ranOffMain)
        #expect(store.takeQueries().isEmpty)
        try await senders.delete(items(1009..<1010), waitFor: .main)
        #expect(totals.value.2 == 1008)
        #expect(totals.lastUpdateReason.didReadStore && totals.lastUpdateReason.ranOffMain)
        // One for each entity.
        #expect(store.takeQueries().count == 3)
        // Another row has the greatest value.
        try await senders.add(ItemData(key: "k0", number: 1008), waitFor: .main)
        try await senders.delete(ItemData(key: "k0", number: 0), waitFor: .main)
        #expect(totals.value.2 == 1008 && store.takeQueries().isEmpty)
        try await container.close()
    }

    @Test func observersAreNotifiedOnlyOfOtherValues() async throws {
        try await StorePlace.memory.withMail { container, mail in
            try await mail.perform { try $0.insert(MailMessage.self).size = 1 }
            let unread = try mail.liveAggregate(ObjectRequest(MailMessage.self, where: \.isRead == false), .count())
            let noticeCount = Shared(0)
            withObservationTracking {
                _ = unread.value
            } onChange: {
                noticeCount.update { $0 += 1 }
            }
            try await mail.perform(waitFor: .main) { try $0.fetch(MailMessage.self).first?.size = 2 }
            #expect(noticeCount.value == 0 && unread.value == 1)
            try await mail.perform(waitFor: .main) { try $0.fetch(MailMessage.self).first?.isRead = true }
            #expect(noticeCount.value == 1 && unread.value == 0)
        }
    }

    @Test func aSumThatIsTooLargeKeepsTheLastValue() async throws {
        try await StorePlace.memory.withMail { container, mail in
            try await mail.perform { try $0.insert(MailMessage.self).size = .max - 1 }
            let total = try mail.liveAggregate(ObjectRequest(MailMessage.self), .sum(\.size))
            try await mail.perform(waitFor: .main) { try $0.insert(MailMessage.self).size = 2 }
            #expect(total.value == .max - 1)
            #expect(total.lastUpdateReason.failure?.code == .numberOverflow)
            try await mail.perform(waitFor: .main) { context in
                for message in try context.fetch(MailMessage.self, where: \.size == 2) { message.size = 1 }
            }
            #expect(total.value == .max && total.lastUpdateReason.kind == .save)
        }
    }

    @Test func anAggregateThatCannotReadTriesAgain() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let greatest = try senders.liveAggregate(request, .max(\.number))
        store.failReads(with: DataSourceError(.storeUnavailable, "a test"))
        try await senders.delete(items(2..<3), waitFor: .main)
        store.failReads(with: nil)
        #expect(greatest.value == 2 && greatest.lastUpdateReason.failure?.code == .storeUnavailable)
        try await senders.add(items(0..<1), waitFor: .main)
        try await senders.add(ItemData(key: "k0", number: -1), waitFor: .main)
        #expect(greatest.value == 1 && greatest.lastUpdateReason.kind == .save)
        try await container.close()
    }

    /// Another program that writes all the time makes one read after the other necessary.
    @Test func aReadIsShownAlthoughAnotherOneIsNeeded() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let count = try senders.liveAggregate(request, .count())
        let first = store.holdNextRead()
        container.mainTier.reloadLists()
        for await _ in first.arrived {}
        let more = items(3..<5)
        try await Task.detached { _ = try await senders.add(more) }.value
        let second = store.holdNextRead()
        container.mainTier.reloadLists()
        first.release()
        for await _ in second.arrived {}
        #expect(count.value == 5)
        second.release()
        await container.mainTier.waitForLists()
        #expect(count.value == 5)
        try await container.close()
    }

    @Test func anAggregateKeepsNoStoreOpen() async throws {
        var container: PersistentContainer? = try await PersistentContainer(model: .mail, store: .inMemory)
        let count = try container?.dataSource(MailDataSource.self).liveAggregate(ObjectRequest<MailMessage>(), .count())
        weak let tier = container?.mainTier
        container = nil
        while tier != nil { await Task.yield() }
        while count?.lastUpdateReason.kind != .closed { await Task.yield() }
        #expect(count?.value == 0)
    }

    /// Another program has written a price that is no number, and takes it back.
    @Test func aDamagedValueIsReportedUntilItIsGone() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .mail, store: .sqlite(directory.store))
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { try $0.insert(MailMessage.self).price = 1.5 }
        let total = try mail.liveAggregate(ObjectRequest<MailMessage>(), .sum(\.price))
        let extremes = try mail.liveAggregate(ObjectRequest<MailMessage>(), .min(\.price), .max(\.price))
        func write(_ price: String) async throws {
            try RawConnection(directory.store).execute("UPDATE \"Message\" SET \"price\" = '\(price)'")
            container.stack.root.noticeOutsideWrites()
            container.mainTier.merge()
            await container.mainTier.waitForLists()
        }
        try await write("no number")
        #expect(total.value == 1.5 && total.lastUpdateReason.failure?.code == .damagedValue)
        #expect(extremes.value == (1.5, 1.5) && extremes.lastUpdateReason.failure?.code == .damagedValue)
        try await write("2.5")
        #expect(total.value == 2.5 && total.lastUpdateReason.kind == .outsideWrites)
        #expect(extremes.value == (2.5, 2.5) && extremes.lastUpdateReason.kind == .outsideWrites)
        try await container.close()
    }

    /// Swift counts both forms of é as one string, and so does the key of a group.
    @Test func equalStringsAreOneGroup() async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            let groups = try mail.liveAggregate(ObjectRequest<MailMessage>(), groupBy: \.subject, .count())
            try await mail.perform(waitFor: .main) { context in
                for subject in ["é", "e\u{301}", "e\u{301}", nil] {
                    try context.insert(MailMessage.self).subject = subject
                }
            }
            #expect(groups.value == ["é": 3, nil: 1])
            try await mail.perform(waitFor: .main) { context in
                for message in try context.fetch(MailMessage.self, where: \.subject != nil) { context.delete(message) }
            }
            #expect(groups.value == [nil: 1])
        }
    }

    @Test func requestsThatCannotBeFollowedAreRefused() async throws {
        try await StorePlace.memory.withMail { container, mail in
            @MainActor func code(_ request: ObjectRequest<MailMessage>) -> DataSourceError.Code? {
                do { _ = try mail.liveAggregate(request, .count()) } catch { return (error as? DataSourceError)?.code }
                return nil
            }
            #expect(code(ObjectRequest(offset: 1)) == .unsupportedQuery)
            #expect(code(ObjectRequest(limit: -1)) == .invalidRequest)
            #expect(
                code(ObjectRequest(where: FetchPredicate(#Predicate { $0.thread?.title?.first?.isLetter == true })))
                    == .unsupportedQuery)
        }
    }
}
