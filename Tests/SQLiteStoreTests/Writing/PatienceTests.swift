import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// How long a save waits for others.
struct PatienceTests {
    private func save(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    /// It was two seconds, and two again once the log had been emptied.
    @Test(arguments: [false, true])
    func aSaveWaitsTenSecondsForAnotherProgram(isShared: Bool) throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder).copyingLogOften()
        options.isShared = isShared
        let store = try SQLiteStore.open(options)
        #expect(try store.pragma("busy_timeout") == .integer(10_000))
        for key in Int64(1)...200 {
            try store.write([save(key)])
            store.upkeep()
        }
        #expect(try store.pragma("busy_timeout") == .integer(10_000))
        _ = try store.reset()
        #expect(try store.pragma("busy_timeout") == .integer(10_000))
        store.close()
    }

    @Test func aSaveThatWaitsForAnotherProcessTooLongNamesIt() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.isShared = true
        options.lockTimeout = .milliseconds(1)
        let store = try SQLiteStore.open(options)
        try store.write([save(1)])
        let descriptor = open(folder.store.path + ".write", O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        let error = expectError(.storeBusy) { try store.write([save(2)]) }
        #expect(error?.message.contains("Process \(getpid())") == true)
        flock(descriptor, LOCK_UN)
        try store.write([save(2)])
        #expect(try store.count() == 2)
        store.close()
    }

    /// Two connections that write and copy the log at once can damage the file with many releases of SQLite.
    @Test func aProcessDoesNotCopyTheLogWhileAnotherOneWrites() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder).copyingLogOften()
        options.isShared = true
        options.lockTimeout = .milliseconds(1)
        let store = try SQLiteStore.open(options)
        for key in Int64(1)...20 { try store.write([save(key)]) }
        let descriptor = open(folder.store.path + ".write", O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        let before = store.counters.checkpointCount
        #expect(store.needsUpkeep)
        store.upkeep()
        #expect(store.counters.checkpointCount == before)
        flock(descriptor, LOCK_UN)
        store.upkeep()
        #expect(store.counters.checkpointCount > before)
        store.close()
    }
}
