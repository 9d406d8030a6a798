import CoreDataSource
import Dispatch
import ErrorExpectations
import RowStore
import Testing

/// What happens when the disk refuses a save that the tiers above have accepted.
@MainActor
struct FailedCommitTests {
    private let item = ItemData(key: "a", number: 1)

    @Test func theCallerGetsTheErrorOfTheDisk() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        await expectError(.diskFull) { try await senders.add(item) }
    }

    @Test func nothingIsLeftOfASaveThatThrows() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add([item, ItemData(key: "b", number: 2)])
        let shown = try #require(try senders.main.first(Sender.self, where: \.key == "b"))
        store.fail(with: noRoom)
        await expectError(.diskFull) {
            try await senders.add([ItemData(key: "b", number: 3), ItemData(key: "c", number: 4)])
        }
        #expect(container.pendingSaveCount == 0)
        #expect(shown.number == 2)
        #expect(try senders.fetch(Sender.self).map(\.key) == ["a", "b"])
        store.fail(with: nil)
        try await container.flush()
        #expect(store.committedGroups == [[1]])
    }

    /// The hook inserted an object that the context still had, and made a second one.
    @Test func aHookThatPlainlyInsertsMakesNoDuplicateWhenItIsTriedAgain() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        store.failOnce(with: noRoom)
        for _ in 0..<2 {
            _ = try? await senders.perform { context in
                let sender = try context.insert(Sender.self)
                (sender.key, sender.number) = ("a", 1)
            }
        }
        #expect(try senders.fetch(Sender.self).map(\.number) == [1])
        #expect(try await senders.perform { try $0.count(Sender.self) } == 1)
    }

    /// The rows before the failure are there again, in the context that made the save too.
    @Test func theContextGoesOnFromTheRowsBeforeTheFailure() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add([item, ItemData(key: "b", number: 2), ItemData(key: "c", number: 3)])
        store.failOnce(with: noRoom)
        _ = try? await senders.perform { context in
            for sender in try context.fetch(Sender.self) {
                if sender.key == "a" { context.delete(sender) } else { sender.number += 10 }
            }
            try context.insert(Sender.self).key = "d"
        }
        let values = try await senders.perform { try $0.fetch(Sender.self).map { "\($0.key) \($0.number)" } }
        #expect(values == ["a 1", "b 2", "c 3"])
        let report = try await senders.add([item, ItemData(key: "b", number: 12), ItemData(key: "d", number: 4)])
        #expect(report == SaveReport(inserted: 1, updated: 1))
    }

    @Test func laterSavesOfTheSameDataSourceAreRolledBackToo() async throws {
        let (container, store) = PersistentContainer.faulty()
        let root = container.stack.root
        let sources = (SaveSource("A", origin: 1), SaveSource("B", origin: 2))
        let (release, arrived) = (store.holdCommits(), store.commitArrives())
        store.failOnce(with: noRoom)
        let first = try root.accept(ChangeSet(entities: []), from: sources.0)
        root.commitSoon()
        for await _ in arrived {}
        let second = try root.accept(ChangeSet(entities: []), from: sources.0)
        let other = try root.accept(ChangeSet(entities: []), from: sources.1)
        release()
        await expectError(.diskFull) { try await root.committed(first) }
        await expectError(.saveRolledBack) { try await root.committed(second) }
        try await root.committed(other)
        #expect(store.committedGroups == [[other]])
    }

    @Test func listsReportThatASaveIsGone() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "z", number: 0))
        var reports: [[String]] = []
        let release = store.holdCommits()
        store.failOnce(with: noRoom)
        let failing = Task { try await senders.add(item) }
        for await update in senders.updates(ObjectRequest(Sender.self, order: [.ascending(\.key)])) {
            reports.append(update.snapshot.map(\.key))
            if update.snapshot.count == 2 { release() }
            if reports.count > 1 && update.snapshot.count == 1 { break }
        }
        #expect(reports.contains(["a", "z"]))
        #expect(reports.last == ["z"])
        await expectError(.diskFull) { _ = try await failing.value }
    }

    @Test func flushTriesAgainWhatNobodyWaitsFor() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(item, waitFor: .main)
        await expectError(.diskFull) { try await container.flush() }
        #expect(container.pendingSaveCount == 1)
        store.fail(with: nil)
        try await container.flush()
        #expect(container.pendingSaveCount == 0)
        #expect(store.committedGroups == [[1]])
    }

    /// Once it threw the error of a commit that had begun before there was room again.
    @Test func aFlushIgnoresTheFailureOfACommitThatBeganBeforeIt() async throws {
        let (container, store) = PersistentContainer.faulty()
        let goOn = store.holdCommits()
        store.failOnce(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(item, waitFor: .main)
        async let flushed: Void = container.flush()
        for _ in 0..<100 { await Task.yield() }
        goOn()
        try await flushed
        #expect(store.committedGroups == [[1]])
    }

    /// A save of its own was refused, and one flush throws that; later ones do not.
    @Test func aFlushIgnoresASaveThatWasRefusedBeforeIt() async throws {
        let (container, _) = PersistentContainer.faulty()
        let root = container.stack.root
        let sender = try #require(container.stack.layout.entity(named: "Sender"))
        var changes = EntityChanges(entity: sender.index)
        changes.inserted = [StoredRow(key: 1, row: RowSnapshot(columnCount: sender.columns.count))]
        for (origin, isRefused) in [(101, false), (102, true), (103, false)] {
            let set = ChangeSet(entities: origin == 103 ? [] : [changes])
            _ = try root.accept(set, from: SaveSource("Other", origin: origin), isAwaited: false)
            var code: DataSourceError.Code?
            do { try await container.flush() } catch let error as DataSourceError { code = error.code }
            #expect(code == (isRefused ? .uniquenessViolated : nil))
            #expect(container.pendingSaveCount == 0)
        }
    }

    /// The saves of a flush can be in several transactions.
    @Test(arguments: [false, true])
    func allOtherSavesAreWrittenWhenAFlushThrows(isAtTheEnd: Bool) async throws {
        let (container, store) = PersistentContainer.faulty()
        try container.acceptSenders(1..<2, origin: 101)
        try await container.flush()
        try container.acceptSenders(1..<2, origin: 102)
        try container.acceptSenders(10..<20_010, origin: 103)
        try container.acceptSenders(30_000..<50_000, origin: 104)
        await expectError(.uniquenessViolated) {
            if isAtTheEnd { try await container.close() } else { try await container.flush() }
        }
        #expect(container.pendingSaveCount == 0)
        #expect(store.committedGroups == [[1], [2], [3], [4]])
    }

    /// The saves that come during the commit depend on a failed save, so nothing is left to commit after it.
    @Test func aFlushReturnsIfAFailureRollsBackTheNewestSaves() async throws {
        let (container, store) = PersistentContainer.faulty()
        let root = container.stack.root
        let (release, arrived) = (store.holdCommits(), store.commitArrives())
        try container.acceptSenders(1..<2, origin: 101)
        let failed = try container.acceptSenders(2..<3, origin: 102, isAwaited: true)
        DispatchQueue.global().async { _ = try? root.commitInPlace(failed) }
        for await _ in arrived {}
        try container.acceptSenders(3..<4, origin: 102, isAwaited: true)
        let flushed = Task { try await container.flush() }
        await Task.yield()
        // The commit of the flush finds the running commit.
        root.waitForQueue()
        // After this error, an exclusive store is not tried again by itself.
        store.failOnce(with: DataSourceError(.outcomeUnknown, "The disk failed."))
        release()
        try await flushed.value
        #expect(store.committedGroups == [[1]])
    }

    @Test func flushOfNothingReturns() async throws {
        let (container, _) = PersistentContainer.faulty()
        try await container.flush()
        try container.flushAndWait()
    }

    @Test func discardingTakesSavesOutOfAllContexts() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add([item, ItemData(key: "b", number: 2)])
        let shown = try #require(try senders.main.first(Sender.self, where: \.key == "b"))
        store.fail(with: noRoom)
        try await senders.add([ItemData(key: "b", number: 3), ItemData(key: "c", number: 4)], waitFor: .main)
        #expect(shown.number == 3)
        // Nothing has to be read for it, so that a disk that fails is no reason for main to be wrong.
        store.failReads(with: noRoom)
        #expect(await container.discardPending() == 1)
        store.failReads(with: nil)
        #expect(shown.number == 2)
        #expect(try senders.count(Sender.self) == 2)
        #expect(await container.discardPending() == 0)
        store.fail(with: nil)
        let report = try await senders.add([ItemData(key: "b", number: 3), ItemData(key: "c", number: 4)])
        #expect(report == SaveReport(inserted: 1, updated: 1))
        #expect(try senders.fetch(Sender.self).map(\.number) == [1, 3, 4])
    }

    /// A batch had begun on rows that were rolled back before it ended.
    @Test func aBatchThatRestsOnWhatIsRolledBackMeanwhileIsRefused() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        store.fail(with: noRoom)
        try await senders.add(item, waitFor: .main)
        let isReady = Shared(false)
        let gate = Gate()
        let resting = Task.detached {
            try await senders.perform(waitFor: .main) { context in
                try context.first(Sender.self, where: \.key, equals: "a")?.number = 2
                isReady.value = true
                gate.wait()
            }
        }
        while !isReady.value { await Task.yield() }
        #expect(await container.discardPending() == 1)
        gate.open()
        await expectError(.saveRolledBack) { try await resting.value }
        #expect(container.pendingSaveCount == 0)
        #expect(try senders.count(Sender.self) == 0)
    }

    /// The context had registered an object with a value that was rolled back, and missed the one before it.
    @Test func aValueThatIsThereAgainIsTaken() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(item)
        store.fail(with: noRoom)
        try await senders.perform(waitFor: .main) { try $0.first(Sender.self, where: \.key, equals: "a")?.key = "x" }
        await senders.tier.forgetObjects()
        #expect(try await senders.perform(waitFor: .main) { try $0.fetch(Sender.self).map(\.key) } == ["x"])
        #expect(await container.discardPending() == 1)
        await expectError(.uniquenessViolated) {
            try await senders.perform(waitFor: .main) { try $0.insert(Sender.self).key = "a" }
        }
        #expect(try await senders.add(ItemData(key: "a", number: 5), waitFor: .main) == SaveReport(updated: 1))
    }

    @Test func aBlockedCallerGetsTheErrorToo() throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        expectError(.diskFull) {
            try senders.performAndWait { try $0.insert(Sender.self).key = "a" }
        }
    }

    @Test func aSaveThatOnlyWaitsForMainDoesNotFail() async throws {
        let (container, store) = PersistentContainer.faulty()
        store.fail(with: noRoom)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(item, waitFor: .main)
        #expect(try senders.count(Sender.self) == 1)
        await expectError(.diskFull) { try await container.flush() }
    }

    /// Its number is below those of later saves that are in the store, but it is not.
    @Test func aSaveThatWasDiscardedIsNeverSaidToBeInTheStore() async throws {
        let (container, _) = PersistentContainer.faulty()
        let root = container.stack.root
        for (end, code) in [
            ({ _ = await root.discardPending() }, DataSourceError.Code.pendingDiscarded),
            ({ _ = try await root.reset() }, .storeReset),
        ] as [(() async throws -> Void, DataSourceError.Code)] {
            let number = try root.accept(ChangeSet(entities: []))
            let other = try root.accept(ChangeSet(entities: []))
            try await end()
            await expectError(code) { try await root.committed(number) }
            expectThrows(DataSourceError.self) { try root.commitInPlace(other) }
            try await container.flush()
        }
    }
}
