import CoreDataSource
import CoreDataSourceStores
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import Testing

/// Pins whose snapshots are lost, and changes that a container notices late.
@MainActor
struct PinFaultTests {
    /// A container with five contacts over a store whose snapshots can be lost.
    private func withFaults(
        over base: any PersistentStore = InMemoryStore(ModelLayout(.contacts)),
        _ body: @MainActor (PersistentContainer, ContactDataSource, FaultyStore) async throws -> Void
    ) async throws {
        let store = FaultyStore(over: base)
        let container = PersistentContainer(
            ModelLayout(.contacts), store, startup: StoreStartup(reason: .firstLaunch),
            configuration: .init(synchronous: .normal))
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        try await body(container, contacts, store)
        try await container.close()
    }

    /// After a failed read, SQLite ends the transaction. The next read would see a newer state.
    @Test(arguments: [PinPlace.sqlite, .sharedFile])
    func aPinEndsIfTheFileCannotBeRead(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let isFailing = Shared(false)
        let files = try FaultyCalls(failsCallNamed: { $0 == "read" && isFailing.value })
        let container = try place.open(directory.store, files.calls)
        let contacts = try container.dataSource(ContactDataSource.self)
        var failures = container.failures.makeAsyncIterator()
        // More than SQLite keeps in memory.
        try await contacts.add(contactList(0..<3000) { "\($0)" + String(repeating: "x", count: 2000) })
        let list = try contacts.list(ObjectRequest(ContactEntity.self, where: \.name == "new"))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        try container.main.pin(for: .ample)
        try await contacts.add(contactList(0..<10) { _ in "new" })
        #expect(held.name != "new")
        isFailing.value = true
        expectThrows(DataSourceError.self) { try container.main.fetch(ContactEntity.self) }
        isFailing.value = false
        #expect(container.main.pinned == nil)
        #expect(try container.main.count(ContactEntity.self, where: \.name == "new") == 10)
        #expect(held.name == "new")
        let failure = try #require(await failures.next())
        #expect(failure.error.code == .pinExpired && failure.error.message.contains("a read of the file has failed"))
        await container.mainTier.waitForLists()
        #expect(list.count == 10)
        try await container.close()
        try expectIntact(directory.store)
    }

    /// Nobody reads after the loss, and the context follows saves again nevertheless.
    @Test func theContextFollowsSavesAgainAfterALoss() async throws {
        try await withFaults { container, contacts, store in
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            try container.main.pin(for: .ample)
            try await contacts.add(contactList(5..<9))
            store.snapshots.loseDuringNextRead()
            let rows = try #require(container.mainTier.pinnedRows)
            _ = try await Task.detached { try RowSource.pinned(rows).row(entity: 0, key: 0) }.value
            while list.count != 9 { await Task.yield() }
            #expect(container.main.pinned == nil)
        }
    }

    /// The transaction of a snapshot cannot begin again after the log was emptied. Nobody reads or saves afterwards.
    @Test func theContextFollowsSavesAgainAfterALossBesideTheLog() async throws {
        let directory = try TemporaryDirectory()
        let base = try SQLiteStore.open(.contacts(directory.store))
        try await withFaults(over: base) { container, contacts, store in
            var failures = container.failures.makeAsyncIterator()
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            try container.main.pin(for: .ample)
            store.snapshots.loseDuringNextEmptying()
            try container.main.advance()
            let failure = try #require(await failures.next())
            #expect(failure.error.code == .pinExpired)
            #expect(container.mainTier.pinnedRows == nil)
            try await contacts.add(contactList(5..<9), waitFor: .main)
            #expect(list.count == 9)
        }
        try expectIntact(directory.store)
    }

    @Test func aReadThatLosesItsSnapshotFindsEachRowOnce() async throws {
        try await withFaults { container, contacts, store in
            try container.main.pin(for: .ample)
            try await contacts.add(contactList(5..<9))
            store.snapshots.loseDuringNextRead()
            let found = try container.main.fetch(ContactEntity.self)
            #expect(Set(found.map(\.uid)).count == found.count)
            #expect(try container.main.count(ContactEntity.self) == 9)
        }
    }

    /// A list begins to read the rows of a pin that is lost, and its context is pinned again before the read.
    @Test func aListIsNotAheadOfALaterPin() async throws {
        try await withFaults { container, contacts, store in
            try container.main.pin(for: .ample)
            let (arrived, release) = store.snapshots.holdNextRead()
            let first = Task { @MainActor in
                var updates = contacts.updates(ObjectRequest(ContactEntity.self)).makeAsyncIterator()
                return await updates.next()?.snapshot.count
            }
            for await _ in arrived {}
            store.snapshots.lose()
            try container.main.pin(for: .ample)
            // A call on the main actor would wait for the list.
            _ = try await Task.detached { try await contacts.add(contactList(5..<9)) }.value
            release()
            #expect(await first.value == 5)
            #expect(container.main.pinned != nil)
        }
    }

