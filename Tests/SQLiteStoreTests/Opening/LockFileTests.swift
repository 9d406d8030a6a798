import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// A lock file that somebody removes or replaces lets nobody else in.
struct LockFileTests {
    private func item(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    private func lockFile(_ folder: TemporaryFolder) -> URL { folder.url.appendingPathComponent("test.store.lock") }

    @Test func aSecondContainerFindsTheStoreInUseWithoutALockFile() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        try FileManager.default.removeItem(at: lockFile(folder))
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        #expect(code { _ = try SQLiteStore.open(.test(folder, hash: "other")) } == .storeInUse)
        try store.write([item(2)])
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        #expect(try store.count() == 2)
        store.close()
        let next = try SQLiteStore.open(.test(folder))
        #expect(try next.count() == 2)
        next.close()
        try checkIntegrity(folder)
    }

    @Test func aSaveLocksTheFileThatIsThereNow() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        for key in Int64(1)...3 {
            try FileManager.default.removeItem(at: lockFile(folder))
            if key == 2 { try Data().write(to: lockFile(folder)) }
            try store.write([item(key)])
            #expect(folder.names.contains("test.store.lock"))
            #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        }
        store.close()
        try checkIntegrity(folder)
    }

    /// The second one gets in, for it finds a lock file that looks old, and is nobody's. From then on the first one is out.
    @Test func neverDoTwoContainersSave() throws {
        let folder = try TemporaryFolder()
        let first = try SQLiteStore.open(.test(folder))
        try first.write([item(1)])
        try FileManager.default.removeItem(at: lockFile(folder))
        try Data("locked".utf8).write(to: lockFile(folder))
        let second = try SQLiteStore.open(.test(folder))
        try second.write([item(second.firstFreeKey)])
        #expect(code { try first.write([item(first.firstFreeKey)]) } == .storeInUse)
        #expect(code { _ = try first.reset() } == .storeInUse)
        first.upkeep()
        first.close()
        try second.write([item(second.firstFreeKey)])
        #expect(try second.count() == 3)
        second.close()
        let next = try SQLiteStore.open(.test(folder))
        #expect(try next.count() == 3)
        next.close()
        try checkIntegrity(folder)
    }

    /// Its files were moved to another folder, with the lock, which is not given up for a new one at the old place.
    @Test func aStoreThatWasMovedStaysLocked() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        for name in folder.names {
            try FileManager.default.moveItem(
                at: folder.url.appendingPathComponent(name), to: other.url.appendingPathComponent(name))
        }
        #expect(code { try store.write([item(2)]) } == .storeMoved)
        store.upkeep()
        #expect(code { _ = try SQLiteStore.open(.test(other)) } == .storeInUse)
        #expect(folder.names == [])
        store.close()
        let next = try SQLiteStore.open(.test(other))
        #expect(try next.count() == 1)
        next.close()
        try checkIntegrity(other)
    }

    /// Whoever locked the store since may be about to open it.
    @Test func aContainerThatLostItsLockLeavesTheLogWhenItCloses() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        try FileManager.default.removeItem(at: lockFile(folder))
        let other = open(lockFile(folder).path, O_RDWR | O_CREAT, 0o600)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        store.close()
        #expect(folder.contents()["test.store-wal"]?.isEmpty == false)
        close(other)
        let next = try SQLiteStore.open(.test(folder))
        #expect(try next.count() == 1)
        next.close()
        try checkIntegrity(folder)
    }
}
