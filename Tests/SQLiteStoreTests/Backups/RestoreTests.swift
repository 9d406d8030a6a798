import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Backups that are brought back.
struct RestoreTests {
    private func rowCodes(_ folder: TemporaryFolder) throws -> [String] {
        try RawDatabase(folder.store).run("SELECT code FROM Item ORDER BY _key")
    }

    @Test(arguments: RestoreScenario.allCases)
    func aRestoredStoreHasTheRowsOfTheBackupWhichStaysAsItIs(scenario: RestoreScenario) throws {
        let folder = try TemporaryFolder()
        try scenario.prepare(folder)
        let backup = RestoreScenario.backup(folder)
        let before = try Data(contentsOf: backup)
        let restoration = try SQLiteStore.restore(backup, to: folder.store, isReplacing: true)
        #expect(restoration.rowCount == 3)
        #expect(restoration.isReplacement == (scenario != .intoNothing))
        #expect(folder.names == ["backup", "test.store", "test.store.lock"])
        #expect(try rowCodes(folder) == ["3/1", "3/2", "3/3"])
        #expect(try Data(contentsOf: backup) == before)
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        #expect(store.startup.reason == .current)
        store.close()
        try checkIntegrity(folder)
    }

    @Test func aStoreThatIsThereStaysUnlessItMayBeReplaced() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        let before = folder.contents()
        #expect(code { _ = try SQLiteStore.restore(RestoreScenario.backup(folder), to: folder.store) } == .fileExists)
        #expect(folder.contents() == before)
    }

    @Test func theRowsOfTheBackupsLogAreRestored() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        let before = folder.contents()
        let other = try TemporaryFolder()
        #expect(try SQLiteStore.restore(folder.store, to: other.store).rowCount == 8)
        #expect(try rowCodes(other).last == "late")
        #expect(folder.contents() == before)
    }

    // MARK: What is no backup

    private func expectRefusal(_ data: Data?, _ expected: DataSourceError.Code) throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        let backup = folder.url.appending(component: "other")
        try data?.write(to: backup)
        let before = folder.contents()
        for isDryRun in [true, false] {
            #expect(
                code {
                    _ = try SQLiteStore.restore(backup, to: folder.store, isReplacing: true, isDryRun: isDryRun)
                } == expected)
        }
        #expect(folder.contents() == before)
        #expect(!folder.names.contains("test.store.restoring"))
    }

    private func bytes(_ edit: (RawDatabase) throws -> Void) throws -> Data {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStore.prepare(folder)
        let raw = try RawDatabase(folder.store)
        try edit(raw)
        try raw.run("PRAGMA wal_checkpoint(TRUNCATE)")
        return try Data(contentsOf: folder.store)
    }

    @Test func aMissingBackupIsAnError() throws { try expectRefusal(nil, .notAFile) }

    @Test func anEmptyFileIsNoBackup() throws { try expectRefusal(Data(), .foreignDatabase) }

    @Test func aFileThatIsNoDatabaseIsNoBackup() throws {
        try expectRefusal(Data(repeating: 65, count: 5000), .notADatabase)
    }

    @Test func aDatabaseOfAnotherProgramIsNoBackup() throws {
        let folder = try TemporaryFolder()
        try RawDatabase(folder.store).run("CREATE TABLE letters (text)")
        try expectRefusal(Data(contentsOf: folder.store), .foreignDatabase)
    }

    @Test func aBackupOfANewerReleaseIsNotRestored() throws {
        try expectRefusal(bytes { try $0.run("UPDATE _metadata SET value = 99 WHERE name = 'format'") }, .newerFormat)
    }

    @Test func aDamagedBackupIsNotRestored() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStore.prepare(folder)
        try damage("Item", of: folder)
        try expectRefusal(Data(contentsOf: folder.store), .storeCorrupt)
        try expectRefusal(bytes { try $0.run("DELETE FROM _metadata WHERE name = 'storeID'") }, .storeCorrupt)
        try expectRefusal(
            bytes { try $0.run("CREATE TRIGGER t AFTER INSERT ON Item BEGIN DELETE FROM Item; END") }, .storeCorrupt)
    }

    @Test func aStoreIsNotRestoredFromItself() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStore.prepare(folder)
        #expect(code { _ = try SQLiteStore.restore(folder.store, to: folder.store, isReplacing: true) } == .fileExists)
        #expect(try rowCodes(folder).count == 8)
    }

    // MARK: Who has it open

    @Test func aStoreInUseIsNotReplacedAndABackupInUseIsNotRead() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStore.prepare(folder)
        let store = try SQLiteStore.open(.test(folder))
        #expect(
            code {
                _ = try SQLiteStore.restore(RestoreScenario.backup(folder), to: folder.store, isReplacing: true)
            } == .storeInUse)
        let other = try TemporaryFolder()
        #expect(code { _ = try SQLiteStore.restore(folder.store, to: other.store) } == .storeInUse)
        #expect(try store.count() == 8)
        store.close()
    }

    // MARK: What is there

    @Test func aDamagedStoreIsReplaced() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        try Data(repeating: 65, count: 9000).write(to: folder.store)
        try SQLiteStore.restore(RestoreScenario.backup(folder), to: folder.store, isReplacing: true).expect(3)
        #expect(try rowCodes(folder).count == 3)
        try checkIntegrity(folder)
    }

    @Test func theLogOfAStoreThatIsGoneIsNotTakenForTheRestoredOnes() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        try FileManager.default.removeItem(at: folder.store)
        try SQLiteStore.restore(RestoreScenario.backup(folder), to: folder.store).expect(3)
        #expect(try rowCodes(folder) == ["3/1", "3/2", "3/3"])
    }

    @Test func anotherProgramThatReadsTheStoreKeepsItFromBeingReplaced() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        let raw = try RawDatabase(folder.store)
        try raw.run("BEGIN")
        try raw.run("SELECT * FROM Item")
        #expect(code { try RestoreScenario.overAStore.run(folder) } != nil)
        try raw.run("COMMIT")
        #expect(try rowCodes(folder).count == 8)
    }

    @Test(arguments: [0o600, 0o640]) func aRestoredStoreHasTheModeOfTheOldOne(mode: Int) throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStore.prepare(folder)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.store.path)
        try RestoreScenario.overAStore.run(folder)
        #expect(
            try FileManager.default.attributesOfItem(atPath: folder.store.path)[.posixPermissions] as? Int == mode)
    }

    @Test(arguments: RestoreScenario.allCases) func aDryRunMakesNoFileAndChangesNoByte(scenario: RestoreScenario) throws
    {
        let folder = try TemporaryFolder()
        try scenario.prepare(folder)
        let (names, before) = (folder.names, folder.contents())
        try SQLiteStore.restore(
            RestoreScenario.backup(folder), to: folder.store, isReplacing: true, isDryRun: true
        ).expect(3)
        #expect(folder.names == names)
        #expect(folder.contents() == before)
    }

    @Test func theNextStartResetsARestoredStoreOfAnotherModel() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.intoNothing.prepare(folder)
        try RestoreScenario.intoNothing.run(folder)
        let store = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .standard))
        #expect(store.startup.rowsDropped == 3)
        #expect(store.startup.backup != nil)
        store.close()
    }

    /// In any other order a power cut could leave the old log beside the restored store.
    @Test func theDiskForgetsTheOldLogBeforeItHasTheRestoredStore() throws {
        let folder = try TemporaryFolder()
        try RestoreScenario.overAStoreWithALog.prepare(folder)
        let made = Guarded<[String]>([])
        let calls = FileCalls { call, path in
            guard [.remove, .create, .move, .sync].contains(call) else { return 0 }
            let name =
                path == folder.url.resolvingSymlinksInPath().path ? "" : " " + (path as NSString).lastPathComponent
            made.withLock { $0.append(call.rawValue + name) }
            return 0
        }
        try RestoreScenario.overAStore.run(folder, calls)
        #expect(
            made.withLock { $0 } == [
                "remove test.store.restoring", "remove test.store.restoring-journal", "create test.store.restoring",
                "remove test.store-wal", "remove test.store-shm", "remove test.store-journal", "sync",
                "sync test.store.restoring",
                "move test.store.restoring", "sync",
            ])
    }
}

extension SQLiteStore.Restoration {
    fileprivate func expect(_ rowCount: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.rowCount == rowCount, sourceLocation: sourceLocation)
    }
}
