import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// An object whose to-many relationship changes counts as changed for lists, and for nothing else.
@MainActor
struct ChangedLinkTests {
    /// Gives the body a graph and a recorder for each of its lists.
    private func withLists<Object: ManagedObject>(
        of type: Object.Type, _ requests: [ObjectRequest<Object>],
        prepare: @escaping @Sendable (PrivateContext) throws -> Void,
        _ body: @MainActor (PersistentContainer, GraphDataSource, [GroupRecorder]) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform(waitFor: .main) { try prepare($0) }
            var recorders: [GroupRecorder] = []
            for (index, request) in requests.enumerated() {
                recorders.append(GroupRecorder())
                try source.register(recorders[index], dataKey: "\(index)", request)
            }
            try await body(container, source, recorders)
            #expect(recorders.flatMap(\.problems) == [])
        }
    }

    /// Saves, and expects that each list reports updates of these objects and nothing else, in one group.
    private func expect(
        _ keys: [String], in recorders: [GroupRecorder], _ container: PersistentContainer, _ source: GraphDataSource,
        _ edit: @escaping @Sendable (PrivateContext) throws -> Void
    ) async throws {
        try await source.perform(waitFor: .main) { try edit($0) }
        await container.mainTier.waitForLists()
        for (index, recorder) in recorders.enumerated() {
            let groups = recorder.takeGroups()
            #expect(groups.count == (keys.isEmpty ? 0 : 1), "list \(index)")
            let changes = groups.flatMap { $0 }
            #expect(changes.allSatisfy { $0.type == .update }, "list \(index)")
            let changed = changes.map { change in
                (change.object as? Topic)?.key ?? (change.object as? Letter)?.key ?? (change.object as? Label)?.key
                    ?? (change.object as? Person)?.key ?? (change.object as? Station)?.key ?? ""
            }
            let reason = source.lastUpdateReason(dataKey: "\(index)").map { "\($0)" } ?? ""
            #expect(changed.sorted() == keys, "list \(index): \(reason)")
        }
    }

    @Test func linksOfOneToManyRelationshipsChangeTheirOwners() async throws {
        var window = ObjectRequest(Topic.self, order: [.ascending(\.key)])
        window.limit = 3
        let tested = FetchPredicate<Topic>(#Predicate { $0.key.contains { $0.isLowercase } })
        let requests = [
            ObjectRequest(Topic.self), window, ObjectRequest(Topic.self, where: \.key != "z"),
            ObjectRequest(Topic.self, where: tested),
            ObjectRequest(Topic.self, where: try FetchPredicate(format: "letters.@count < 100")),
        ]
        try await withLists(of: Topic.self, requests) { context in
            for key in ["a", "b", "c"] { _ = try context.topic(key) }
            _ = try context.letter("1")
        } _: { container, source, lists in
            try await expect(["a"], in: lists, container, source) { try $0.letter("1").topic = try $0.topic("a") }
            #expect(try source.main.first(Topic.self, where: \.key == "a")?.letters.count == 1)
            try await expect([], in: lists, container, source) { try $0.letter("1").subject = "changed" }
            try await expect(["a", "b"], in: lists, container, source) { try $0.letter("1").topic = try $0.topic("b") }
            try await expect(["b", "c"], in: lists, container, source) { context in
                try context.topic("c").letters.insert(try context.letter("1"))
                try context.letter("2").topic = try context.topic("c")
            }
            try await expect(["c"], in: lists, container, source) { try $0.delete($0.letter("2")) }
            try await expect(["c"], in: lists, container, source) { try $0.letter("1").topic = nil }
            try await expect([], in: lists, container, source) { _ = try $0.letter("3") }
        }
    }

    /// Rows that are not written yet have their strings in the order in which they were set.
    @Test func aRowThatIsReadAgainAfterItsCommitHasNotChanged() async throws {
        let directory = try TemporaryDirectory()
        let layout = ModelLayout(.graph)
        let identity = StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1")
        let base = try SQLiteStore.open(
            SQLiteStore.Options(
                url: directory.store, layout: layout, identity: identity, synchronous: .normal, resetPolicy: .fail))
        let store = FaultyStore(over: base)
        let container = PersistentContainer(layout, store, startup: base.startup, configuration: .init())
        let source = try container.dataSource(GraphDataSource.self)
        let release = store.holdCommits()
        try await source.perform(waitFor: .main) { context in
            for key in ["a", "b", "c"] {
                let topic = try context.insert(Topic.self)
                topic.title = "set before its key, and longer than that"
                topic.key = key
            }
        }
        let tested = FetchPredicate<Topic>(#Predicate { $0.key.contains { $0.isLowercase } })
        let requests = [
            ObjectRequest(Topic.self, where: tested),
            ObjectRequest(Topic.self, where: try FetchPredicate(format: "letters.@count < 100")),
        ]
        let recorders = [GroupRecorder(), GroupRecorder()]
        for (index, request) in requests.enumerated() {
            try source.register(recorders[index], dataKey: "\(index)", request)
        }
        release()
        try await source.perform { try $0.letter("1").topic = try $0.topic("a") }
        await container.mainTier.waitForLists()
        for recorder in recorders {
            let changes = recorder.takeGroups().flatMap { $0 }
            #expect(changes.map { ($0.object as? Topic)?.key } == ["a"] && changes.map(\.type) == [.update])
        }
        try await container.close()
    }

    @Test func ordersOfOneToManyRelationshipsChangeTheirOwners() async throws {
        try await withLists(of: Letter.self, [ObjectRequest(Letter.self)]) { context in
            try context.letter("1").attachments = try ["a", "b"].map { try context.attachment($0) }
            _ = try context.letter("2")
        } _: { container, source, lists in
            try await expect(["1"], in: lists, container, source) { context in
                let letter = try context.letter("1")
                letter.attachments = letter.attachments.reversed()
            }
            try await expect(["1", "2"], in: lists, container, source) { context in
                let letter = try context.letter("1")
                try context.letter("2").attachments = [letter.attachments[0]]
            }
        }
    }

    @Test func linksOfOneToOneRelationshipsChangeBothSides() async throws {
        try await withLists(of: Person.self, [ObjectRequest(Person.self)]) { context in
            for key in ["a", "b", "c"] { _ = try context.person(key) }
        } _: { container, source, lists in
            try await expect(["a"], in: lists, container, source) { context in
                try context.passport("p").holder = try context.person("a")
            }
            try await expect(["a", "b"], in: lists, container, source) { context in
                try context.passport("p").holder = try context.person("b")
            }
            try await expect(["a", "c"], in: lists, container, source) { context in
                try context.person("a").spouse = try context.person("c")
            }
        }
    }

    @Test func linksOfManyToManyRelationshipsChangeBothSides() async throws {
        try await withGraph { container, source in
            try await source.perform(waitFor: .main) { context in
                for key in ["1", "2"] { _ = try context.letter(key) }
                for key in ["a", "b"] { _ = try context.label(key) }
                for key in ["p", "q", "r"] { _ = try context.person(key) }
            }
            let (letters, labels, people) = (GroupRecorder(), GroupRecorder(), GroupRecorder())
            try source.register(letters, dataKey: "letters", ObjectRequest(Letter.self))
            try source.register(labels, dataKey: "labels", ObjectRequest(Label.self))
            try source.register(people, dataKey: "people", ObjectRequest(Person.self))
            try await source.perform(waitFor: .main) { context in
                try context.label("a").letters = try ["1", "2"].map { try context.letter($0) }
            }
            #expect(letters.takeGroups().map(\.count) == [2] && labels.takeGroups().map(\.count) == [1])
            try await source.perform(waitFor: .main) { context in
                let label = try context.label("a")
                label.letters = label.letters.reversed()
            }
            #expect(labels.takeGroups().map(\.count) == [1])
            #expect(letters.takeGroups().flatMap { $0 }.allSatisfy { $0.type == .update })
            try await source.perform(waitFor: .main) { try $0.person("p").friends.insert(try $0.person("q")) }
            #expect(people.takeGroups().map(\.count) == [2])
        }
    }

    /// What happened during a pause is one update, though the row is the same.
    @Test(arguments: [nil, 2])
    func changedLinksArePartOfWhatAPausedListReports(limit: Int?) async throws {
        try await withGraph { container, source in
            try await source.perform(waitFor: .main) { context in
                for key in ["a", "b", "c"] { _ = try context.topic(key) }
            }
            let recorder = GroupRecorder()
            let request = ObjectRequest(Topic.self, order: [.ascending(\.key)], limit: limit)
            try source.register(recorder, dataKey: "list", request)
            let list = try source.list(request)
            source.pausedDataKeys = ["list"]
            list.isPaused = true
            for key in ["1", "2"] {
                try await source.perform(waitFor: .main) { try $0.letter(key).topic = try $0.topic("a") }
            }
            source.pausedDataKeys = []
            list.isPaused = false
            #expect(recorder.types == [[.update]])
            #expect(list.difference.changes.map(\.type) == [.update])
            #expect(list.object(0)?.letters.count == 2)
        }
    }

    /// Several saves that main merges at once, and a large one that is prepared off it.
    @Test func changedLinksOfLargeListsAreFollowed() async throws {
        try await withGraph { container, source in
            try await source.perform(waitFor: .main) { context in
                for number in 0..<3_000 { _ = try context.topic("\(number)") }
            }
            let recorder = GroupRecorder()
            try source.register(recorder, dataKey: "list", ObjectRequest(Topic.self))
            for round in 0..<3 {
                try await source.perform(waitFor: .main) { context in
                    for number in 0..<400 { try context.letter("\(round) \(number)").topic = try context.topic("7") }
                }
                await container.mainTier.waitForLists()
                #expect(recorder.takeGroups().map(\.count) == [1])
                try await source.perform(waitFor: .main) { context in
                    try context.topic("\(round)").title = "changed"
                    try context.letter("\(round) 0").topic = try context.topic("2999")
                }
                await container.mainTier.waitForLists()
                #expect(recorder.takeGroups().map(\.count) == [3])
            }
        }
    }

    @Test func changedLinksAreNoEditsOfTheirOwners() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("1", waitFor: .main)
            let recorder = GroupRecorder()
            try topics.register(recorder, dataKey: "topics", ObjectRequest(Topic.self))
            let draft = try topics.draft(of: container.main.knownTopic("t"))
            draft.object.title = "edited"
            #expect(try await letters.add(["2", "3"]) == SaveReport(inserted: 2))
            #expect(recorder.types == [[.update]])
            #expect(try draft.conflicts().isEmpty)
            #expect(try await draft.save().merged.isEmpty)
            #expect(try topics.main.first(Topic.self, where: \.key == "t")?.title == "edited")
        }
    }
}
