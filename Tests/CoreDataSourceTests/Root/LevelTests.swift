import CoreDataSource
import Foundation
import RowStore
import Testing

/// How far a save has come when its call returns.
@MainActor
struct LevelTests {
    private func listed(_ senders: SenderDataSource) -> Int { senders.numberOfItems(inSection: 0, dataKey: "list") }

    private func list(
        _ senders: SenderDataSource, _ body: (IdleDelegate) async throws -> Void
    ) async throws {
        let delegate = IdleDelegate()
        try senders.register(delegate, dataKey: "list", ObjectRequest(Sender.self, order: [.ascending(\.key)]))
        try await body(delegate)
        withExtendedLifetime(delegate) {}
    }

    /// The list of the same main actor was still empty, for large saves for seconds.
    @Test(arguments: [3, 300, 5_000])
    func listsShowASaveWhenItsCallOnMainReturns(count: Int) async throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await list(senders) { _ in
            try await senders.add((0..<count).map { ItemData(key: "\($0)", number: Int64($0)) })
            #expect(listed(senders) == count)
            try await senders.delete(ItemData(key: "1", number: 1))
            #expect(listed(senders) == count - 1)
            let report = try await senders.sync(
                [ItemData(key: "2", number: 2)], entity: Sender.self, deleting: .all)
            #expect(report.deleted == count - 2)
            #expect(listed(senders) == 1)
        }
    }

    /// It was shown while it waited for the store, and lists went on showing it when its call had thrown.
    @Test func listsShowNothingMoreOfASaveWhenItsCallOnMainHasThrown() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await list(senders) { _ in
            let goOn = store.holdCommits()
            store.failOnce(with: noRoom)
            let failing = Task { @MainActor in
                _ = try? await senders.add((0..<5_000).map { ItemData(key: "\($0)", number: $0) })
                return listed(senders)
            }
            while listed(senders) < 5_000 { await Task.yield() }
            goOn()
            #expect(await failing.value == 0)
        }
    }

    @Test func callbacksComeWhenListsShowTheSave() async throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await list(senders) { _ in
            let items = (0..<3_000).map { ItemData(key: "\($0)", number: $0) }
            let shown = await withCheckedContinuation { continuation in
                senders.add(items) { _ in continuation.resume(returning: self.listed(senders)) }
            }
            #expect(shown == 3_000)
        }
    }

    @Test func aBlockingCallOnMainShowsObjectsAndFetches() async throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1))
        let held = try #require(try senders.main.first(Sender.self, where: \.key == "a"))
        try await list(senders) { _ in
            try senders.performAndWait { try $0.first(Sender.self, where: \.key, equals: "a")?.number = 2 }
            #expect(held.number == 2)
            while senders.lastUpdateReason(dataKey: "list")?.kind != .save { await Task.yield() }
        }
    }

    /// Main is blocked, and a call from elsewhere returns all the same.
    @Test func aCallFromElsewhereNeverWaitsForMain() throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        _ = try senders.fetch(Sender.self)
        let done = Gate()
        Task.detached {
            try await senders.add(ItemData(key: "a", number: 1))
            done.open()
        }
        done.wait()
        #expect(try senders.count(Sender.self) == 1)
    }

    /// What was promised is that main shows it, so that the call waits for main, and not only for the store.
    @Test func aCallForMainFromElsewhereReturnsWhenMainShowsTheSave() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        _ = try senders.fetch(Sender.self)
        let hasReturned = Shared(false)
        let adding = Task.detached {
            try await senders.add(ItemData(key: "a", number: 1), waitFor: .main)
            hasReturned.value = true
        }
        while store.committedGroups.isEmpty { sched_yield() }
        #expect(!hasReturned.value)
        try await adding.value
        #expect(try senders.count(Sender.self) == 1)
    }

    /// A container hung for ever when the main thread waited for it.
    @Test(arguments: StoreKind.allCases)
    func openingNeedsNoMain(kind: StoreKind) throws {
        let directory = try TemporaryDirectory()
        let store: StoreLocation = kind == .sqlite ? .sqlite(directory.store) : .inMemory
        let done = Gate()
        let opened = Shared<PersistentContainer?>(nil)
        Task.detached {
            opened.value = try await PersistentContainer(
                model: .contacts, store: store, databaseKey: "1",
                configuration: .init(databaseKeys: [ContactDataSource.self: "1"]))
            done.open()
        }
        done.wait()
        #expect(opened.value != nil)
    }
}

private final class IdleDelegate: DataSourceDelegate {
    func didChangeContent(dataKey: String) {}
}
