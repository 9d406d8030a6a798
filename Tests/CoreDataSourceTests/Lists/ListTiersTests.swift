import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Lists and what happens below them: large saves, resets, discarded saves, a store that cannot be read, many tasks.
@MainActor
struct ListTiersTests: ItemListSuite {
    // MARK: Large saves

    @Test(arguments: StoreKind.allCases)
    func aLargeSaveIsPreparedElsewhereAndShownWhole(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            let delegate = try register(senders, "list")
            try await senders.add(items(0..<2_000), waitFor: .main)
            #expect(senders.lastUpdateReason(dataKey: "list")?.ranOffMain == true)
            #expect(delegate.takeCalls().count == 2_002)
            #expect(listed(senders, "list") == (try fetched(senders)))
            try await senders.add(items(0..<2_000, times: -1), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders)))
            try await senders.add(ItemData(key: "k0", number: 7), waitFor: .main)
            #expect(senders.lastUpdateReason(dataKey: "list")?.ranOffMain == false)
            #expect(listed(senders, "list") == (try fetched(senders)))
            #expect(delegate.problems == [])
        }
    }

    /// While a large save is prepared the list shows its older state, its objects the newest values, and a new list of the
    /// same query everything.
    @Test func nothingStaleIsShownWhileALargeSaveIsPrepared() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<1_000), waitFor: .main)
            let delegate = try register(senders, "list")
            try senders.performAndWait { context in
                for sender in try context.fetch(Sender.self) {
                    sender.number += 1
                    if sender.number > 900 { context.delete(sender) }
                }
            }
            // Merges the objects; the list is working then, and main is not given back before the checks.
            #expect(try senders.fetch(Sender.self).count == 900)
            #expect(senders.numberOfItems(inSection: 0, dataKey: "list") == 1_000)
            let first = senders.object(at: IndexPath(item: 0, section: 0), dataKey: "list", as: Sender.self)
            #expect(first?.number == 1)
            let last = senders.object(at: IndexPath(item: 999, section: 0), dataKey: "list", as: Sender.self)
            #expect(last?.isDeleted == true)
            let other = try register(senders, "other")
            #expect(senders.numberOfItems(inSection: 0, dataKey: "other") == 900)
            try await senders.add(ItemData(key: "last", number: 5_000), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders)))
            #expect(listed(senders, "other") == (try fetched(senders)))
            #expect(delegate.problems + other.problems == [])
            #expect(other.calls == ["will", "insert - [0, 900]", "did"])
        }
    }

    // MARK: Resets and discarded saves

    @Test(arguments: StoreKind.allCases)
    func aResetIsOneReport(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            try await senders.add(items(0..<3))
            let delegate = try register(senders, "list")
            var updates = senders.updates(ObjectRequest(Item.self)).makeAsyncIterator()
            _ = await updates.next()
            try await container.reset()
            #expect(delegate.takeCalls() == ["will", "delete [0, 2] -", "delete [0, 1] -", "delete [0, 0] -", "did"])
            #expect(await updates.next()?.reason.kind == .reset)
            #expect(senders.lastUpdateReason(dataKey: "list")?.kind == .reset)
            try await senders.add(items(7..<9), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "insert - [0, 0]", "insert - [0, 1]", "did"])
            #expect(await updates.next()?.snapshot.count == 2)
            #expect(delegate.problems == [])
        }
    }

    @Test func discardedSavesAreRolledBack() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let delegate = try register(senders, "list")
        store.fail(with: noRoom)
        try await senders.perform(waitFor: .main) { context in
            for sender in try context.fetch(Sender.self) { sender.number = -sender.number }
            let sender = try context.insert(Sender.self)
            sender.key = "lost"
        }
        #expect(listed(senders, "list").count == 4)
        await container.discardPending()
        store.fail(with: nil)
        #expect(listed(senders, "list") == ["k0 0", "k1 1", "k2 2"])
        #expect(senders.lastUpdateReason(dataKey: "list")?.kind == .rolledBack)
        try await senders.add(items(3..<4), waitFor: .main)
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(delegate.problems == [])
    }

    @Test func aDiscardBetweenTwoSavesNeedsNoReading() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let delegate = try register(senders, "list")
        store.fail(with: noRoom)
        _ = try? await senders.add(ItemData(key: "k0", number: 9), waitFor: .main)
        _ = await container.stack.root.discardPending()
        store.fail(with: nil)
        try await senders.add(ItemData(key: "k0", number: 5), waitFor: .main)
        #expect(listed(senders, "list") == ["k1 1", "k2 2", "k0 5"])
        #expect(senders.lastUpdateReason(dataKey: "list")?.didReadStore == false)
        #expect(delegate.problems == [])
    }

    @Test func aFailedReadIsReportedAndTriedAgain() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let delegate = try register(senders, "list")
        store.failReads(with: noRoom)
        container.mainTier.reloadLists()
        await container.mainTier.waitForLists()
        #expect(delegate.failures.map(\.code) == [.diskFull])
        #expect(senders.lastUpdateReason(dataKey: "list")?.failure?.code == .diskFull)
        #expect(senders.numberOfItems(inSection: 0, dataKey: "list") == 3)
        store.failReads(with: nil)
        try await senders.add(items(4..<5), waitFor: .main)
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(delegate.problems == [])
    }

    @Test func savesDuringAFailedReadAreNotForgotten() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let delegate = try register(senders, "list")
        delegate.onFailure = { store.failReads(with: nil) }
        let read = store.holdNextRead()
        container.mainTier.reloadLists()
        for await _ in read.arrived {}
        try senders.performAndWait { try $0.insert(Sender.self).key = "followed" }
        container.mainTier.merge()
        store.failReads(with: noRoom)
        read.release()
        await container.mainTier.waitForLists()
        #expect(delegate.failures.count == 1)
        #expect(senders.numberOfItems(inSection: 0, dataKey: "list") == 4)
        #expect(listed(senders, "list") == (try fetched(senders)))
    }

    /// They come late, and a save is joined to them before the loop takes them.
    @Test func theFirstRowsAfterAFailureAreAllInserted() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        store.failReads(with: noRoom)
        var updates = senders.updates(ObjectRequest<Item>(order: [.ascending(\.number)])).makeAsyncIterator()
        let failure = await updates.next()
        #expect(failure?.reason.failure?.code == .diskFull)
        #expect(failure?.snapshot.count == 0)
        store.failReads(with: nil)
        for number in 3..<5 {
            try await senders.add(items(number..<number + 1), waitFor: .main)
            await container.mainTier.waitForLists()
        }
        let update = try #require(await updates.next())
        #expect(update.snapshot.count == 5)
        #expect(update.difference.changes.map(\.newIndex) == [0, 1, 2, 3, 4])
        #expect(update.difference.changes.allSatisfy { $0.type == .insert })
    }

    // MARK: Many saves

    /// Random saves of several data sources through all tiers: each list is what a fetch finds, and so is its table.
    @Test(arguments: StoreKind.allCases)
    func everyListEqualsAFetch(kind: StoreKind) async throws {
        let seed = testSeed()
        print("Lists through the tiers: \(kind), seed \(seed)")
        var random = SeededRandom(seed: seed)
        try await withChat(kind) { container, senders in
            let rooms = try container.dataSource(RoomDataSource.self)
            let few = \Item.number < 5
            try await senders.add([ItemData(key: "s3", number: 4), ItemData(key: "s4", number: 6)])
            let (early, late) = (try cursor(senders, "s3"), try cursor(senders, "s4"))
            let delegates = [
                try register(senders, "all"), try register(senders, "few", where: few),
                try register(senders, "window", limit: 4), try register(senders, "few window", limit: 3, where: few),
                try register(senders, "behind", after: early),
                try register(senders, "window behind", limit: 2, after: late),
            ]
            for step in 0..<90 {
                let isLarge = step % 45 == 30
                let list = (0..<(isLarge ? 280 : 1 + random.next(below: 4))).map { _ in
                    ItemData(key: "\(random.next(below: isLarge ? 320 : 12))", number: Int64(random.next(below: 10)))
                }
                let source: DataSource<any Sendable> = step % 3 == 0 ? rooms : senders
                let prefixed = list.map { ItemData(key: "\(step % 3 == 0 ? "r" : "s")\($0.key)", number: $0.number) }
                let level: SaveLevel = random.next(below: 3) == 0 ? .store : .main
                if random.next(below: 3) == 0 {
                    try await source.delete(prefixed, waitFor: level)
                } else {
                    try await source.add(prefixed, waitFor: level)
                }
                guard level == .main else { continue }
                #expect(listed(senders, "all") == (try fetched(senders)), "step \(step)")
                #expect(listed(senders, "few") == (try fetched(senders, where: few)), "step \(step)")
                #expect(listed(senders, "window") == (try fetched(senders, limit: 4)), "step \(step)")
                #expect(listed(senders, "few window") == (try fetched(senders, limit: 3, where: few)), "step \(step)")
                #expect(listed(senders, "behind") == (try fetched(senders, after: early)), "step \(step)")
                #expect(
                    listed(senders, "window behind") == (try fetched(senders, limit: 2, after: late)), "step \(step)")
            }
            #expect(delegates.flatMap(\.problems) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func listsAreEqualToAFetchAfterSixtyFourTasksWrote(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            let rooms = try container.dataSource(RoomDataSource.self)
            let delegates = [try register(senders, "all"), try register(rooms, "window", limit: 20)]
            let follower = Task {
                var last: [String] = []
                for await update in senders.updates(
                    ObjectRequest(Item.self, order: [SortDescriptor(\.number), SortDescriptor(\.key)]))
                {
                    last = update.snapshot.map { "\($0.key) \($0.number)" }
                    if last.last == "end 1000" { break }
                }
                return last
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<64 {
                    group.addTask {
                        let source: DataSource<any Sendable> = task % 2 == 0 ? senders : rooms
                        for number in Int64(1)...8 {
                            let own = ItemData(key: "\(task)-\(number)", number: number)
                            try await source.add([own, ItemData(key: "last-\(task)", number: -number)])
                            if number % 3 == 0 { try await source.delete(own) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await senders.add(ItemData(key: "end", number: 1_000), waitFor: .main)
            #expect(listed(senders, "all") == (try fetched(senders)))
            #expect(listed(rooms, "window") == (try fetched(rooms, limit: 20)))
            #expect(await follower.value == (try fetched(senders)))
            #expect(delegates.flatMap(\.problems) == [])
        }
    }

    // MARK: Memory

    /// What somebody keeps of an older state makes no change copy more than the chunks that it falls in.
    @Test nonisolated func heldSnapshotsDoNotMakeChangesCopyTheList() throws {
        let layout = ListWorld.base
        let query = ListQuery(layout, order: ListOrder(layout, sort: [SortKey(column: ListWorld.numberColumn)]))
        let entity = ListWorld.entities[0]
        func row(_ key: Int64, _ number: Int64) -> RowSnapshot {
            ListWorld.row(key, ListWorld.Item(entity: entity, number: number, text: nil))
        }
        var state = ListState(
            query, RowStorage((0..<100_000).map { ListedRow(entity: entity, key: $0, row: row($0, $0)) }),
            isComplete: true, asOf: 0)
        var held = [state]
        var random = SeededRandom(seed: 1)
        for save in Int64(1)...200 {
            let listed = state.rows[random.next(below: 100_000)]
            let (key, old) = (listed.key, listed.row)
            var changes = EntityChanges(entity: entity)
            var columns = ColumnSet()
            columns.insert(ListWorld.numberColumn)
            let new = row(key, Int64(random.next(below: 100_000)))
            changes.updated = [UpdatedRow(key: key, row: new, previous: old, columns: columns)]
            var set = ChangeSet(entities: [changes])
            set.number = save
            var net = NetChanges()
            try net.add(set, to: query)
            guard case .state(let next, _) = state.applying(net, asOf: set.saveNumber) else {
                Issue.record("the row was not found")
                return
            }
            #expect(next.rows.chunksNotShared(with: state.rows) <= 4)
            state = next
            held.append(state)
        }
        #expect(held.count == 201)
    }
}
