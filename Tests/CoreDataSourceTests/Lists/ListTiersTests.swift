import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Lists and what happens below them: large saves, resets, discarded saves, a store that cannot be read, many tasks.
@MainActor
struct ListTiersTests {
    /// What a fetch finds, in the form of a list.
    private func fetched(
        _ source: DataSource, limit: Int? = nil, after cursor: FetchCursor? = nil,
        where predicate: FetchPredicate? = nil
    ) throws -> [String] {
        var request = FetchRequest(
            Item.self, where: predicate, sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)], limit: limit)
        request.after = cursor
        return try source.fetch(request).map { "\($0.key) \($0.number)" }
    }

    private func listed(_ source: DataSource, _ dataKey: String) -> [String] {
        source.allObjects(dataKey: dataKey, as: Item.self).map { "\($0.key) \($0.number)" }
    }

    private func register(
        _ source: DataSource, _ dataKey: String, limit: Int? = nil, after cursor: FetchCursor? = nil,
        where predicate: FetchPredicate? = nil
    ) throws -> RecordingDelegate {
        let delegate = RecordingDelegate()
        try source.register(
            delegate, dataKey: dataKey, entity: Item.self, where: predicate,
            sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)], limit: limit, after: cursor)
        delegate.follow(source, dataKey)
        return delegate
    }

    private func items(_ range: Range<Int>, times factor: Int64 = 1) -> [ItemData] {
        range.map { ItemData(key: "k\($0)", number: Int64($0) * factor) }
    }

    // MARK: Large saves

    @Test(arguments: StoreKind.allCases)
    func aLargeSaveIsPreparedElsewhereAndShownWhole(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            let delegate = try register(senders, "list")
            try await senders.add(items(0..<2_000), waitFor: .main)
            #expect(senders.why(dataKey: "list")?.isPreparedElsewhere == true)
            #expect(delegate.takeCalls().count == 2_002)
            #expect(listed(senders, "list") == (try fetched(senders)))
            try await senders.add(items(0..<2_000, times: -1), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders)))
            try await senders.add(ItemData(key: "k0", number: 7), waitFor: .main)
            #expect(senders.why(dataKey: "list")?.isPreparedElsewhere == false)
            #expect(listed(senders, "list") == (try fetched(senders)))
            #expect(delegate.complaints == [])
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
            // Merges the objects; the list is at work then, and main is not given back before the checks.
            #expect(try senders.fetch(Sender.self).count == 900)
            #expect(senders.numberOfItems("list", inSection: 0) == 1_000)
            let first = senders.object(at: IndexPath(item: 0, section: 0), dataKey: "list", as: Sender.self)
            #expect(first?.number == 1)
            let last = senders.object(at: IndexPath(item: 999, section: 0), dataKey: "list", as: Sender.self)
            #expect(last?.isDeleted == true)
            let other = try register(senders, "other")
            #expect(senders.numberOfItems("other", inSection: 0) == 900)
            try await senders.add(ItemData(key: "last", number: 5_000), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders)))
            #expect(listed(senders, "other") == (try fetched(senders)))
            #expect(delegate.complaints + other.complaints == [])
            #expect(other.calls == ["will", "insert - [0, 900]", "did"])
        }
    }

    // MARK: Resets and discarded saves

    @Test(arguments: StoreKind.allCases)
    func aResetIsOneReport(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            try await senders.add(items(0..<3))
            let delegate = try register(senders, "list")
            var updates = senders.updates(Item.self).makeAsyncIterator()
            _ = await updates.next()
            try await container.reset()
            #expect(delegate.takeCalls() == ["will", "delete [0, 2] -", "delete [0, 1] -", "delete [0, 0] -", "did"])
            #expect(await updates.next()?.reason.kind == .reset)
            #expect(senders.why(dataKey: "list")?.kind == .reset)
            try await senders.add(items(7..<9), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "insert - [0, 0]", "insert - [0, 1]", "did"])
            #expect(await updates.next()?.snapshot.count == 2)
            #expect(delegate.complaints == [])
        }
    }

    @Test func discardedSavesAreTakenBackOut() async throws {
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
        try await container.discardPending()
        store.fail(with: nil)
        #expect(listed(senders, "list") == ["k0 0", "k1 1", "k2 2"])
        #expect(senders.why(dataKey: "list")?.kind == .discard)
        try await senders.add(items(3..<4), waitFor: .main)
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(delegate.complaints == [])
    }

    /// A row that is not where a save says it was, as between a discard and main's hearing of it, makes the list read anew.
    @Test func aListThatIsOutOfStepReadsItsRowsAnew() async throws {
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
        #expect(senders.why(dataKey: "list")?.isRead == true)
        #expect(delegate.complaints == [])
    }

    @Test func whatCannotBeReadIsToldAndTriedAgain() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let delegate = try register(senders, "list")
        store.failReads(with: noRoom)
        container.main.readListsAnew()
        await container.main.listsAreSettled()
        #expect(delegate.failures.map(\.code) == [.diskFull])
        #expect(senders.why(dataKey: "list")?.failure?.code == .diskFull)
        #expect(senders.numberOfItems("list", inSection: 0) == 3)
        store.failReads(with: nil)
        try await senders.add(items(4..<5), waitFor: .main)
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(delegate.complaints == [])
    }

    @Test func whatIsHeardDuringAReadThatFailsIsNotForgotten() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let delegate = try register(senders, "list")
        delegate.onFailure = { store.failReads(with: nil) }
        let read = store.holdNextRead()
        container.main.readListsAnew()
        for await _ in read.arrived {}
        try senders.performAndWait { try $0.insert(Sender.self).key = "heard" }
        container.main.merge()
        store.failReads(with: noRoom)
        read.release()
        await container.main.listsAreSettled()
        #expect(delegate.failures.count == 1)
        #expect(senders.numberOfItems("list", inSection: 0) == 4)
        #expect(listed(senders, "list") == (try fetched(senders)))
    }

    // MARK: Windows

    /// Rows that are left after a save and rows that were read without it do not fit together.
    @Test func aSaveThatIsDiscardedWhileRowsAreReadOnHasAllReadAnew() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<200))
        let delegate = try register(senders, "list", limit: 10)
        store.fail(with: noRoom)
        _ = try? senders.performAndWait { context in
            for sender in try context.fetch(Sender.self) where sender.number < 35 { context.delete(sender) }
        }
        let read = store.holdNextRead()
        container.main.merge()
        for await _ in read.arrived {}
        _ = await container.stack.root.discardPending()
        store.fail(with: nil)
        read.release()
        await container.main.listsAreSettled()
        #expect(listed(senders, "list") == (try fetched(senders, limit: 10)))
        #expect(delegate.complaints == [])
    }

    @Test(arguments: StoreKind.allCases)
    func aWindowFollowsInsertsAndDeletes(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            try await senders.add(items(0..<200))
            let delegate = try register(senders, "list", limit: 10)
            #expect(listed(senders, "list") == (try fetched(senders, limit: 10)))
            try await senders.add(ItemData(key: "first", number: -1), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "delete [0, 9] -", "insert - [0, 0]", "did"])
            try await senders.delete(ItemData(key: "first", number: 0), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "delete [0, 0] -", "insert - [0, 9]", "did"])
            #expect(senders.why(dataKey: "list")?.isRead == false, "a few rows are kept beyond the window")
            try await senders.add(ItemData(key: "k150", number: 151), waitFor: .main)
            #expect(delegate.takeCalls() == [])
            try await senders.delete(items(0..<100), waitFor: .main)
            #expect(senders.why(dataKey: "list")?.isRead == true)
            #expect(listed(senders, "list") == (try fetched(senders, limit: 10)))
            #expect(delegate.complaints == [])
        }
    }

    /// The cursor of an item.
    private func cursor(_ source: DataSource, _ key: String) throws -> FetchCursor {
        FetchCursor(try #require(try source.first(Item.self, where: \.key, equals: key)))
    }

    @Test(arguments: StoreKind.allCases)
    func aWindowBehindACursorFollowsInsertsAndDeletes(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            try await senders.add(items(0..<200))
            let place = try cursor(senders, "k50")
            let delegate = try register(senders, "list", limit: 10, after: place)
            #expect(listed(senders, "list") == (51...60).map { "k\($0) \($0)" })
            try await senders.add(ItemData(key: "before", number: 50), waitFor: .main)
            #expect(delegate.takeCalls() == [], "it comes before the window: a b is less than a k")
            try await senders.add(ItemData(key: "within", number: 51), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "delete [0, 9] -", "insert - [0, 1]", "did"])
            try await senders.delete(items(51..<53), waitFor: .main)
            #expect(
                delegate.takeCalls() == [
                    "will", "delete [0, 2] -", "delete [0, 0] -", "insert - [0, 8]", "insert - [0, 9]", "did",
                ])
            #expect(senders.why(dataKey: "list")?.isRead == false)
            try await senders.delete(items(0..<150), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders, limit: 10, after: place)))
            #expect(listed(senders, "list").count == 10)
            #expect(delegate.complaints == [])
        }
    }

    /// The place is that of the object as it was.
    @Test(arguments: StoreKind.allCases)
    func aWindowStaysWhereItIsWhenItsObjectDoesNot(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            try await senders.add(items(0..<20))
            let moved = try register(senders, "moved", limit: 3, after: try cursor(senders, "k5"))
            let deleted = try register(senders, "deleted", limit: 3, after: try cursor(senders, "k9"))
            try await senders.add(ItemData(key: "k5", number: 7), waitFor: .main)
            #expect(listed(senders, "moved") == ["k6 6", "k5 7", "k7 7"])
            try await senders.add(ItemData(key: "k5", number: 1), waitFor: .main)
            #expect(listed(senders, "moved") == ["k6 6", "k7 7", "k8 8"])
            try await senders.delete(ItemData(key: "k9", number: 0), waitFor: .main)
            #expect(deleted.calls == [])
            try await senders.add(ItemData(key: "l", number: 9), waitFor: .main)
            #expect(listed(senders, "deleted") == ["l 9", "k10 10", "k11 11"])
            #expect(moved.complaints + deleted.complaints == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aWindowMovesFromPageToPage(kind: StoreKind) async throws {
        try await withChat(kind) { container, senders in
            try await senders.add(items(0..<10))
            let delegate = try register(senders, "list", limit: 4)
            var pages: [[String]] = []
            var cursors: [FetchCursor?] = [nil]
            while !listed(senders, "list").isEmpty {
                pages.append(listed(senders, "list"))
                cursors.append(senders.allObjects(dataKey: "list").last.map { FetchCursor($0) })
                try senders.moveWindow(dataKey: "list", after: cursors[cursors.count - 1])
            }
            #expect(pages.map(\.count) == [4, 4, 2])
            #expect(pages.flatMap { $0 } == (try fetched(senders)))
            #expect(delegate.calls == [], "a move is no report")
            try senders.moveWindow(dataKey: "list", after: cursors[1])
            #expect(listed(senders, "list") == pages[1])
            delegate.follow(senders, "list")
            try await senders.delete(items(5..<6), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "delete [0, 1] -", "insert - [0, 3]", "did"])
            #expect(delegate.complaints == [])
        }
    }

    @Test func theCursorOfAnotherEntityIsRefused() async throws {
        try await withChat(.inMemory) { container, senders in
            let rooms = try container.dataSource(RoomDataSource.self)
            try await rooms.add(ItemData(key: "r", number: 1))
            let place = FetchCursor(try #require(try rooms.fetch(Room.self).first))
            let delegate = RecordingDelegate()
            let error = #expect(throws: DataSourceError.self) {
                try senders.register(delegate, dataKey: "list", entity: Sender.self, after: place)
            }
            #expect(error?.code == .invalidPredicate)
            try senders.register(delegate, dataKey: "list", entity: Sender.self)
            #expect(throws: DataSourceError.self) { try senders.moveWindow(dataKey: "list", after: place) }
            #expect(senders.dataKeys == ["list"])
        }
    }

    /// Only what is missing is read, by the key of the last row that is left; and what is saved until that has been read is
    /// neither lost nor there twice.
    @Test func whatDeletionsLeaveIsReadOn() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<200))
        let delegate = RecordingDelegate()
        try senders.register(
            delegate, dataKey: "list", entity: Sender.self, sortBy: [SortDescriptor(\.number)], limit: 10)
        delegate.follow(senders, "list")
        try senders.performAndWait { context in
            for sender in try context.fetch(Sender.self) where sender.number < 35 { context.delete(sender) }
        }
        _ = store.takeQueries()
        let read = store.holdNextRead()
        container.main.merge()
        for await _ in read.arrived {}
        #expect(senders.numberOfItems("list", inSection: 0) == 10)
        try senders.performAndWait { context in
            for sender in try context.fetch(Sender.self, where: .compare(\Sender.number, .less, 60)) {
                switch sender.number {
                case 36: context.delete(sender)
                case 37: sender.number = 50
                case 38: sender.number = -1
                case 45: sender.number = 39
                case 46: context.delete(sender)
                default: break
                }
            }
            for number: Int64 in [0, 41, 44, 300] {
                let sender = try context.insert(Sender.self)
                (sender.key, sender.number) = ("new \(number)", number)
            }
        }
        _ = store.takeQueries()
        read.release()
        await container.main.listsAreSettled()
        // 42 rows are held at most, of which 7 were left.
        let query = try #require(store.takeQueries().first)
        #expect(query.predicate.last == 41)
        #expect(query.limit.map { $0 < 42 + 16 && $0 >= 35 } == true)
        #expect(senders.why(dataKey: "list")?.isRead == true)
        #expect(delegate.complaints == [])
        let found = try senders.fetch(Sender.self, sortBy: [SortDescriptor(\.number)], limit: 10)
        #expect(senders.allObjects(dataKey: "list", as: Sender.self).map(\.key) == found.map(\.key))
        try await senders.delete(items(39..<150), waitFor: .main)
        #expect(listed(senders, "list").count == 10)
        #expect(delegate.complaints == [])
    }

    // MARK: Many saves

    /// Random saves of several data sources through all tiers: each list is what a fetch finds, and so is its table.
    @Test(arguments: StoreKind.allCases)
    func everyListIsWhatAFetchFinds(kind: StoreKind) async throws {
        let seed = testSeed()
        print("Lists through the tiers: \(kind), seed \(seed)")
        var random = SeededRandom(seed: seed)
        try await withChat(kind) { container, senders in
            let rooms = try container.dataSource(RoomDataSource.self)
            let few = FetchPredicate.compare(\Item.number, .less, 5)
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
                let source: DataSource = step % 3 == 0 ? rooms : senders
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
            #expect(delegates.flatMap(\.complaints) == [])
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
                    Item.self, sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)])
                {
                    last = update.snapshot.map { "\($0.key) \($0.number)" }
                    if last.last == "end 1000" { break }
                }
                return last
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<64 {
                    group.addTask {
                        let source: DataSource = task % 2 == 0 ? senders : rooms
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
            #expect(delegates.flatMap(\.complaints) == [])
        }
    }

    // MARK: Memory

    /// What somebody keeps of an older state makes no change copy more than the chunks that it falls in.
    @Test nonisolated func heldSnapshotsDoNotMakeChangesCopyTheList() {
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
            net.add(set, to: query)
            guard case .state(let next, _) = state.applying(net, asOf: save) else {
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

/// Opens a container over the chat model, and gives the data source of its senders.
@MainActor
private func withChat(
    _ kind: StoreKind, _ body: @MainActor (PersistentContainer, SenderDataSource) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let container = try await PersistentContainer(
        model: .chat, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory,
        configuration: .init(synchronous: .normal))
    try await body(container, try container.dataSource(SenderDataSource.self))
    try await container.close()
}

extension RowPredicate {
    /// The number of the item behind which rows are asked for.
    fileprivate var last: Int64? {
        guard case .follows(let cursor, _) = self, case .integer(let number) = cursor.values.first else { return nil }
        return number
    }
}
