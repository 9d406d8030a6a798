import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Testing

/// Large saves into a file that others may open too: their rows are written while their hooks run as long as nobody has.
@MainActor
struct SharedEarlyWriteTests {
    @Test func theOnlyMemberWritesWhileHooksRun() async throws {
        try await withTimedContainer(isShared: true) { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            try await contacts.add(
                pausing(9_000) {
                    // No keys had to be reserved meanwhile, although a new container has fewer.
                    waitForRows(8_000, container, store)
                    let count = try RawConnection(url).column("SELECT count(*) FROM ContactEntity")
                    #expect(count == ["0"])
                })
            #expect(store.earlyRows == 0)
            #expect(try RawConnection(url).column("SELECT count(*) FROM ContactEntity") == ["9000"])
            #expect(try await contacts.add(pausing(9_000) {}) == SaveReport())
        }
    }

    @Test func nothingIsWrittenEarlyWhileOthersHaveTheStore() async throws {
        try await withTimedContainer(isShared: true) { container, store, _, url in
            let other = try PersistentContainer.shared(url)
            let contacts = try container.dataSource(PausingSource.self)
            let groups = try other.dataSource(GroupDataSource.self)
            try await contacts.add(
                pausing(5_000) {
                    for _ in 0..<20 { container.stack.root.waitForQueue() }
                    #expect(store.earlyRows == 0)
                    try waitHere { _ = try await groups.add(GroupData(gid: "1", name: "one")) }
                })
            #expect(try other.main.count(ContactEntity.self) == 5_000)
            try await other.close()
        }
    }

    /// Whoever opens the store waits for the next part at most, not for the end of the save.
    @Test func aSecondMemberCanOpenDuringEarlyWrites() async throws {
        try await withTimedContainer(isShared: true) { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            let opened = Guarded<Task<PersistentContainer, any Error>?>(nil)
            var values = pausing(9_000) {
                #expect(store.earlyRows == 0)
                // It is there, and what is saved is not yet.
                let other = try waitHere { try await #require(opened.withLock { $0 }).value }
                let count = try waitHere { try await other.read { try $0.count(ContactEntity.self) } }
                #expect(count == 0)
            }
            values[4_000].pause = {
                waitForRows(1, container, store)
                opened.withLock { $0 = Task.detached { try PersistentContainer.shared(url) } }
                // It has said that it comes before it waits for its turn.
                while store.earlyRows > 0, try !isContainerJoining(url) { usleep(100) }
            }
            try await contacts.add(values)
            let other = try await #require(opened.withLock { $0 }).value
            #expect(try other.main.count(ContactEntity.self) == 9_000)
            try await other.close()
        }
    }

    @Test func aBlockedHookReleasesTheStore() async throws {
        try await withTimedContainer(isShared: true) { container, store, timers, url in
            let contacts = try container.dataSource(PausingSource.self)
            try await contacts.add(
                pausing(5_000) {
                    waitForRows(1, container, store)
                    container.stack.root.waitForQueue()
                    let opening = Task.detached { try PersistentContainer.shared(url) }
                    // The first time it finds that rows have come since it was set.
                    for _ in 0..<3 where store.earlyRows > 0 { timers.fire() }
                    #expect(store.earlyRows == 0)
                    try waitHere { try await opening.value.close() }
                })
            #expect(try contacts.count(ContactEntity.self) == 5_000)
        }
    }

    @Test func aSaveThatFailsLeavesNothingAndNobodyWaiting() async throws {
        try await withTimedContainer(isShared: true) { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            await expectThrows(Poison.self) {
                try await contacts.add(
                    pausing(5_000) {
                        waitForRows(1, container, store)
                        throw Poison()
                    })
            }
            #expect(store.earlyRows == 0)
            let other = try PersistentContainer.shared(url)
            try await other.dataSource(ContactDataSource.self).add(contactList(0..<3))
            #expect(try contacts.count(ContactEntity.self) == 3)
            try await other.close()
        }
    }

    @Test func aContainerThatIsClosedGivesItsTurnAway() async throws {
        try await withTimedContainer(isShared: true) { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            let isClosing = Gate()
            let adding = Task.detached {
                try await contacts.add(
                    pausing(5_000) {
                        waitForRows(1, container, store)
                        isClosing.open()
                        while store.earlyRows > 0 { usleep(100) }
                    })
            }
            isClosing.wait()
            store.close()
            _ = await adding.result
            let other = try PersistentContainer.shared(url)
            #expect(try other.main.count(ContactEntity.self) == 0)
            try await other.dataSource(ContactDataSource.self).add(contactList(0..<3))
            try await other.close()
        }
    }
}

/// Whether a container is about to join those that have the store open: it has locked a byte of the notification file.
private func isContainerJoining(_ url: URL) throws -> Bool {
    let file = try FileHandle(forReadingFrom: URL(filePath: url.path + ".bell"))
    var lock = flock()
    (lock.l_type, lock.l_start, lock.l_len) = (Int16(F_WRLCK), 1 << 32, 1)
    // F_OFD_GETLK: the lock of an open file, not of a process.
    try #require(fcntl(file.fileDescriptor, 36, &lock) == 0)
    return lock.l_type != Int16(F_UNLCK)
}
