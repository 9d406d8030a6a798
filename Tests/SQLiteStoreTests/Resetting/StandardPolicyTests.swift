import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// The default reset policy: another model sets the store aside, another key drops it together with what was set aside.
struct StandardPolicyTests {
    private static let standardBackup = "test.store.standard-backup-20250101T000000.000Z"
    private static let otherBackup = "test.store.backup-20250101T000000.000Z"

    private func makeStore(_ folder: TemporaryFolder, hash: String = "hash") throws {
        let store = try SQLiteStore.open(.test(folder, hash: hash))
        try store.write([.of(insert: (1...7).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
        store.close()
    }

    /// Files that are named like backups, and some that are not quite.
    private func makeBackups(_ folder: TemporaryFolder) throws {
        let names = [
            Self.standardBackup, "\(Self.standardBackup)-wal",
            "test.store.standard-backup-20250102T000000.000Z.partial",
            Self.otherBackup, "test.store.standard-backup-mine", "other.store.standard-backup-20250101T000000.000Z",
        ]
        for name in names { try Data("rows".utf8).write(to: folder.url.appendingPathComponent(name)) }
    }

    private func backups(_ folder: TemporaryFolder) -> [String] { folder.names.filter { $0.contains("backup") } }

    private let kept = [
        "other.store.standard-backup-20250101T000000.000Z", otherBackup, "test.store.standard-backup-mine",
    ]

    @Test func theStandardPolicyIsTheDefault() throws {
        let folder = try TemporaryFolder()
        let options = SQLiteStore.Options(
            url: folder.store, layout: TestModel.layout, identity: TestModel.identity())
        #expect(options.resetPolicy == .standard)
        #expect(ResetPolicy.standard != .discard && ResetPolicy.standard != .backup(keep: 1))
    }

    @Test func anotherModelSetsTheOldStoreAsideAsOneWholeFile() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        // In a log, as a killed process leaves it.
        try RawDatabase(folder.store).run("INSERT INTO Item (_key, code) VALUES (100, 'late')")
        let store = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .standard))
        #expect(store.startup.reason == .modelChanged(entities: ["Item"]))
        #expect(store.startup.rowsDropped == 8)
        #expect(store.startup.removedBackups == [])
        #expect(try store.count() == 0)
        store.close()
        let backup = try #require(store.startup.backup)
        #expect(backup.lastPathComponent.wholeMatch(of: /test\.store\.standard-backup-\d{8}T\d{6}\.\d{3}Z/) != nil)
        #expect(backups(folder) == [backup.lastPathComponent])
        var options = SQLiteStore.Options.test(folder, resetPolicy: .fail)
        options.url = backup
        let old = try SQLiteStore.open(options)
        #expect(try old.count() == 8)
        old.close()
    }

