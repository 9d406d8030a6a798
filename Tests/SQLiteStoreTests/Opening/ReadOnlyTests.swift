import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// A store that is only read.
struct ReadOnlyTests {
    private func item(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    private func options(_ folder: TemporaryFolder, hash: String = "hash") -> SQLiteStore.Options {
        var options = SQLiteStore.Options.test(folder, hash: hash)
        options.isReadOnly = true
        return options
    }

    private func makeStore(_ folder: TemporaryFolder) throws {
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1), item(2)])
        store.close()
    }

    private func expectReadable(_ folder: TemporaryFolder) throws {
        let names = folder.names
        let store = try SQLiteStore.open(options(folder))
        let other = try SQLiteStore.open(options(folder))
        #expect(store.isReadOnly && store.startup.reason == .current)
        #expect(try store.count() == 2)
        #expect(try other.rows(RowQuery(entity: TestModel.item)).map(\.key) == [1, 2])
        #expect(try store.row(2) != nil)
        #expect(code { try store.write([item(3)]) } == .storeReadOnly)
        #expect(code { _ = try store.reset() } == .storeReadOnly)
        #expect(!store.needsUpkeep)
        store.upkeep()
        #expect(folder.names == names)
        store.close()
        other.close()
        #expect(code { _ = try store.count() } == .storeClosed)
        #expect(folder.names == names)
        for hash in ["other"] {
            #expect(code { _ = try SQLiteStore.open(options(folder, hash: hash)) } == .modelChanged)
        }
    }

    @Test func aStoreIsReadAndNoFileIsMade() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let before = folder.contents()
        try expectReadable(folder)
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("test.store.lock"))
        try expectReadable(folder)
        #expect(folder.contents() == before)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can mount a file system."))
    func aStoreOnAReadOnlyMountIsRead() throws {
        let folder = try TemporaryFolder()
        let mount = try TemporaryFolder()
        try makeStore(folder)
        guard run("mount", "--bind", folder.url.path, mount.url.path) else {
            print("Skipped: this system does not let root mount a file system.")
            return
        }
        defer { _ = run("umount", "-l", mount.url.path) }
        try #require(run("mount", "-o", "remount,ro,bind", mount.url.path))
        #expect(code { _ = try SQLiteStore.open(.test(mount)) } == .permissionDenied)
        try expectReadable(mount)
        // A log that was left by a killed process is read too.
        let raw = try RawDatabase(folder.store)
        try raw.run("UPDATE Item SET text = 'late'")
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.copyItem(
                atPath: folder.store.path + suffix, toPath: copy.store.path + suffix)
        }
        try #require(run("mount", "--bind", copy.url.path, mount.url.path))
        defer { _ = run("umount", "-l", mount.url.path) }
        try #require(run("mount", "-o", "remount,ro,bind", mount.url.path))
        let store = try SQLiteStore.open(options(mount))
        #expect(try store.row(2)?.text(TestModel.text) == "late")
        store.close()
    }

    @Test func aStoreThatMayNotBeWrittenIsRead() async throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        for (mode, path) in [
            (0o444, folder.store.path), (0o444, folder.store.path + ".lock"), (0o555, folder.url.path),
        ] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        await #expect(processExitsWith: .success) { [path = folder.store.path as String] in
            dropRootPrivileges()
            var options = SQLiteStore.Options(
                url: URL(fileURLWithPath: path), layout: TestModel.layout, identity: TestModel.identity())
            #expect(code { _ = try SQLiteStore.open(options) } == .permissionDenied)
            options.isReadOnly = true
            let store = try SQLiteStore.open(options)
            #expect(try store.count() == 2)
            store.close()
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
    }

    @Test func aStoreThatCannotBeReadWithoutWritingIsRefused() throws {
        let folder = try TemporaryFolder()
        #expect(code { _ = try SQLiteStore.open(options(folder)) } == .storeNotFound)
        try Data().write(to: folder.store)
        #expect(code { _ = try SQLiteStore.open(options(folder)) } == .storeReadOnly)
        try FileManager.default.removeItem(at: folder.store)
        try makeStore(folder)
        let raw = try RawDatabase(folder.store)
        try raw.run("UPDATE Item SET text = 'late'")
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.store.path + suffix, toPath: copy.store.path + suffix)
        }
        let names = copy.names
        #expect(code { _ = try SQLiteStore.open(options(copy)) } == .storeReadOnly)
        #expect(copy.names == names)
    }

    @Test func readersAndAWriterKeepEachOtherOut() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let writer = try SQLiteStore.open(.test(folder))
        #expect(code { _ = try SQLiteStore.open(options(folder)) } == .storeInUse)
        writer.close()
        let reader = try SQLiteStore.open(options(folder))
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        // Who takes no lock is noticed.
        let raw = try RawDatabase(folder.store)
        try raw.run("UPDATE Item SET text = 'late'")
        #expect(code { _ = try reader.count() } == .storeMoved)
        reader.close()
    }
}
