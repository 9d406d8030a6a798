import CoreDataSource
import Foundation
import Observation
import Testing

/// Groups of calls never overlap, and a read makes none.
@MainActor
struct ReportDoorTests: ItemListSuite {
    /// What a delegate does in its call, after a save there.
    enum Act: String, CaseIterable, Sendable {
        case fetch, register, resume, followRelationship
    }

    @Test(arguments: Act.allCases, [false, true])
    func groupsOfDelegateCallsNeverOverlap(act: Act, isCatchUp: Bool) async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add(["t", "u"])
            try await letters.add((0..<300).map { "\($0)" })
            let open = GroupRecorder.Open()
            let (first, second, third) = (GroupRecorder(open), GroupRecorder(open), GroupRecorder(open))
            let request = ObjectRequest(Letter.self, order: [.ascending(\.key)])
            try letters.register(first, dataKey: "first", request)
            try letters.register(second, dataKey: "second", ObjectRequest(Letter.self, order: [.descending(\.key)]))
            letters.pausedDataKeys = isCatchUp ? ["first", "second"] : ["second"]
            let held = try letters.main.fetch(Letter.self, limit: 20)
            first.onObject = { object in
                first.onObject = { _ in }
                do {
                    try letters.performAndWait { try $0.knownLetter("7").subject = "again" }
                    switch act {
                    case .fetch: _ = try letters.main.fetch(Letter.self)
                    case .register: try letters.register(third, dataKey: "third", request)
                    case .resume: letters.pausedDataKeys = []
                    case .followRelationship: #expect(held.compactMap { $0.topic?.key }.count == 20)
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
            try await letters.perform(waitFor: .main) { context in
                for letter in try context.fetch(Letter.self) { letter.subject = "changed" }
            }
            letters.pausedDataKeys = []
            await container.mainTier.waitForLists()
            container.mainTier.merge()
            #expect(first.problems + second.problems + third.problems == [])
            #expect(first.groups.map(\.count) == [300, 1])
            #expect(second.changes.count == (act == .resume || !isCatchUp ? second.changes.count : 300))
        }
    }

    @Test func aReadCallsNoDelegate() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add((0..<3).map { "\($0)" })
            let (recorder, other) = (GroupRecorder(), GroupRecorder())
            try letters.register(recorder, dataKey: "list", ObjectRequest(Letter.self))
            let held = try letters.main.fetch(Letter.self)
            func save(_ number: Int) throws {
                try letters.performAndWait { try $0.knownLetter("0").subject = "\(number)" }
            }
            try save(1)
            #expect(held.first?.topic?.key == "t")
            try save(2)
            #expect(held.first?.attachments.count == 0)
            try save(3)
            #expect(try letters.main.first(Letter.self, where: \.key, equals: "0")?.subject == "3")
            try save(4)
            try letters.register(other, dataKey: "other", ObjectRequest(Letter.self, limit: 2))
            #expect(recorder.groups.isEmpty)
            #expect(
                letters.object(at: IndexPath(item: 0, section: 0), dataKey: "list", as: Letter.self)?.subject == "4")
            container.mainTier.merge()
            #expect(recorder.types == [[.update]])
            #expect(other.groups.isEmpty)
        }
    }

    /// Nobody but the reads of an app has to come: the report follows when main is free.
    @Test func changesThatAReadFindsAreReportedLater() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<3))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self))
            let ended = AsyncStream<Void>.makeStream()
            recorder.onDid = { ended.continuation.finish() }
            try senders.performAndWait { try $0.insert(Sender.self).key = "new" }
            #expect(try senders.main.count(Item.self) == 4)
            #expect(try senders.main.fetch(Item.self).count == 4)
            #expect(recorder.groups.isEmpty)
            for await _ in ended.stream {}
            #expect(recorder.types == [[.insert]])
        }
    }

    // MARK: Two observers of one query

    @Test(arguments: [nil, 4])
    func anObserverThatResumesAnotherMakesItReportOnce(limit: Int?) async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(1..<7))
            let first = try register(senders, "a", limit: limit)
            let second = try register(senders, "b", limit: limit)
            senders.pausedDataKeys = ["b"]
            try await senders.add(ItemData(key: "k0", number: 0), waitFor: .main)
            first.onDidChange = {
                first.onDidChange = {}
                senders.pausedDataKeys = []
            }
            try await senders.add(ItemData(key: "k0", number: 3), waitFor: .main)
            #expect(first.problems + second.problems == [])
            #expect(second.takeCalls().filter { $0 == "will" }.count == 1)
            #expect(listed(senders, "b") == (try fetched(senders, limit: limit)))
            try await senders.add(ItemData(key: "k9", number: -1), waitFor: .main)
            #expect(first.problems + second.problems == [])
            #expect(second.takeCalls().first == "will")
        }
    }

    @Test func anObservedListThatIsPausedAgainInACallStaysAsItIs() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<3))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self))
            let list = try senders.list(ObjectRequest(Item.self, limit: 9))
            list.isPaused = true
            try await senders.add(ItemData(key: "k3", number: 3), waitFor: .main)
            recorder.onDid = {
                list.isPaused = false
                list.isPaused = true
            }
            try await senders.add(ItemData(key: "k4", number: 4), waitFor: .main)
            #expect(list.count == 3)
            recorder.onDid = {}
            list.isPaused = false
            #expect(list.count == 5)
        }
    }

    @Test func aWindowThatIsMovedInACallStaysThere() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<9))
            let request = ObjectRequest(
                Item.self, order: [SortDescriptor(\.number), SortDescriptor(\.key)], limit: 3)
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", request)
            let list = try senders.list(request)
            recorder.onDid = {
                do { try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) }) } catch {
                    Issue.record("\(error)")
                }
            }
            try await senders.add(ItemData(key: "k0", number: 0, text: "new"), waitFor: .main)
            #expect(list.snapshot.map(\.key) == ["k3", "k4", "k5"])
            recorder.onDid = {}
            try await senders.add(ItemData(key: "k4", number: 4, text: "new"), waitFor: .main)
            #expect(list.snapshot.map(\.key) == ["k3", "k4", "k5"])
            #expect(list.difference.changes.map(\.type) == [.update])
        }
    }

    /// Observers are notified before the new value is there, and may move the list then.
    @Test func aWindowThatIsMovedByAnObserverStaysThere() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<9))
            let list = try senders.list(
                ObjectRequest(Item.self, order: [SortDescriptor(\.number), SortDescriptor(\.key)], limit: 3))
            let cursor = try cursor(senders, "k2")
            withObservationTracking {
                _ = list.difference
            } onChange: {
                MainActor.assumeIsolated {
                    do { try list.moveWindow(after: cursor) } catch { Issue.record("\(error)") }
                }
            }
            try await senders.add(ItemData(key: "k0", number: 0, text: "new"), waitFor: .main)
            #expect(list.snapshot.map(\.key) == ["k3", "k4", "k5"])
            #expect(list.object(0)?.key == "k3")
        }
    }
}
