import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Emptying the store while the app runs.
@MainActor
struct ContainerResetTests {
    @Test(arguments: StoreKind.allCases)
    func objectsOfMainAreDeletedAndTheNewStoreIsEmpty(kind: StoreKind) async throws {
        try await withContainer(kind) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let shown = try contacts.fetch(ContactEntity.self)
            let startup = try await container.reset()
            #expect(startup.reason == .requested)
            #expect(startup.rowsDropped == 5)
            #expect(shown.map(\.isDeleted) == Array(repeating: true, count: 5))
            #expect(shown.map(\.name) == (0..<5).map { "name \($0)" }, "the values of a deleted object stay readable")
            #expect(try contacts.fetch(ContactEntity.self).isEmpty)
            #expect(try container.main.object(ContactEntity.self, id: shown[0].objectID) == nil)
            if kind == .sqlite { #expect(try RawConnection(url).column("select count(*) from ContactEntity") == ["0"]) }
        }
    }

    /// A private context must not find in its cache what is gone, nor take it for stored.
    @Test(arguments: StoreKind.allCases)
    func theSameValuesAreNewAgain(kind: StoreKind) async throws {
        try await withContainer(kind) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let keys = try contacts.fetch(ContactEntity.self).map(\.objectID.key)
            for _ in 0..<3 {
                try await container.reset()
                #expect(try await contacts.add(contactList(0..<5)) == SaveReport(inserted: 5))
                let shown = try contacts.fetch(ContactEntity.self, order: [SortDescriptor(\.uid)])
                #expect(shown.map(\.name) == (0..<5).map { "name \($0)" })
                #expect(Set(shown.map(\.objectID.key)).isDisjoint(with: keys), "a key was given twice")
                try await contacts.add(ContactData(uid: "uid-0", name: "new"), waitFor: .main)
                #expect(shown[0].name == "new", "main follows saves as before")
            }
        }
    }

    @Test func theNextStartFindsTheNewStoreCurrent() async throws {
        let directory = try TemporaryDirectory()
        var highest: Int64 = 0
        for count in [0, 2] {
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
            #expect(container.startup.reason == (count == 0 ? .firstLaunch : .current))
            let contacts = try container.dataSource(ContactDataSource.self)
            #expect(try contacts.count(ContactEntity.self) == count)
            try await contacts.add(contactList(10..<20))
            try await container.reset()
            try await contacts.add(contactList(0..<2))
            let keys = try contacts.fetch(ContactEntity.self).map(\.objectID.key)
            #expect(keys.allSatisfy { $0 > highest }, "a key was given twice")
            highest = keys.max() ?? 0
            try await container.close()
        }
        try expectIntact(directory.store)
    }

    @Test func aBackupIsMadeIfThatIsThePolicy() async throws {
        try await withContainer(configuration: .init(resetPolicy: .backup(keep: 1))) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let backup = try #require(try await container.reset().backup)
            #expect(try RawConnection(backup).column("select count(*) from ContactEntity") == ["5"])
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    // MARK: Under way meanwhile

    /// Runs work in a private context whose batch is begun before a reset and ended after it; returns what it throws.
    private func error(
        ofWorkDuringAReset work: @escaping @Sendable (PrivateContext) throws -> Void,
        in container: PersistentContainer
    ) async throws -> DataSourceError? {
        let contacts = try container.dataSource(ContactDataSource.self)
        let begun = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let task = Task {
            try await contacts.perform { context in
                try work(context)
                begun.continuation.finish()
                gate.wait()
            }
        }
        for await _ in begun.stream {}
        try await container.reset()
        gate.signal()
        return await expectThrows(DataSourceError.self) { try await task.value }
    }

    @Test(arguments: StoreKind.allCases)
    func aSaveBegunBeforeIsRefusedAfter(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let insertion = try await error(
                ofWorkDuringAReset: { try $0.insert(ContactEntity.self).uid = "a" }, in: container)
            #expect(insertion?.code == .storeReset)
            try await contacts.add(contactList(0..<5))
            let edit = try await error(
                ofWorkDuringAReset: { context in
                    try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")?.name = "old"
                }, in: container)
            #expect(edit?.code == .storeReset)
            #expect(try contacts.count(ContactEntity.self) == 0)
            #expect(try await contacts.add(contactList(0..<1)) == SaveReport(inserted: 1))
        }
    }

    @Test func rowsReadBeforeAResetAreNotReturnedAfterIt() async throws {
        try await withContainer { container, _ in
            let read = try await error(
                ofWorkDuringAReset: { _ = try $0.fetch(ContactEntity.self) }, in: container)
            #expect(read?.code == .storeReset)
        }
    }

    @Test func nothingIsSavedWhileTheStoreIsEmptied() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        let begun = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        store.duringReset {
            begun.continuation.finish()
            gate.wait()
        }
        let reset = Task { try await container.reset() }
        for await _ in begun.stream {}
        await expectError(.storeReset) { try await senders.add(ItemData(key: "a", number: 1)) }
        gate.signal()
        _ = try await reset.value
        #expect(store.committedGroups.isEmpty)
        try await senders.add(ItemData(key: "a", number: 1))
        #expect(store.committedGroups.count == 1)
    }

    /// What it writes would be in the new store.
    @Test func aResetWaitsForTheCommitThatIsUnderWay() async throws {
        let layout = ModelLayout(.chat)
        let store = FaultyStore(layout)
        let root = RootTier(layout, store: store) {}
        let entity = try #require(layout.entity(named: "Sender"))
        _ = try root.accept(.inserting(1, entity))
        let (arrived, goOn) = (store.commitArrives(), store.holdCommits())
        // On the root's queue: a thread of tasks that is held may be the last one.
        root.commitSoon()
        for await _ in arrived {}
        let reset = Task.detached { try await root.reset() }
        for _ in 0..<1000 { await Task.yield() }
        goOn()
        _ = try await reset.value
        #expect(try root.rows.rows(RowQuery(entity: entity.index), entity).rows.isEmpty)
    }

    @Test func savesThatTheDiskRefusedAreGone() async throws {
        // With the system's timers the save may be tried again, and written, before the reset.
        let (container, store, _) = PersistentContainer.timed()
        let senders = try container.dataSource(SenderDataSource.self)
        var failures = container.failures.makeAsyncIterator()
        store.fail(with: noRoom)
        try await senders.add(ItemData(key: "a", number: 1), waitFor: .main)
        _ = await failures.next()
        let shown = try senders.fetch(Sender.self)
        try #require(shown.count == 1)
        store.fail(with: nil)
        try await container.reset()
        #expect(container.pendingSaveCount == 0)
        #expect(shown[0].isDeleted)
        try await container.flush()
        #expect(store.committedGroups.isEmpty)
        #expect(try senders.count(Sender.self) == 0)
    }

    @Test func aResetThatFailsLosesNothing() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1))
        store.fail(with: noRoom)
        try await senders.add(ItemData(key: "b", number: 2), waitFor: .main)
        let shown = try senders.fetch(Sender.self)
        await expectError(.diskFull) { try await container.reset() }
        #expect(shown.map(\.isDeleted) == [false, false])
        store.fail(with: nil)
        try await container.flush()
        #expect(store.committedGroups == [[1], [2]])
    }

    @Test func aClosedStoreIsNotReset() async throws {
        try await withContainer { container, _ in
            try await container.close()
            await expectError(.storeClosed) { try await container.reset() }
        }
    }

    /// Each batch notes how many resets had begun when it began. After a reset no older batch may be in the store.
    @Test(arguments: StoreKind.allCases)
    func noOldRowLandsInTheNewStoreUnderLoad(kind: StoreKind) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .chat, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory)
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let messages = try container.dataSource(MessageDataSource.self)
        let begun = Shared<Int64>(0)
        let rounds = (0..<3).map { _ in AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await add(Sender.self, senders, rounds[0].stream, begun) }
            group.addTask { try await add(Room.self, rooms, rounds[1].stream, begun) }
            group.addTask { try await add(Message.self, messages, rounds[2].stream, begun) }
            for round in 1...25 as ClosedRange<Int64> {
                begun.value = round
                for (_, continuation) in rounds { continuation.yield(round) }
                try await container.reset()
                let oldest = try container.main.fetch(Item.self).map(\.number).min() ?? begun.value
                #expect(oldest >= begun.value, "an old row is in the new store")
            }
            for (_, continuation) in rounds { continuation.finish() }
            try await group.waitForAll()
        }
        try await container.close()
        if kind == .sqlite { try expectIntact(directory.store) }
    }
}

/// Adds rows that bear the number of resets begun when their batch began; a reset is the only thing that may be thrown.
///
/// For each reset the number of batches is bounded: the more rows there are, the longer main needs for a reset, and the more rows
/// there would be at the next one.
private func add<Object: Item>(
    _ type: Object.Type, _ source: EntityDataSource, _ rounds: AsyncStream<Int64>, _ begun: Shared<Int64>
) async throws {
    for await round in rounds {
        for batch in 0..<200 where begun.value == round {
            do {
                try await source.perform { context in
                    let epoch = begun.value
                    for index in 0..<3 {
                        let item = try context.insert(type)
                        item.key = "\(Object.entityName)/\(round)/\(batch)/\(index)"
                        item.number = epoch
                    }
                }
            } catch let error as DataSourceError where error.code == .storeReset {
                continue
            }
        }
    }
}