    @Test func theNewestBackupAndForeignBackupsStay() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        var newest: String?
        for hash in ["a", "b", "c"] {
            let store = try SQLiteStore.open(.test(folder, hash: hash, resetPolicy: .standard))
            newest = store.startup.backup?.lastPathComponent
            try store.write([.of(insert: [StoredRow(key: store.firstFreeKey, row: TestModel.row(code: hash))])])
            store.close()
        }
        #expect(try backups(folder) == (kept + [#require(newest)]).sorted())
    }

    @Test(arguments: [ResetPolicy.standard, .discard, .changedEntities, .migrate, .migrate(otherwise: .standard)])
    func anotherKeyDropsTheStoreAndTheBackupsOfTheDefaultPolicy(policy: ResetPolicy) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        let store = try SQLiteStore.open(.test(folder, key: "2", resetPolicy: policy))
        #expect(store.startup.rowsDropped == 7)
        #expect(store.startup.backup == nil)
        #expect(store.startup.removedBackups.map(\.lastPathComponent) == [Self.standardBackup])
        store.close()
        #expect(backups(folder) == kept)
        try checkIntegrity(folder)
    }

    @Test func aNewKeyDeletesTheBackupsEvenWithANewModel() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        let store = try SQLiteStore.open(.test(folder, hash: "other", key: "2", resetPolicy: .standard))
        #expect(store.startup.reason == .modelAndDatabaseKeyChanged(entities: ["Item"]))
        #expect(store.startup.backup == nil)
        store.close()
        #expect(backups(folder) == kept)
    }

    @Test func theKeyOfADataSourceRemovesTheBackupToo() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        var options = SQLiteStore.Options.test(folder, resetPolicy: .standard)
        options.identity.entityKeys = ["SubItem": "7"]
        let store = try SQLiteStore.open(options)
        #expect(store.startup.backup == nil)
        #expect(try store.count() == 7)
        store.close()
        #expect(backups(folder) == kept)
    }

    @Test func aPolicyThatKeepsBackupsRemovesNoneOfTheDefaultPolicy() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        try SQLiteStore.open(.test(folder, key: "2", resetPolicy: .backup(keep: 3))).close()
        #expect(backups(folder).contains(Self.standardBackup))
    }

    @Test func anotherModelRemovesNoBackupWhereNothingIsKept() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .discard)).close()
        #expect(backups(folder).contains(Self.standardBackup))
    }

    @Test func aResetOfAnOpenStoreDropsItAndTheBackup() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .standard))
        let startup = try store.reset()
        #expect(startup.backup == nil)
        #expect(startup.rowsDropped == 7)
        #expect(startup.removedBackups.map(\.lastPathComponent) == [Self.standardBackup])
        store.close()
        #expect(backups(folder) == kept)
    }

    /// A part of a store is dropped without them.
    @Test(arguments: [ResetPolicy.standard, .discard])
    func foreignTablesGoWithTheReplacedFile(policy: ResetPolicy) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let raw = try RawDatabase(folder.store)
        for sql in [
            "CREATE TABLE mine (a)", "INSERT INTO mine VALUES (1)", "CREATE VIEW ours AS SELECT a + 1 FROM mine",
        ] { try raw.run(sql) }
        let store = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: policy))
        let startup = store.startup
        store.close()
        #expect(startup.rowsDropped == 7)
        #expect(
            try RawDatabase(folder.store).run("SELECT count(*) FROM sqlite_schema WHERE name IN ('mine', 'ours')")
                == ["0"])
        #expect((startup.backup != nil) == (policy == .standard))
        if let backup = startup.backup {
            #expect(try RawDatabase(backup).run("SELECT a, (SELECT * FROM ours) FROM mine") == ["1", "2"])
        }
    }

    // MARK: Faults

    @Test func aBackupThatFailsIsAnErrorAndNoReset() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let calls = FileCalls { call, _ in call == .move ? ENOSPC : 0 }
        #expect(
            code { _ = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .standard, calls: calls)) }
                == .diskFull)
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        #expect(try store.count() == 7)
        store.close()
        #expect(backups(folder).isEmpty)
    }

    /// The rows of the changed key are gone for good, and all others are where they were, until the backup can be made.
    @Test func ifTheBackupFailsRowsWithUnchangedKeysStay() throws {
        let model = ManagedObjectModel(
            name: "Papers",
            entities: ["Bill", "Note"].map { name in
                EntityDescription(
                    name: name, attributes: [AttributeDescription(name: "text", type: .string, isOptional: true)])
            })
        let folder = try TemporaryFolder()
        try SQLiteStore.open(.of(model, folder, keys: ["Bill": "1"])).close()
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Bill (_key, text) VALUES (1, 'bill')")
        try raw.run("INSERT INTO Note (_key, text) VALUES (2, 'a'), (3, 'b')")
        let next = model.changed { $0.entities.append(EntityDescription(name: "Tag")) }
        let keys = ["Bill": "2"]
        let calls = FileCalls { call, _ in call == .move ? ENOSPC : 0 }
        #expect(
            code { _ = try SQLiteStore.open(.of(next, folder, .standard, keys: keys, calls: calls)) } == .diskFull)
        #expect(backups(folder).isEmpty)
        #expect(try RawDatabase(folder.store).run("SELECT count(*) FROM Bill") == ["0"])
        #expect(try RawDatabase(folder.store).run("SELECT text FROM Note ORDER BY _key") == ["a", "b"])
        // It is a whole store of the old model and the present keys.
        try SQLiteStore.open(.of(model, folder, .fail, keys: keys)).close()
        let startup = try migrate(folder, next, .standard, keys: keys).startup
        #expect(startup.reason == .modelChanged(entities: ["Tag"]) && startup.rowsDropped == 2)
        #expect(try RawDatabase(#require(startup.backup)).run("SELECT text FROM Note ORDER BY _key") == ["a", "b"])
    }

    @Test func aBackupThatCannotBeRemovedIsAnErrorAndNoReset() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try makeBackups(folder)
        let calls = FileCalls { call, path in call == .remove && path.hasSuffix(Self.standardBackup) ? EACCES : 0 }
        let failing = SQLiteStore.Options.test(folder, key: "2", resetPolicy: .standard, calls: calls)
        #expect(code { _ = try SQLiteStore.open(failing) } == .permissionDenied)
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .standard, calls: calls))
        #expect(code { _ = try store.reset() } == .permissionDenied)
        #expect(try store.count() == 7)
        store.close()
    }

    /// A start that is killed after the reset finds a new store, and would leave the backup for good.
    @Test func theDiskForgetsTheBackupBeforeTheStore() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try Data().write(to: folder.url.appendingPathComponent(Self.standardBackup))
        let made = Guarded<[String]>([])
        let calls = FileCalls { call, path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            if call == .remove { made.withLock { $0.append(name) } }
            if call == .sync { made.withLock { $0.append("sync") } }
            return 0
        }
        try SQLiteStore.open(.test(folder, key: "2", resetPolicy: .standard, calls: calls)).close()
        let backup = Self.standardBackup
        #expect(
            made.withLock { $0.prefix(6) }
                == [backup, "\(backup)-wal", "\(backup)-shm", "\(backup)-journal", "sync", "test.store"])
    }
}
