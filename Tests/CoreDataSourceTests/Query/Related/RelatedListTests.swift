import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Lists whose predicate, order or sections go along relationships follow the rows to which theirs lead.
///
/// `COREDATASOURCE_RELATED_LISTS` says how many random saves are followed, and `COREDATASOURCE_SEED` repeats a run.
@MainActor
struct RelatedListTests {
    private nonisolated static let environment = ProcessInfo.processInfo.environment
    private nonisolated static let count = environment["COREDATASOURCE_RELATED_LISTS"].flatMap { Int($0) } ?? 120
    private nonisolated static let seed = testSeed()

    @Test(arguments: StorePlace.local) func randomSavesLeaveEveryListEqualToAFetch(place: StorePlace) async throws {
        var random = SeededRandom(seed: Self.seed &+ (place == .memory ? 1 : 0))
        var saves = 0
        while saves < Self.count / 2 {
            try await place.withMail { container, mail in
                var questions = MailQuestions(random: SeededRandom(seed: random.next()))
                var followed: [Followed] = []
                for _ in 0..<6 { followed.append(Followed(&questions)) }
                for round in 0..<10 {
                    let seed = random.next()
                    try await mail.perform(waitFor: round % 2 == 0 ? .store : .main) { context in
                        var editor = MailEditor(random: SeededRandom(seed: seed))
                        try editor.edit(context, count: round == 0 ? 60 : 4)
                    }
                    if round == 0 {
                        for (index, list) in followed.enumerated() {
                            try mail.register(list.delegate, dataKey: "\(index)", list.request, sectionBy: list.section)
                        }
                    }
                    await container.mainTier.waitForLists()
                    for (index, list) in followed.enumerated() {
                        let shown = mail.allObjects(dataKey: "\(index)", as: MailMessage.self)
                        let fetched = try mail.main.fetch(list.whole)
                        #expect(
                            shown.map(\.objectID) == fetched.map(\.objectID),
                            "\(list.request), round \(round), seed \(Self.seed)")
                        #expect(list.delegate.problems == [], "\(list.request), seed \(Self.seed)")
                    }
                }
                saves += 10
            }
        }
    }

    /// A list and what a fetch has to give.
    private struct Followed {
        var request: ObjectRequest<MailMessage>
        var section: PartialKeyPath<MailMessage>?
        let delegate = RecordingDelegate()

        init(_ questions: inout MailQuestions) {
            let predicate = FetchPredicate<MailMessage>(questions.predicate("Message", 1).node)
            request = ObjectRequest(MailMessage.self, where: predicate)
            let sort = (0..<Int.random(in: 0..<3, using: &questions.random)).map { _ in questions.value("Message", 2) }
            for key in sort {
                request.order.append(
                    FetchOrder(key.path.joined(separator: "."), isAscending: Bool.random(using: &questions.random)))
            }
            switch Int.random(in: 0..<4, using: &questions.random) {
            // The direction of sections would be that of the first order.
            case 0 where sort.first?.path != ["thread", "title"]: section = \.thread?.title
            case 1 where sort.first?.path != ["author", "name"]: section = \.author?.name
            case 2: request.limit = 5
            default: break
            }
        }

        /// The request in the order that the sections make.
        var whole: ObjectRequest<MailMessage> {
            var whole = request
            if section == \MailMessage.thread?.title { whole.order.insert(.ascending(\.thread?.title), at: 0) }
            if section == \MailMessage.author?.name { whole.order.insert(.ascending(\.author?.name), at: 0) }
            return whole
        }
    }

    @Test func aRenamedThreadMovesItsMessages() async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            try await mail.perform { context in
                for title in ["b", "c"] {
                    let thread = try context.insert(MailThread.self)
                    thread.title = title
                    for number in 1...2 {
                        let message = try context.insert(MailMessage.self)
                        (message.subject, message.thread) = ("\(title)\(number)", thread)
                    }
                }
            }
            let delegate = RecordingDelegate()
            let request = ObjectRequest(MailMessage.self, order: [.ascending(\.thread?.title), .ascending(\.subject)])
            try mail.register(delegate, dataKey: "list", request, sectionBy: \.thread?.title)
            #expect(mail.sectionIndexTitles(dataKey: "list") == ["B", "C"])
            try await mail.perform { try $0.first(MailThread.self, where: \.title, equals: "c")?.title = "a" }
            await container.mainTier.waitForLists()
            let shown = mail.allObjects(dataKey: "list", as: MailMessage.self)
            #expect(shown.map(\.subject) == ["c1", "c2", "b1", "b2"])
            #expect(mail.sectionIndexTitles(dataKey: "list") == ["A", "B"])
            #expect(mail.lastUpdateReason(dataKey: "list")?.requeriesStore == false)
            #expect(mail.lastUpdateReason(dataKey: "list")?.entities == ["Thread"])
            #expect(delegate.problems == [])
        }
    }

    /// The place has values of related rows. It stays where it is when these change.
    @Test(arguments: StorePlace.local) func aWindowAlongARelationshipIsMoved(place: StorePlace) async throws {
        try await place.withMail { container, mail in
            try await mail.perform { context in
                for title in ["b", "c", "d"] {
                    let thread = try context.insert(MailThread.self)
                    thread.title = title
                    for number in 1...2 {
                        let message = try context.insert(MailMessage.self)
                        (message.subject, message.thread) = ("\(title)\(number)", thread)
                    }
                }
            }
            let request = ObjectRequest(
                MailMessage.self, order: [.ascending(\.thread?.title), .ascending(\.subject)], limit: 2)
            let list = try mail.list(request)
            let delegate = RecordingDelegate()
            try mail.register(delegate, dataKey: "list", request)
            @MainActor func expect(_ subjects: [String]) throws {
                #expect(list.snapshot.map(\.subject) == subjects)
                #expect(mail.allObjects(dataKey: "list", as: MailMessage.self).map(\.subject) == subjects)
            }
            for subjects in [["b1", "b2"], ["c1", "c2"]] {
                try expect(subjects)
                let last = mail.allObjects(dataKey: "list").last.map { FetchCursor($0) }
                try mail.moveWindow(dataKey: "list", after: last)
                try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
            }
            try expect(["d1", "d2"])
            for (old, new) in [("b", "e"), ("c", "z")] {
                try await mail.perform { try $0.first(MailThread.self, where: \.title, equals: old)?.title = new }
            }
            try await mail.perform { try $0.delete(MailMessage.self, where: \.subject == "d1") }
            await container.mainTier.waitForLists()
            try expect(["d2", "b1"])
            #expect(delegate.problems == [])
        }
    }

    /// Only rows that are nothing but links change.
    @Test(arguments: ["tags.@count > 1", "ANY tags.name == 'second'"])
    func linksOfManyToManyRelationshipsDecideWhatIsShown(format: String) async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            try await mail.perform { context in
                for name in ["first", "second"] { try context.insert(MailTag.self).name = name }
                for size in 0..<4 {
                    let message = try context.insert(MailMessage.self)
                    message.size = Int64(size)
                    message.tags = try context.fetch(MailTag.self, where: \.name == "first")
                }
            }
            let delegate = RecordingDelegate()
            let request = ObjectRequest(
                where: try FetchPredicate<MailMessage>(format: format), order: [.ascending(\MailMessage.size)])
            try mail.register(delegate, dataKey: "list", request)
            delegate.follow(mail, "list")
            for (linked, shown) in [([0, 2], [0, 2]), ([3], [0, 2, 3]), ([], [2, 3])] as [([Int64], [Int64])] {
                try await mail.perform(waitFor: .main) { context in
                    let tags = try context.fetch(MailTag.self, order: [.ascending(\.name)])
                    for message in try context.fetch(MailMessage.self) {
                        if linked.contains(message.size) { message.tags = tags }
                        if linked.isEmpty, message.size == 0 { message.tags = [tags[0]] }
                    }
                }
                await container.mainTier.waitForLists()
                #expect(mail.allObjects(dataKey: "list", as: MailMessage.self).map(\.size) == shown)
                #expect(try mail.main.fetch(request).map(\.size) == shown)
            }
            #expect(delegate.problems == [])
        }
    }

    /// A save changed rows to which those of the list lead. These were read in the new store, where they are not.
    @Test func aResetWhileAffectedRowsAreReadIsOneReport() async throws {
        let layout = ModelLayout(.mail)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let mail = try container.dataSource(MailDataSource.self)
        try await mail.perform { context in
            for title in ["a", "b"] {
                let thread = try context.insert(MailThread.self)
                thread.title = title
                for _ in 1...2 { try context.insert(MailMessage.self).thread = thread }
            }
        }
        let delegate = RecordingDelegate()
        try mail.register(
            delegate, dataKey: "list", ObjectRequest(MailMessage.self, order: [.ascending(\.thread?.title)]))
        let counts = Shared<[Int]>([])
        delegate.onDidChange = { counts.value.append(mail.numberOfItems(inSection: 0, dataKey: "list")) }
        try mail.performAndWait { try $0.first(MailThread.self, where: \.title, equals: "b")?.title = "c" }
        // The first read finds the messages that lead there, the second one reads them.
        let second = Shared<(arrived: AsyncStream<Void>, release: @Sendable () -> Void)?>(nil)
        let isFirstDone = AsyncStream<Void>.makeStream()
        store.afterNextRead {
            second.value = store.holdNextRead()
            isFirstDone.continuation.finish()
        }
        container.mainTier.merge()
        for await _ in isFirstDone.stream {}
        let read = try #require(second.value)
        for await _ in read.arrived {}
        _ = try await container.stack.root.reset()
        read.release()
        await container.mainTier.waitForLists()
        #expect(counts.value == [0])
        #expect(mail.lastUpdateReason(dataKey: "list")?.kind == .reset)
        #expect(delegate.problems == [])
    }

    /// The rows that are read for a change are those that it reaches, however many are shown.
    @Test func aChangeReadsOnlyTheRowsThatItReaches() async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            try await mail.perform { context in
                for number in 0..<50 {
                    let thread = try context.insert(MailThread.self)
                    thread.title = "t\(number)"
                    for _ in 0..<20 { try context.insert(MailMessage.self).thread = thread }
                }
            }
            let delegate = RecordingDelegate()
            try mail.register(
                delegate, dataKey: "list", ObjectRequest(MailMessage.self, order: [.ascending(\.thread?.title)]))
            try await mail.perform { try $0.first(MailThread.self, where: \.title, equals: "t7")?.title = "z" }
            await container.mainTier.waitForLists()
            #expect(mail.lastUpdateReason(dataKey: "list")?.rowCount == 20)
            let shown = mail.allObjects(dataKey: "list", as: MailMessage.self)
            #expect(shown.suffix(20).allSatisfy { $0.thread?.title == "z" })
        }
    }

    @Test func theObjectsOfARelationshipAreListed() async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            let id = try await mail.perform { context in
                let thread = try context.insert(MailThread.self)
                let tag = try context.insert(MailTag.self)
                tag.name = "red"
                for size in [3, 1, 2] {
                    let message = try context.insert(MailMessage.self)
                    (message.size, message.thread, message.tags) = (Int64(size), thread, size > 1 ? [tag] : [])
                }
                try context.insert(MailMessage.self).size = 9
                return thread.objectID
            }
            let thread = try #require(try mail.main.object(MailThread.self, id: id))
            let tag = try #require(try mail.main.first(MailTag.self, where: \.name, equals: "red"))
            let all = ObjectRequest(thread, \.messages, order: [.ascending(\.size)])
            #expect(try mail.main.fetch(all).map(\.size) == [1, 2, 3])
            let large = ObjectRequest(thread, \.messages, where: \.size > 1, order: [.descending(\.size)], limit: 1)
            #expect(try mail.main.fetch(large).map(\.size) == [3])
            let tagged = ObjectRequest(tag, \.messages, order: [.ascending(\.size)])
            #expect(try mail.main.fetch(tagged).map(\.size) == [2, 3])
            let delegate = RecordingDelegate()
            try mail.register(delegate, dataKey: "list", all)
            try mail.register(delegate, dataKey: "tagged", tagged)
            var updates = mail.updates(all).makeAsyncIterator()
            let first = try #require(await updates.next())
            #expect(first.snapshot.count == 3)
            try await mail.perform { context in
                let message = try #require(try context.first(MailMessage.self, where: \.size, equals: 9))
                message.thread = try context.first(MailThread.self)
                message.tags = [try #require(try context.first(MailTag.self))]
            }
            await container.mainTier.waitForLists()
            let shown = mail.allObjects(dataKey: "list", as: MailMessage.self)
            #expect(shown.map(\.size) == [1, 2, 3, 9])
            let shownTagged = mail.allObjects(dataKey: "tagged", as: MailMessage.self)
            #expect(shownTagged.map(\.size) == [2, 3, 9])
            let second = try #require(await updates.next())
            #expect(second.snapshot.count == 4)
        }
    }
}
