import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// Lists with a limit, which show the rows from the first or from behind a cursor.
@MainActor
struct ListWindowTests: ItemListSuite {
    /// Rows that are left after a save and rows that were read without it do not fit together.
    @Test func aSaveThatIsDiscardedWhileRowsAreReadOnIsRolledBack() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<200))
        let delegate = try register(senders, "list", limit: 10)
        store.fail(with: noRoom)
        let read = store.holdNextRead()
        let saving = Task {
            try await senders.perform(waitFor: .main) { context in
                for sender in try context.fetch(Sender.self) where sender.number < 35 { context.delete(sender) }
            }
        }
        for await _ in read.arrived {}
        _ = await container.stack.root.discardPending()
        store.fail(with: nil)
        read.release()
        try await saving.value
        await container.mainTier.waitForLists()
        #expect(listed(senders, "list") == (try fetched(senders, limit: 10)))
        #expect(delegate.problems == [])
    }

    /// Rows that are left of the old store and rows that were read in the new one were never there together.
    @Test func aResetWhileRowsAreReadOnIsOneReport() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<200))
        let delegate = try register(senders, "list", limit: 10)
        try senders.performAndWait { context in
            for sender in try context.fetch(Sender.self) where sender.number < 35 { context.delete(sender) }
        }
        let read = store.holdNextRead()
        container.mainTier.merge()
        for await _ in read.arrived {}
        let shown = Shared<[[String]]>([])
        delegate.onDidChange = { shown.value.append(listed(senders, "list")) }
        _ = try await container.stack.root.reset()
        try senders.performAndWait { context in
            for number: Int64 in 1000..<1005 {
                let sender = try context.insert(Sender.self)
                (sender.key, sender.number) = ("new \(number)", number)
            }
        }
        read.release()
        await container.mainTier.waitForLists()
        #expect(shown.value == [(1000..<1005).map { "new \($0) \($0)" }])
        #expect(senders.lastUpdateReason(dataKey: "list")?.kind == .reset)
        #expect(delegate.problems == [])
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
            #expect(
                senders.lastUpdateReason(dataKey: "list")?.didReadStore == false,
                "a few rows are kept beyond the window")
            try await senders.add(ItemData(key: "k150", number: 151), waitFor: .main)
            #expect(delegate.takeCalls() == [])
            try await senders.delete(items(0..<100), waitFor: .main)
            #expect(senders.lastUpdateReason(dataKey: "list")?.didReadStore == true)
            #expect(listed(senders, "list") == (try fetched(senders, limit: 10)))
            #expect(delegate.problems == [])
        }
    }

    /// The cursor of an item.
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
            #expect(senders.lastUpdateReason(dataKey: "list")?.didReadStore == false)
            try await senders.delete(items(0..<150), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders, limit: 10, after: place)))
            #expect(listed(senders, "list").count == 10)
            #expect(delegate.problems == [])
        }
    }

    /// The place is that of the object as it was.
    @Test(arguments: StoreKind.allCases)
    func aWindowStaysIfItsCursorObjectMoves(kind: StoreKind) async throws {
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
            #expect(moved.problems + deleted.problems == [])
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
            #expect(delegate.problems == [])
        }
    }

    @Test func theCursorOfAnotherEntityIsRefused() async throws {
        try await withChat(.inMemory) { container, senders in
            let rooms = try container.dataSource(RoomDataSource.self)
            try await rooms.add(ItemData(key: "r", number: 1))
            let place = FetchCursor(try #require(try rooms.fetch(Room.self).first))
            let delegate = RecordingDelegate()
            expectError(.invalidPredicate) {
                try senders.register(delegate, dataKey: "list", ObjectRequest(Sender.self, after: place))
            }
            try senders.register(delegate, dataKey: "list", ObjectRequest(Sender.self))
            expectThrows(DataSourceError.self) { try senders.moveWindow(dataKey: "list", after: place) }
            #expect(senders.dataKeys == ["list"])
        }
    }

    /// Rows that are kept in reserve are not shown.
    @Test func aRowBeyondTheWindowHasNoIndexPath() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<20))
            let delegate = try register(senders, "list", limit: 10)
            let list = try senders.list(ObjectRequest(Item.self, order: [.ascending(\.number)], limit: 10))
            let ids = try senders.main.ids(ObjectRequest(Item.self, order: [.ascending(\.number)]))
            #expect(senders.indexPath(of: ids[9], dataKey: "list") == IndexPath(item: 9, section: 0))
            #expect(senders.indexPath(of: ids[10], dataKey: "list") == nil)
            #expect(list.snapshot.index(of: ids[9]) == 9 && list.snapshot.index(of: ids[10]) == nil)
            #expect(list.object(10) == nil && delegate.calls == [])
        }
    }

    /// The rows that are read show no links of those that are left.
    @Test func linksThatChangeWhileAWindowReadsOnAreReported() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in for number in 100..<160 { _ = try context.topic("\(number)") } }
        let recorder = GroupRecorder()
        try source.register(recorder, dataKey: "list", ObjectRequest(Topic.self, order: [.ascending(\.key)], limit: 3))
        try source.performAndWait { try $0.delete(Topic.self, where: \.key < "150" && \.key != "101") }
        let read = store.holdNextRead()
        container.mainTier.merge()
        for await _ in read.arrived {}
        try source.performAndWait { try $0.letter("l").topic = try $0.topic("101") }
        read.release()
        await container.mainTier.waitForLists()
        #expect(recorder.groups.count == 1)
        let updated = recorder.changes.filter { $0.type == .update }
        #expect(updated.map { ($0.object as? Topic)?.key } == ["101"])
        #expect(source.allObjects(dataKey: "list", as: Topic.self).map(\.key) == ["101", "150", "151"])
        try await container.close()
    }

    /// A related row can have any number of owners, of which a window shows a few.
    @Test func aWindowLooksForOwnersAmongItsRowsAlone() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            let topic = try context.topic("t")
            for number in 100..<160 { try context.letter("\(number)").topic = topic }
        }
        let recorder = GroupRecorder()
        try source.register(
            recorder, dataKey: "list",
            ObjectRequest(Letter.self, order: [.ascending(\.topic?.title), .ascending(\.key)], limit: 3))
        func rename(_ title: String) throws { try source.performAndWait { try $0.topic("t").title = title } }
        let read = store.holdNextRead()
        try rename("b")
        container.mainTier.merge()
        for await _ in read.arrived {}
        // What the list shows of the topic may have been drawn in between.
        try rename("c")
        try rename("b")
        container.mainTier.merge()
        _ = store.takeQueries()
        read.release()
        await container.mainTier.waitForLists()
        let letter = try #require(layout.entity(named: "Letter"))
        let link = try #require(letter.column(named: "topic"))
        let owners = store.takeQueries().filter { query in
            if case .isMember(.column(link), _) = query.predicate { query.entity == letter.index } else { false }
        }
        #expect(owners.isEmpty)
        let updated = recorder.changes.filter { $0.type == .update }.compactMap { ($0.object as? Letter)?.key }
        #expect(Set(updated) == ["100", "101", "102"])
        try await container.close()
    }

    /// Only what is missing is read, by the key of the last row that is left; and what is saved until that has been read is
    /// neither lost nor there twice.
    @Test func aWindowReadsMoreRowsAfterDeletions() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<200))
        let delegate = RecordingDelegate()
        try senders.register(
            delegate, dataKey: "list", ObjectRequest(Sender.self, order: [SortDescriptor(\.number)], limit: 10))
        delegate.follow(senders, "list")
        try senders.performAndWait { context in
            for sender in try context.fetch(Sender.self) where sender.number < 35 { context.delete(sender) }
        }
        _ = store.takeQueries()
        let read = store.holdNextRead()
        container.mainTier.merge()
        for await _ in read.arrived {}
        #expect(senders.numberOfItems(inSection: 0, dataKey: "list") == 10)
        try senders.performAndWait { context in
            for sender in try context.fetch(Sender.self, where: \Sender.number < 60) {
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
        await container.mainTier.waitForLists()
        // 42 rows are held at most, of which 7 were left.
        let query = try #require(store.takeQueries().first)
        #expect(query.predicate.last == 41)
        #expect(query.limit.map { $0 < 42 + 16 && $0 >= 35 } == true)
        #expect(senders.lastUpdateReason(dataKey: "list")?.didReadStore == true)
        #expect(delegate.problems == [])
        let found = try senders.fetch(Sender.self, order: [SortDescriptor(\.number)], limit: 10)
        #expect(senders.allObjects(dataKey: "list", as: Sender.self).map(\.key) == found.map(\.key))
        try await senders.delete(items(39..<150), waitFor: .main)
        #expect(listed(senders, "list").count == 10)
        #expect(delegate.problems == [])
    }
}

extension RowPredicate {
    /// The number of the item behind which rows are asked for.
    fileprivate var last: Int64? {
        guard case .follows(let cursor, _) = self, case .integer(let number) = cursor.values.first else { return nil }
        return number
    }
}
