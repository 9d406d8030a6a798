import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Another program can give rows of two entities the same key. They are different objects everywhere.
@MainActor @Suite struct EqualKeyTests {
    /// - Parameter body: Gets a letter and a topic that have the same key.
    private func withEqualKeys(
        _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { _ = try $0.letter("letter") }
            let key = try container.main.knownLetter("letter").objectID.key
            try RawConnection(directory.store).execute(
                "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(key), 'topic', 'x')")
            try await source.perform { _ in }
            #expect(try container.main.knownTopic("topic").objectID.key == key)
            try await body(container, source)
        }
    }

    @Test func anExportHasBoth() async throws {
        try await withEqualKeys { container, _ in
            let graph = try container.main.exportGraph(of: [Topic.self, Letter.self])
            #expect(graph.objectCount(ofEntity: "Topic") == 1 && graph.objectCount(ofEntity: "Letter") == 1)
        }
    }

    @Test func aDraftEditsBothInOneStep() async throws {
        try await withEqualKeys { container, source in
            let draft = try source.draft(of: container.main.knownTopic("topic"))
            let letter = try draft.context.knownLetter("letter")
            @MainActor func edit() {
                draft.object.title = "y"
                letter.subject = "y"
                letter.topic = draft.object
            }
            edit()
            for _ in 0..<3 { draft.undo() }
            #expect(draft.object.title == "x" && letter.subject != "y" && letter.topic == nil)
            edit()
            // Another save changes one of the objects.
            try await source.perform { try $0.topic("topic").title = "z" }
            #expect(try draft.conflicts().count == 1)
            try await draft.save(resolving: .keepMine)
            let saved = try container.main.knownLetter("letter")
            #expect(saved.subject == "y" && saved.topic?.title == "y")
        }
    }

    @Test func aDraftDeletesOneOfThem() async throws {
        try await withEqualKeys { container, source in
            let draft = try source.draft(of: container.main.knownTopic("topic"))
            let letter = try draft.context.knownLetter("letter")
            letter.subject = "y"
            try draft.context.delete(draft.object)
            #expect(!letter.isDeleted && letter.subject == "y")
            try await draft.save()
            #expect(try container.main.fetch(Topic.self).isEmpty)
            #expect(try container.main.knownLetter("letter").subject == "y")
        }
    }

    /// A sync does not delete the objects that its list has. A child with the key of such an object is deleted.
    @Test func aSweepDeletesAChildWithTheKeyOfAnObjectOfTheList() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let board = try container.dataSource(BoardDataSource.self)
        try await board.add([TopicValue(key: "1", letters: [LetterValue(key: "a"), LetterValue(key: "b")])])
        let key = try container.main.knownLetter("a").objectID.key
        try RawConnection(directory.store).execute(
            "INSERT INTO \"Topic\" (\"_key\", \"key\", \"title\") VALUES (\(key), '2', 'x')")
        let list = [TopicValue(key: "1", letters: [LetterValue(key: "b")]), TopicValue(key: "2")]
        try await board.sync(list, entity: Topic.self)
        #expect(try container.main.knownTopic("2").objectID.key == key)
        #expect(try container.main.fetch(Letter.self).map(\.key) == ["b"])
        try await container.close()
    }

    // MARK: Entities of one family

    /// - Parameter body: Gets a cat and a dog that have the same key and the same keeper.
    private func withEqualAnimals(
        _ body:
            @MainActor (PersistentContainer, GraphDataSource, _ cat: ManagedObjectID, _ dog: ManagedObjectID)
            async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { container, source in
            try await source.perform { context in
                let keeper = try context.person("keeper")
                try context.cat("cat").keeper = keeper
                try context.dog("dog").keeper = keeper
            }
            let cat = try #require(try container.main.first(Cat.self, where: \.key, equals: "cat")).objectID
            try RawConnection(directory.store).execute("UPDATE \"Dog\" SET \"_key\" = \(cat.key)")
            try await source.perform { _ in }
            let dog = try #require(try container.main.first(Dog.self, where: \.key, equals: "dog")).objectID
            #expect(dog.key == cat.key && dog != cat)
            try await body(container, source, cat, dog)
        }
    }

    @Test func eachIsAGroupOfItsOwn() async throws {
        try await withEqualAnimals { container, source, cat, dog in
            let groups = try container.main.aggregate(ObjectRequest<Person>(), groupBy: \.animals, .count())
            #expect(Set(groups.map(\.key)) == [cat, dog] && groups.map(\.values) == [1, 1])
            let live = try source.liveAggregate(ObjectRequest<Person>(), groupBy: \.animals, .count())
            #expect(live.value == [cat: 1, dog: 1])
            try await source.perform(waitFor: .main) { context in
                for dog in try context.fetch(Dog.self) { dog.keeper = nil }
            }
            await container.mainTier.waitForLists()
            #expect(live.value == [cat: 1])
        }
    }

    private struct AnimalID: ManagedObjectConvertible {
        let id: ManagedObjectID

        init(_ animal: Animal) { id = animal.objectID }
    }

    @Test func eachIsFoundByItsID() async throws {
        try await withEqualAnimals { container, _, cat, dog in
            #expect(try container.main.objects(Animal.self, ids: [dog, cat, dog]).map(\.objectID) == [dog, cat, dog])
            var found: [ManagedObjectID] = []
            for try await page in container.pages(as: AnimalID.self) { found += page.map(\.id) }
            #expect(found.count == 2 && Set(found) == [cat, dog])
        }
    }

    /// A list of links has objects, not keys.
    @Test func aRelationshipIsSetToOneOrBoth() async throws {
        try await withEqualAnimals { container, source, cat, dog in
            try await source.perform(waitFor: .main) { context in
                let cats: [Animal] = try context.fetch(Cat.self)
                try context.knownPerson("keeper").animals.set(cats)
            }
            #expect(try container.main.knownPerson("keeper").animals.map(\.objectID) == [cat])
            try await source.perform(waitFor: .main) { context in
                let animals = try context.fetch(Animal.self)
                try context.knownPerson("keeper").animals.set([])
                try context.knownPerson("keeper").animals.set(animals)
            }
            #expect(Set(try container.main.knownPerson("keeper").animals.map(\.objectID)) == [cat, dog])
        }
    }

    /// The first page has the cat, so the dog is not in the list.
    @Test func aListOfSeveralPagesDeletesTheOther() async throws {
        try await withEqualAnimals { container, source, cat, _ in
            let value = GraphValue(name: GraphValue.Name(.cat, "cat"), text: "", children: [])
            try await source.load(SyncScope<Animal>("animals"), maxAge: .seconds(10)) { request in
                request.page == 0 ? .page([value], next: "1") : .page([], next: nil)
            }
            #expect(try container.main.fetch(Animal.self).map(\.objectID) == [cat])
        }
    }

    /// One save changes both, so the list gets two changes of one key.
    @Test func aListShowsBoth() async throws {
        try await withEqualAnimals { container, source, cat, dog in
            let list = try source.list(ObjectRequest(Animal.self, order: [.ascending(\.key)]))
            #expect(list.snapshot.map(\.id) == [cat, dog])
            #expect(list.snapshot.index(of: cat) == 0 && list.snapshot.index(of: dog) == 1)
            try await source.perform(waitFor: .main) { context in
                for animal in try context.fetch(Animal.self) { animal.key += " 2" }
            }
            await container.mainTier.waitForLists()
            #expect(list.snapshot.map(\.id) == [cat, dog] && list.snapshot.map(\.key) == ["cat 2", "dog 2"])
            try await source.perform(waitFor: .main) { context in
                for dog in try context.fetch(Dog.self) { dog.key = "a dog" }
            }
            await container.mainTier.waitForLists()
            #expect(list.snapshot.map(\.id) == [dog, cat] && list.snapshot.map(\.key) == ["a dog", "cat 2"])
            try await source.perform(waitFor: .main) { context in
                for dog in try context.fetch(Dog.self) { context.delete(dog) }
            }
            await container.mainTier.waitForLists()
            #expect(list.snapshot.map(\.id) == [cat])
            #expect(try container.main.fetch(Animal.self).map(\.objectID) == [cat])
        }
    }

    /// Its differences lead from each snapshot to the next, although the changes of the rows are not known one by one.
    @Test func theDifferencesOfAListFitItsSnapshots() async throws {
        try await withEqualAnimals { container, source, cat, dog in
            let request = ObjectRequest(Animal.self, order: [.ascending(\.key)])
            var updates = source.updates(request).makeAsyncIterator()
            var shown = try #require(await updates.next()).snapshot.map(\.id)
            #expect(shown == [cat, dog])
            for isDeleted in [false, true] {
                try await source.perform { context in
                    for animal in try context.fetch(Animal.self) {
                        if isDeleted { context.delete(animal) } else { animal.key += " 2" }
                    }
                }
                let update = try #require(await updates.next())
                for change in update.difference.changes {
                    if change.type == .delete { shown.remove(at: try #require(change.index)) }
                    if change.type == .insert { shown.insert(change.id, at: try #require(change.newIndex)) }
                }
                #expect(shown == update.snapshot.map(\.id) && shown == (isDeleted ? [] : [cat, dog]))
            }
            #expect(try container.main.count(Animal.self) == 0)
        }
    }

    /// The list reads its changed rows after each save, because its order depends on related rows.
    @Test func aListInTheOrderOfRelatedRowsShowsBoth() async throws {
        try await withEqualAnimals { container, source, cat, dog in
            let list = try source.list(
                ObjectRequest(Animal.self, order: [.ascending(\.keeper?.key), .ascending(\.key)]))
            #expect(list.snapshot.map(\.id) == [cat, dog])
            try await source.perform(waitFor: .main) { context in
                try context.person("keeper").key = "a keeper"
            }
            await container.mainTier.waitForLists()
            try await source.perform(waitFor: .main) { context in
                for dog in try context.fetch(Dog.self) { dog.key = "a dog" }
            }
            await container.mainTier.waitForLists()
            #expect(list.snapshot.map(\.id) == [dog, cat] && list.snapshot.map(\.key) == ["a dog", "cat"])
        }
    }

    /// Such a list reads all its rows only if one of the two may have changed.
    @Test func aChangeOfAnotherObjectIsReportedAlone() async throws {
        try await withEqualAnimals { container, source, _, _ in
            try await source.perform { context in
                for key in ["a", "x"] { try context.cat(key).keeper = try context.person("other keeper") }
            }
            let recorder = GroupRecorder()
            try source.register(
                recorder, dataKey: "list",
                ObjectRequest(Animal.self, order: [.ascending(\.keeper?.key), .ascending(\.key)]))
            for key in ["a", "x"] {
                try await source.perform(waitFor: .main) { try $0.cat(key).name = "new" }
                await container.mainTier.waitForLists()
            }
            #expect(recorder.types == [[.update], [.update]])
        }
    }

    /// Of the two, one can be among the first objects and the other not. The differences lead from each snapshot to the next.
    @Test(arguments: [nil, 2, 3], [false, true])
    func aListWithALimitOrAPauseShowsBoth(limit: Int?, isPaused: Bool) async throws {
        try await withEqualAnimals { container, source, _, _ in
            try await source.perform { context in
                for (key, keeper) in [("a", "first keeper"), ("e", "last keeper"), ("z", "last keeper")] {
                    try context.cat(key).keeper = try context.person(keeper)
                }
            }
            let requests = [
                ObjectRequest(Animal.self, order: [.ascending(\.key)], limit: limit),
                ObjectRequest(Animal.self, order: [.ascending(\.keeper?.key), .ascending(\.key)], limit: limit),
            ]
            let lists = try requests.map { try source.list($0) }
            var shown = lists.map { $0.snapshot.map(\.id) }
            for list in lists { list.isPaused = isPaused }
            for (number, step) in Self.steps.enumerated() {
                try await source.perform(waitFor: .main) { try step($0) }
                await container.mainTier.waitForLists()
                if isPaused, number.isMultiple(of: 2) { continue }
                for (index, list) in lists.enumerated() {
                    list.isPaused = false
                    let new = list.snapshot.map(\.id)
                    if new != shown[index] { Self.apply(list.difference, to: &shown[index]) }
                    #expect(shown[index] == new, "step \(number)")
                    #expect(try container.main.fetch(requests[index]).map(\.objectID) == new, "step \(number)")
                    list.isPaused = isPaused
                }
            }
        }
    }

    /// The dog moves up, so that the cat, which has not changed, leaves the list.
    @Test func anObjectThatLeavesAListWithALimitIsNotTheOther() async throws {
        try await withEqualAnimals { container, source, cat, dog in
            try await source.perform { _ = try $0.cat("a") }
            let recorder = GroupRecorder()
            try source.register(
                recorder, dataKey: "list", ObjectRequest(Animal.self, order: [.ascending(\.key)], limit: 2))
            try await source.perform(waitFor: .main) { context in
                for dog in try context.fetch(Dog.self) { dog.key = "b dog" }
            }
            await container.mainTier.waitForLists()
            #expect(recorder.types == [[.delete, .insert]])
            #expect(recorder.changes.map(\.object.objectID) == [cat, dog])
        }
    }

    private nonisolated static let steps: [@Sendable (PrivateContext) throws -> Void] = [
        { context in
            for animal in try context.fetch(Animal.self) { animal.name = "new" }
        },
        { context in
            for dog in try context.fetch(Dog.self) { dog.key = "b dog" }
        },
        { context in
            for cat in try context.fetch(Cat.self, where: \.key == "cat") { context.delete(cat) }
        },
        { try $0.cat("a").key = "y" },
    ]

    private static func apply(_ difference: ListDifference, to ids: inout [ManagedObjectID]) {
        let removed = difference.changes.filter { $0.type == .delete || $0.type == .move }.compactMap(\.index)
        for index in removed.sorted(by: >) where index < ids.count { ids.remove(at: index) }
        let added = difference.changes.filter { $0.type == .insert || $0.type == .move }
            .compactMap { change in change.newIndex.map { (index: $0, id: change.id) } }
        for (index, id) in added.sorted(by: { $0.index < $1.index }) { ids.insert(id, at: min(index, ids.count)) }
    }

    @Test func anImportFindsThatTheOtherIsLinked() async throws {
        try await withEqualAnimals { container, source, _, _ in
            try await source.perform { context in
                for animal in try context.fetch(Animal.self) { animal.keeper = nil }
            }
            let json =
                "{\"Person\": [{\"key\": \"keeper\", \"animals\": [\"cat\"]}], \"Cat\": [{\"key\": \"cat\", \"keeper\": null}], \"Dog\": [{\"key\": \"dog\", \"keeper\": \"keeper\"}]}"
            await expectError(.invalidGraph) {
                try await container.importGraph(ObjectGraph(json: Data(json.utf8)))
            }
        }
    }
}
