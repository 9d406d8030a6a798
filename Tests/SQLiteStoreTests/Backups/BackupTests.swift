import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct BackupTests {
    /// A store of seven rows for that hash; one more is in a log that a killed process left, if asked for.
    private func makeStore(_ folder: TemporaryFolder, hash: String = "hash", withLog: Bool = false) throws {
        let store = try SQLiteStore.open(.test(folder, hash: hash))
        try store.write([.of(insert: (1...7).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
        store.close()
        guard withLog else { return }
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Item (_key, code) VALUES (100, 'late')")
    }

    private func backups(_ folder: TemporaryFolder) -> [String] {
        folder.names.filter { $0.contains("backup") }
    }

    @Test(arguments: [false, true])
    func theOldStoreIsSetAsideAsOneWholeFile(withLog: Bool) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, withLog: withLog)
        let store = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .backup(keep: 1)))
        let startup = store.startup
        #expect(startup.reason == .modelChanged(entities: ["Item"]))
        #expect(startup.rowsDropped == (withLog ? 8 : 7))
        #expect(try store.count() == 0)
        store.close()
        try checkIntegrity(folder)

        let backup = try #require(startup.backup)
        #expect(backups(folder) == [backup.lastPathComponent])
        #expect(backup.lastPathComponent.wholeMatch(of: /test\.store\.backup-\d{8}T\d{6}\.\d{3}Z/) != nil)
        var options = SQLiteStore.Options.test(folder)
        options.url = backup
        let old = try SQLiteStore.open(options)
        #expect(old.startup.reason == .current)
        #expect(try old.count() == startup.rowsDropped)
        old.close()
    }

    @Test func onlyTheNewestBackupsStay() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.url.appendingPathComponent("test.store.backup-mine"))
        try Data().write(to: folder.url.appendingPathComponent("test.store.backup-20200101T000000.000Z.partial"))
        var made: [String] = []
        for hash in ["a", "b", "c", "d", "e"] {
            let store = try SQLiteStore.open(.test(folder, hash: hash, resetPolicy: .backup(keep: 2)))
            if let backup = store.startup.backup { made.append(backup.lastPathComponent) }
            try store.write([.of(insert: [StoredRow(key: store.firstFreeKey, row: TestModel.row(code: hash))])])
            store.close()
        }
        #expect(made.count == 4)
        #expect(backups(folder) == made.suffix(2) + ["test.store.backup-mine"])
    }

    /// As when the edit of a model is undone: the backup with the objects stays.
    @Test(arguments: [ResetPolicy.standard, .backup(keep: 1)])
    func aStoreWithoutObjectsIsNotBackedUp(policy: ResetPolicy) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let new = try SQLiteStore.open(.test(folder, hash: "new", resetPolicy: policy))
        let backup = try #require(new.startup.backup)
        new.close()
        let undone = try SQLiteStore.open(.test(folder, resetPolicy: policy))
        #expect(undone.startup.rowsDropped == 0 && undone.startup.backup == nil)
        undone.close()
        #expect(backups(folder) == [backup.lastPathComponent])
    }

    @Test func noBackupWhereNothingIsReset() throws {
        let folder = try TemporaryFolder()
        for _ in 0..<2 { try SQLiteStore.open(.test(folder, resetPolicy: .backup(keep: 1))).close() }
        #expect(backups(folder).isEmpty)
    }

    /// The key of one data source drops a part only, so the store is copied.
    @Test func rowsThatStayAreInTheBackupToo() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, withLog: true)
        var options = SQLiteStore.Options.test(folder, resetPolicy: .backup(keep: 1))
        options.identity.entityKeys = ["SubItem": "7"]
        let store = try SQLiteStore.open(options)
        #expect(store.startup.reason == .sourceKeysChanged(entities: ["SubItem"]))
        #expect(try store.count() == 8)
        store.close()
        let backup = try #require(store.startup.backup)
        #expect(backups(folder) == [backup.lastPathComponent])
        let mode = try FileManager.default.attributesOfItem(atPath: backup.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        options = .test(folder)
        options.url = backup
        let old = try SQLiteStore.open(options)
        #expect(try old.count() == 8)
        old.close()
    }

    /// A power cut would else leave a backup that has its name and not its rows.
    @Test func aCopyIsOnTheDiskBeforeItHasItsName() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let made = Guarded<[String]>([])
        var options = SQLiteStore.Options.test(
            folder, resetPolicy: .backup(keep: 1),
            calls: FileCalls { call, path in
                if path.hasSuffix(".partial") || call == .sync { made.withLock { $0.append(call.rawValue) } }
                return 0
            })
        options.identity.entityKeys = ["SubItem": "7"]
        let store = try SQLiteStore.open(options)
        #expect(store.startup.backup != nil)
        #expect(made.withLock { $0 } == ["create", "sync", "move", "sync"])
        store.close()
    }

    /// The store is copied before any row is dropped.
    @Test(arguments: [FileCalls.Call.create, .sync, .move])
    func aCopyThatFailsIsAnErrorAndDropsNothing(call: FileCalls.Call) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let calls = FileCalls { made, path in made == call && path.contains(".backup-") ? ENOSPC : 0 }
        var options = SQLiteStore.Options.test(folder, resetPolicy: .backup(keep: 1), calls: calls)
        options.identity.entityKeys = ["Item": "7"]
        #expect(code { _ = try SQLiteStore.open(options) } == .diskFull)
        #expect(backups(folder).allSatisfy { $0.hasSuffix(".partial") })
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        #expect(try store.count() == 7)
        store.close()
    }

    /// Another program reads the store: its log cannot be copied as a whole, so it cannot become one file.
    @Test func aStoreThatIsReadByAnotherProgramStays() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, withLog: true)
        let raw = try RawDatabase(folder.store)
        try raw.run("BEGIN")
        try raw.run("SELECT * FROM Item")
        #expect(
            code { _ = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .backup(keep: 1))) }
                == .storeBusy)
        try raw.run("COMMIT")
        #expect(backups(folder).isEmpty)
        let store = try SQLiteStore.open(.test(folder))
        #expect(store.startup.reason == .current)
        #expect(try store.count() == 8)
        store.close()
    }
}