    @Test func aContextThatCannotBePinnedSaysSo() async throws {
        try await withFaults { container, contacts, store in
            store.snapshots.loseAll(true)
            expectError(.storeBusy) { try container.main.pin(for: .ample) }
            #expect(container.main.pinned == nil)
            store.snapshots.loseAll(false)
            try container.main.pin(for: .ample)
            store.snapshots.loseAll(true)
            expectError(.storeBusy) { try container.main.advance() }
            store.snapshots.loseAll(false)
            try await contacts.add(contactList(5..<9))
            #expect(try container.main.count(ContactEntity.self) == 9)
        }
    }

    // MARK: Changes of unknown rows

    /// Another program writes before the pin, and the container notices it later.
    @Test func aWriteThatIsNoticedLateIsShownByObjectsAndLists() async throws {
        let directory = try TemporaryDirectory()
        let base = try SQLiteStore.open(.contacts(directory.store))
        try await withFaults(over: base) { container, contacts, store in
            let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            let list = try contacts.list(ObjectRequest(ContactEntity.self, where: \.name == "theirs"))
            store.hideOutsideWrites(true)
            try RawConnection(directory.store).execute("UPDATE ContactEntity SET name = 'theirs'")
            try container.main.pin(for: .ample)
            #expect(try container.main.count(ContactEntity.self, where: \.name == "theirs") == 5)
            store.hideOutsideWrites(false)
            container.stack.root.noticeOutsideWrites()
            container.mainTier.merge()
            #expect(held.name == "theirs")
            await container.mainTier.waitForLists()
            #expect(list.count == 5)
            try RawConnection(directory.store).execute("UPDATE ContactEntity SET name = 'later'")
            container.stack.root.noticeOutsideWrites()
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            #expect(held.name == "theirs" && list.count == 5)
            container.main.unpin()
            #expect(held.name == "later")
        }
        try expectIntact(directory.store)
    }

    /// The reservation of keys finds the write of another program, and a save of another member hides it. The container notices the write
    /// later.
    @Test func aWriteThatAReservationOfKeysFindsIsShownByObjectsAndLists() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore.open(.contacts(directory.store, isShared: true))
        // No timer checks the file.
        let timers = ManualTimers()
        let container = PersistentContainer(
            ModelLayout(.contacts), store, startup: store.startup, configuration: .init(),
            scheduling: timers.scheduling)
        let other = try PersistentContainer.shared(directory.store)
        let others = try other.dataSource(GroupDataSource.self)
        try await others.add(GroupData(gid: "1", name: "one"))
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<5))
        let held = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
        let list = try contacts.list(ObjectRequest(ContactEntity.self, where: \.name == "theirs"))
        await container.mainTier.waitForLists()
        try RawConnection(directory.store).execute("UPDATE ContactEntity SET name = 'theirs'")
        _ = try store.reserveKeys(1)
        #expect(store.hasUnreportedOutsideWrite == true)
        try await others.add(GroupData(gid: "2", name: "two"))
        try container.main.pin(for: .ample)
        #expect(try container.main.count(ContactEntity.self, where: \.name == "theirs") == 5)
        _ = try store.reserveKeys(1)
        container.stack.root.noticeOutsideWrites()
        container.mainTier.merge()
        await container.mainTier.waitForLists()
        #expect(held.name == "theirs" && list.count == 5)
        try await other.close()
        try await container.close()
        try expectIntact(directory.store)
    }

    /// A change of many rows by another member drops pending rows that a running read still needs.
    @Test func aReadFindsASaveWhosePendingRowsAreDropped() async throws {
        let directory = try TemporaryDirectory()
        let other = try PersistentContainer.shared(directory.store)
        let others = try other.dataSource(ContactDataSource.self)
        let base = try SQLiteStore.open(.contacts(directory.store, isShared: true))
        try await withFaults(over: base) { container, contacts, store in
            let (arrived, semaphore) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            store.afterNextRead {
                arrived.continuation.finish()
                semaphore.wait()
            }
            let root = container.stack.root
            let layout = try #require(ModelLayout(.contacts).entities.first { $0.name == "ContactEntity" })
            let read = Task.detached { try root.rows.rows(RowQuery(entity: layout.index), layout).rows.count }
            for await _ in arrived.stream {}
            try await contacts.add(contactList(5..<6))
            try await others.add(contactList(100..<4300))
            try root.follow()
            semaphore.signal()
            #expect(try await read.value == 4206)
        }
        try await other.close()
        try expectIntact(directory.store)
    }

    @Test func aFileThatIsOpenForReadingOnlyIsNotReadAfterAChange() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PinPlace.sqlite.open(directory.store)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try await container.close()
        let reading = try await PinPlace.sqlite.open(directory.store, .init(isReadOnly: true))
        try reading.main.pin(for: .ample)
        #expect(try reading.main.count(ContactEntity.self) == 2)
        try RawConnection(directory.store).execute("UPDATE ContactEntity SET name = 'theirs'")
        expectError(.storeMoved) { try reading.main.count(ContactEntity.self) }
        reading.main.unpin()
        expectError(.storeMoved) { try reading.main.count(ContactEntity.self) }
        try await reading.close()
    }
}
