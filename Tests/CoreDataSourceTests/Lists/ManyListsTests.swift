import CoreDataSource
import Foundation
import RowStore
import Testing

/// Many lists of one entity.
@MainActor struct ManyListsTests {
    /// A reload asks each list at most a few times, no matter how many lists there are. So the work grows with the lists, and not
    /// with their square.
    @Test(arguments: [1, 30, 300])
    func aReloadAsksEachListAFewTimes(count: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<count))
            let lists = try (0..<count).map { number in
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid == "uid-\(number)"))
            }
            await container.mainTier.waitForLists()
            let before = container.mainTier.listStepCount
            container.mainTier.reloadLists()
            await container.mainTier.waitForLists()
            #expect(container.mainTier.listStepCount - before <= 8 * count + 64)
            #expect(lists.allSatisfy { $0.count == 1 })
        }
    }

    /// A save asks no list whose rows cannot be among the changed rows. So the work grows with the lists that change, and not with
    /// the lists that there are.
    @Test(arguments: [1, 30, 1000])
    func aSaveAsksOnlyTheListsThatItsRowsCanBeIn(count: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<count))
            let lists = try (0..<count).map { number in
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid == "uid-\(number)"))
            }
            let main = container.mainTier
            await main.waitForLists()
            let (visits, steps) = (main.listVisitCount, main.listStepCount)
            try await contacts.add(ContactData(uid: "uid-\(count / 2)", name: "new"), waitFor: .main)
            await main.waitForLists()
            #expect(main.listVisitCount - visits == 1)
            #expect(main.listStepCount - steps == 1)
            for (number, list) in lists.enumerated() {
                #expect(list.object(0)?.name == (number == count / 2 ? "new" : "name \(number)"))
            }
        }
    }

    @Test(arguments: [1, 30, 1000])
    func aSaveAsksOnlyTheListsInWhoseRangesItsRowsAre(count: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<count))
            try await contacts.perform { context in
                for (number, contact) in try context.fetch(ContactEntity.self).enumerated() {
                    contact.score = Double(number)
                }
            }
            let lists = try (0..<count).map { number in
                let (low, high) = (Double(number) - 0.5, Double(number) + 0.5)
                return try contacts.list(
                    ObjectRequest(ContactEntity.self, where: \.score >= low && \.score < high))
            }
            let main = container.mainTier
            await main.waitForLists()
            let visits = main.listVisitCount
            try await contacts.perform(waitFor: .main) { context in
                try context.first(ContactEntity.self, where: \.score, equals: 0)?.score = Double(count / 2)
            }
            await main.waitForLists()
            // The list that the object leaves, and the list into which it moves.
            #expect(main.listVisitCount - visits == (count == 1 ? 0 : 2))
            #expect(lists.map(\.count).reduce(0, +) == count)
            #expect(lists[count / 2].count == (count == 1 ? 1 : 2))
        }
    }

    @Test func aSaveAsksOnlyTheAggregatesThatItsRowsCanBeIn() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100))
            let counts = try (0..<100).map { number in
                try contacts.liveAggregate(
                    ObjectRequest(ContactEntity.self, where: \.name == "name \(number)"), .count())
            }
            let main = container.mainTier
            await main.waitForLists()
            let (visits, steps) = (main.listVisitCount, main.listStepCount)
            try await contacts.add(ContactData(uid: "uid-1", name: "name 2"), waitFor: .main)
            await main.waitForLists()
            #expect(main.listVisitCount - visits == 2)
            #expect(main.listStepCount - steps == 2)
            for (number, count) in counts.enumerated() { #expect(count.value == [1: 0, 2: 2][number, default: 1]) }
        }
    }

    /// The predicates of these lists are not equalities, so each list checks the changed row. Only one list has work.
    @Test func aListThatShowsNoneOfTheChangedRowsHasNoWork() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<50))
            let lists = try (0..<50).map { number in
                let uid = "uid-\(number)"
                return try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid >= uid && \.uid <= uid))
            }
            let main = container.mainTier
            await main.waitForLists()
            let (visits, steps) = (main.listVisitCount, main.listStepCount)
            try await contacts.add(ContactData(uid: "uid-7", name: "new"), waitFor: .main)
            await main.waitForLists()
            #expect(main.listVisitCount - visits == 50)
            #expect(main.listStepCount - steps == 1)
            #expect(lists[7].object(0)?.name == "new")
        }
    }

    @Test func aLinkLeadsToTheListsOfBothDestinations() async throws {
        try await withGraph(.inMemory) { container, source in
            try await source.perform { context in
                for number in 0..<40 { try context.letter("\(number)").topic = try context.topic("\(number)") }
            }
            let topics = try source.main.fetch(Topic.self, order: [.ascending(\.key)])
            let lists = try topics.map { topic in try source.list(ObjectRequest(Letter.self, where: \.topic == topic)) }
            let main = container.mainTier
            await main.waitForLists()
            @MainActor func visits(_ body: @escaping @Sendable (PrivateContext) throws -> Void) async throws -> Int {
                let before = main.listVisitCount
                try await source.perform(waitFor: .main) { try body($0) }
                await main.waitForLists()
                for (topic, list) in zip(topics, lists) {
                    let fetched = try source.main.fetch(Letter.self, where: \.topic == topic).map(\.objectID)
                    #expect(list.snapshot.map(\.id) == fetched)
                }
                return main.listVisitCount - before
            }
            #expect(try await visits { try $0.letter("3").topic = try $0.topic("7") } == 2)
            #expect(try await visits { try $0.letter("3").topic = nil } == 1)
            #expect(try await visits { try $0.letter("3").subject = "new" } == 0)
            // The attachments of a letter in any list.
            #expect(try await visits { try $0.letter("5").attachments = [try $0.attachment("a")] } == 40)
            #expect(try await visits { try $0.topic("9").title = "new" } == 0)
        }
    }

    /// A list whose rows could not be read reads them again after the next save of its entities, whichever rows the save changes.
    @Test func aSaveOfOtherRowsEndsAFailure() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { try $0.letter("l").subject = "a" }
        let list = try source.list(ObjectRequest(Letter.self, where: \.subject == "a"))
        store.failReads(with: DataSourceError(.storeBusy, "busy"))
        container.mainTier.reloadLists()
        await container.mainTier.waitForLists()
        #expect(list.lastUpdateReason.kind == .failure)
        store.failReads(with: nil)
        try await source.perform(waitFor: .main) { try $0.letter("other").subject = "b" }
        await container.mainTier.waitForLists()
        #expect(list.lastUpdateReason.kind != .failure && list.snapshot.map(\.key) == ["l"])
        let before = container.mainTier.listVisitCount
        try await source.perform(waitFor: .main) { try $0.letter("other").subject = "c" }
        #expect(container.mainTier.listVisitCount == before)
        try await container.close()
    }

    /// A report shows a row that has left the list with its newest values, even if a save in the report changes the row.
    @Test func aRowThatHasLeftTheListHasTheValuesOfASaveInTheReport() async throws {
        try await withGraph(.inMemory) { container, source in
            try await source.perform { try $0.letter("l").subject = "a" }
            let recorder = GroupRecorder()
            try source.register(recorder, dataKey: "list", ObjectRequest(Letter.self, where: \.subject == "a"))
            container.mainTier.forgetObjects()
            recorder.onWill = {
                try? source.performAndWait { try $0.letter("l").subject = "c" }
                container.mainTier.merge()
            }
            try await source.perform(waitFor: .main) { try $0.letter("l").subject = "b" }
            await container.mainTier.waitForLists()
            let left = try #require(recorder.changes.first)
            #expect(left.type == .delete && (left.object as? Letter)?.subject == "c")
        }
    }

    /// The first save after lists were released removes what is left of them, though no list is added.
    @Test(arguments: [0, 20])
    func aSaveAsksFewReleasedLists(keptCount: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let main = container.mainTier
            @MainActor func list(_ number: Int) throws -> LiveList<ContactEntity> {
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.name == "new" && \.uid != "\(number)"))
            }
            var lists = try (0..<500).map(list)
            #expect(main.keptQueryCount == 500)
            await main.waitForLists()
            lists.removeSubrange(keptCount...)
            let before = main.listVisitCount
            try await contacts.add(ContactData(uid: "uid", name: "new"), waitFor: .main)
            await main.waitForLists()
            #expect(main.listVisitCount - before == keptCount)
            #expect(main.followedQueryCount == keptCount && main.keptQueryCount == keptCount)
            #expect(lists.allSatisfy { $0.count == 1 })
        }
    }

    /// No save changes a row that the released lists could have had.
    @Test(arguments: [0, 20])
    func savesOfOtherRowsRemoveReleasedLists(keptCount: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let main = container.mainTier
            var lists = try (0..<500).map { number in
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid == "old-\(number)"))
            }
            await main.waitForLists()
            #expect(main.keptQueryCount == 500)
            lists.removeSubrange(keptCount...)
            let before = main.listVisitCount
            for number in 0..<300 {
                try await contacts.add(ContactData(uid: "uid-\(number)", name: "new"), waitFor: .main)
            }
            await main.waitForLists()
            #expect(main.listVisitCount == before)
            #expect(main.followedQueryCount == keptCount && main.keptQueryCount == keptCount)
            // The lists that remain are found as before.
            try await contacts.add(ContactData(uid: "old-3", name: "new"), waitFor: .main)
            await main.waitForLists()
            #expect(lists.map(\.count).reduce(0, +) == (keptCount == 0 ? 0 : 1))
        }
    }

    /// Lists of one query share their rows, also after other lists were released.
    @Test func listsOfOneQueryShareTheirRows() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            @MainActor func list(_ number: Int) throws -> LiveList<ContactEntity> {
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.uid == "uid-\(number)"))
            }
            let kept = try list(0)
            for number in 0..<100 { _ = try list(number) }
            let shared = try (0..<50).map { _ in try list(0) }
            #expect(container.mainTier.followedQueryCount == 1)
            try await contacts.add(ContactData(uid: "uid-0", name: "new"), waitFor: .main)
            await container.mainTier.waitForLists()
            #expect(([kept] + shared).allSatisfy { $0.object(0)?.name == "new" })
        }
    }
}
