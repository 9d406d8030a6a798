import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Stores that are removed without being opened.
struct DestroyTests {
    private let backups = [
        "test.store.backup-20250101T000000.000Z", "test.store.standard-backup-20250101T000000.000Z",
        "test.store.standard-backup-20250102T000000.000Z.partial",
    ]

    private func prepare(_ folder: TemporaryFolder) throws {
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        let others = ["test.store-shm", "test.store-journal", "test.store.restoring", "test.store.backup-mine"]
        for name in backups + others {
            try Data().write(to: folder.url.appending(component: name))
        }
    }

    @Test func everyFileIsRemovedExceptTheLockAndBackups() throws {
        let folder = try TemporaryFolder()
        try prepare(folder)
        try SQLiteStore.destroy(folder.store)
        #expect(folder.names == (["backup", "test.store.backup-mine", "test.store.lock"] + backups).sorted())
        let store = try SQLiteStore.open(.test(folder))
        #expect(store.startup.reason == .firstLaunch)
        store.close()
    }

    @Test func theBackupsOfADestroyedStoreGoOnRequest() throws {
        let folder = try TemporaryFolder()
        try prepare(folder)
        try SQLiteStore.destroy(folder.store, removesBackups: true)
        #expect(folder.names == ["backup", "test.store.backup-mine", "test.store.lock"])
    }

    @Test func aStoreThatCannotBeReadGoesToo() throws {
        let folder = try TemporaryFolder()
        try Data(repeating: 65, count: 5000).write(to: folder.store)
        try SQLiteStore.destroy(folder.store)
        #expect(folder.names == ["test.store.lock"])
    }

    @Test func destroyingAStoreThatIsNotThereMakesNoFile() throws {
        let folder = try TemporaryFolder()
        try SQLiteStore.destroy(folder.store, removesBackups: true)
        #expect(folder.names == [])
        #expect(code { try SQLiteStore.destroy(folder.url) } == .notAFile)
    }

    @Test func aStoreInUseIsNotRemoved() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStore.prepare(folder)
        let store = try SQLiteStore.open(.test(folder))
        #expect(code { try SQLiteStore.destroy(folder.store, removesBackups: true) } == .storeInUse)
        #expect(try store.count() == 8)
        store.close()
    }

    @Test func theDiskForgetsTheBackupsThenTheStoreThenItsLog() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        try Data().write(to: folder.url.appending(component: backups[0]))
        let made = Guarded<[String]>([])
        let calls = FileCalls { call, path in
            if call == .remove { made.withLock { $0.append((path as NSString).lastPathComponent) } }
            if call == .sync { made.withLock { $0.append("sync") } }
            return 0
        }
        try SQLiteStore.destroy(folder.store, removesBackups: true, calls: calls)
        #expect(
            made.withLock { $0 } == [
                backups[0], backups[0] + "-wal", backups[0] + "-shm", backups[0] + "-journal", "sync",
                "test.store.restoring", "test.store.restoring-journal", "test.store", "sync", "test.store-wal",
                "test.store-shm",
                "test.store-journal", "sync",
            ])
    }
}
