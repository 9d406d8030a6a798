import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct ResetTests {
    private func makeStore(_ folder: TemporaryFolder) throws {
        let store = try SQLiteStore.open(.test(folder))
        var sub = RowSnapshot(columnCount: TestModel.columnCount + 1)
        sub.setText("extra", TestModel.columnCount)
        try store.write([
            .of(insert: (1...7).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) }),
            .of(1, insert: [StoredRow(key: 8, row: sub)]),
        ])
        store.close()
    }

    @Test(arguments: [
        ("other", "1", StoreStartup.Reason.modelChanged(entities: ["Item"])),
        ("hash", "2", .databaseKeyChanged),
        ("other", "2", .modelAndDatabaseKeyChanged(entities: ["Item"])),
    ])
    func anotherHashOrKeyEmptiesTheStore(hash: String, key: String, reason: StoreStartup.Reason) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let store = try SQLiteStore.open(.test(folder, hash: hash, key: key))
        #expect(store.startup == StoreStartup(reason: reason, rowsDropped: 8))
        #expect(try store.count() == 0)
        #expect(store.firstFreeKey == 1)
        store.close()
        let again = try SQLiteStore.open(.test(folder, hash: hash, key: key))
        #expect(again.startup.reason == .current)
        again.close()
        try checkIntegrity(folder)
    }

    /// The old file is removed before the new one is made, and another thread gives its space back.
    @Test(.timeLimit(.minutes(30))) func nobodyKeepsTheRemovedFileOpen() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let store = try SQLiteStore.open(.test(folder, key: "2"))
        #expect(store.startup.rowsDropped == 8)
        while try isAnyOpen(folder.store.path + " (deleted)") { usleep(1_000) }
        #expect(try store.count() == 0)
        store.close()
    }

    /// Its locks are those of the process: a descriptor that is closed later would end those of whoever opens the file again.
    @Test func aFileThatCannotBeRemovedIsClosedAtOnce() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let main = folder.store.path
        let calls = FileCalls { call, path in call == .remove && path == main ? EIO : 0 }
        let error = code { _ = try SQLiteStore.open(.test(folder, key: "2", calls: calls)) }
        #expect(error != nil)
        #expect(try !isAnyOpen(main))
        let store = try SQLiteStore.open(.test(folder))
        #expect(try store.count() == 7)
        store.close()
    }

    private func isAnyOpen(_ path: String) throws -> Bool {
        #if os(Linux)
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }
        #else
        false
        #endif
    }

    @Test func theFailPolicyTouchesNothing() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let before = folder.contents()
        #expect(code { _ = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .fail)) } == .modelChanged)
        #expect(folder.contents() == before)
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        #expect(try store.count() == 7)
        store.close()
    }

    @Test func theOldLogDoesNotComeBack() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        // A log with rows in it, as a killed process leaves it.
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Item (_key, code) VALUES (100, 'late')")
        let log = folder.url.appendingPathComponent("test.store-wal")
        let old = try Data(contentsOf: log)
        #expect(!old.isEmpty)
        let copy = try TemporaryFolder()
        for (name, data) in folder.contents() { try data.write(to: copy.url.appendingPathComponent(name)) }
        let store = try SQLiteStore.open(.test(copy, hash: "other"))
        #expect(store.startup.rowsDropped == 9)
        #expect(try store.count() == 0)
        store.close()
        try checkIntegrity(copy)
    }

    /// In any other order a power cut could leave the old rows without those that were in the log, or the log beside a new
    /// file.
    @Test func theDiskForgetsTheMainFileBeforeItsLog() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let made = Guarded<[String]>([])
        let calls = FileCalls { call, path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            switch call {
            case .remove: made.withLock { $0.append("remove \(name)") }
            case .create: made.withLock { $0.append("create \(name)") }
            case .sync: made.withLock { $0.append(name == folder.url.lastPathComponent ? "sync" : "sync \(name)") }
            default: break
            }
            return 0
        }
        try SQLiteStore.open(.test(folder, hash: "other", calls: calls)).close()
        #expect(
            made.withLock { $0 } == [
                "remove test.store", "sync", "remove test.store-wal", "remove test.store-shm",
                "remove test.store-journal", "sync", "create test.store", "sync",
            ])
    }

    /// What a reset leaves that was killed between two of its steps.
    @Test(arguments: [["test.store-wal", "test.store-shm"], ["test.store-shm"], ["test.store-wal"], []])
    func aResetThatWasCutShortIsFinished(remains: [String]) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Item (_key, code) VALUES (100, 'late')")
        let copy = try TemporaryFolder()
        for name in remains {
            try Data(contentsOf: folder.url.appendingPathComponent(name))
                .write(to: copy.url.appendingPathComponent(name))
        }
        let store = try SQLiteStore.open(.test(copy, hash: "other"))
        #expect(store.startup.reason == .firstLaunch)
        #expect(try store.count() == 0)
        store.close()
        try checkIntegrity(copy)
    }

    @Test func anEmptyFileIsANewStore() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.store)
        let store = try SQLiteStore.open(.test(folder))
        #expect(store.startup.reason == .firstLaunch)
        store.close()
        try checkIntegrity(folder)
    }
}
