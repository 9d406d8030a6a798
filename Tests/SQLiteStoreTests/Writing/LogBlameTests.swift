import CSQLite
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// Who is named when the write-ahead log cannot be emptied.
struct LogBlameTests {
    private func item(_ key: Int64) -> ChangeSet {
        var row = RowSnapshot(columnCount: TestModel.columnCount)
        row.setValue(.blob(Array(repeating: 7, count: 40_000)), TestModel.blob)
        return .of(insert: [StoredRow(key: key, row: row)])
    }

    private func open(_ folder: TemporaryFolder, _ calls: FileCalls = .system) throws -> SQLiteStore {
        var options = SQLiteStore.Options.test(folder, calls: calls)
        options.logLimit = 100
        return try SQLiteStore.open(options)
    }

    /// What the store reports while the body runs.
    private func reports(of store: SQLiteStore, _ body: () throws -> Void) async rethrows -> [DataSourceError] {
        let (failures, continuation) = AsyncStream<DataSourceError>.makeStream()
        store.report { continuation.yield($0) }
        try body()
        store.close()
        continuation.finish()
        return await failures.reduce(into: []) { $0.append($1) }
    }

    @Test func aReadOfAnotherProgramIsReportedAsThat() async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder)
        try store.write([item(1)])
        let failures = try await reports(of: store) {
            var other: OpaquePointer?
            let path = folder.url.appendingPathComponent("test.store").path
            try #require(sqlite3_open(path, &other) == SQLITE_OK)
            defer { sqlite3_close(other) }
            let sql = "BEGIN; SELECT count(*) FROM sqlite_schema"
            try #require(sqlite3_exec(other, sql, nil, nil, nil) == SQLITE_OK)
            for key in Int64(2)...400 { try store.write([item(key)]) }
        }
        #expect(failures.map(\.code) == [.readerBlocksCheckpoint])
        #expect(failures.first?.message.contains("another program") == true)
    }

    /// Another process may keep a snapshot for a long time.
    @Test func aLongReadOfAnotherProgramIsSeldomWaitedFor() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder)
        try store.write([item(1)])
        var other: OpaquePointer?
        let path = folder.url.appendingPathComponent("test.store").path
        try #require(sqlite3_open(path, &other) == SQLITE_OK)
        defer { sqlite3_close(other) }
        let sql = "BEGIN; SELECT count(*) FROM sqlite_schema"
        try #require(sqlite3_exec(other, sql, nil, nil, nil) == SQLITE_OK)
        for key in Int64(2)...400 {
            try store.write([item(key)])
            store.upkeep()
        }
        // The log has more than 4,000 pages. Above 400 pages, it should be emptied.
        #expect((1...5).contains(store.counters.logWaitCount), "\(store.counters.logWaitCount)")
        let length = store.counters.walBytes
        try #require(sqlite3_exec(other, "COMMIT", nil, nil, nil) == SQLITE_OK)
        let waits = store.counters.logWaitCount
        for key in Int64(401)...402 {
            try store.write([item(key)])
            store.upkeep()
        }
        #expect(store.counters.walBytes < length / 2 && store.counters.logWaitCount <= waits + 1)
        store.close()
    }

    /// The read holds the log up, and has ended when the answer comes.
    @Test func aFinishedOwnReadIsNotReportedAsAnotherProgram() async throws {
        let folder = try TemporaryFolder()
        let emptying = Emptying()
        let files = try FaultyCalls(.busy, failsCallNamed: { emptying.isRefused($0) })
        let store = try open(folder, files.calls)
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchGroup())
        ended.enter()
        Thread.detachNewThread {
            try? store.read(.snapshot) { (reader) throws(DataSourceError) in
                _ = try reader.count(RowQuery(entity: TestModel.item))
                began.signal()
                emptying.begun.wait()
            }
            ended.leave()
        }
        let failures = try await reports(of: store) {
            began.wait()
            try emptying.run(store) {
                // The read ends now.
                emptying.begun.signal()
                ended.wait()
            } _: { key in
                try store.write([item(key)])
            }
        }
        #expect(emptying.wasRefused && failures.isEmpty, "\(failures.map(\.message))")
    }

    /// Main does not wait while the log is emptied.
    @Test func aNewReadOfMainIsNotReportedAsAnotherProgram() async throws {
        let folder = try TemporaryFolder()
        let emptying = Emptying()
        let files = try FaultyCalls(.busy, failsCallNamed: { emptying.isRefused($0) })
        let store = try open(folder, files.calls)
        let failures = await reports(of: store) {
            let (isReading, isDone, ended) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            Thread.detachNewThread {
                try? emptying.run(store) {
                    DispatchQueue.main.async {
                        try? store.read(.snapshot) { (reader) throws(DataSourceError) in
                            _ = try reader.count(RowQuery(entity: TestModel.item))
                            isReading.signal()
                            isDone.wait()
                        }
                        ended.signal()
                    }
                    isReading.wait()
                } _: { key in
                    try store.write([item(key)])
                }
                isDone.signal()
            }
            ended.wait()
        }
        #expect(emptying.wasRefused && failures.isEmpty, "\(failures.map(\.message))")
    }
}

/// The first time that a thread empties the log, which it may not as long as it tries.
private final class Emptying: Sendable {
    private struct State {
        var store: SQLiteStore?
        var thread: pthread_t?
        var whenRefused: (@Sendable () -> Void)?
        var wasRefused = false
    }

    let begun = DispatchSemaphore(value: 0)
    private let state = Guarded(State())

    var wasRefused: Bool { state.withLock(\.wasRefused) }

    /// Writes until the log is to be emptied.
    func run(
        _ store: SQLiteStore, whenRefused: @escaping @Sendable () -> Void, _ write: (Int64) throws -> Void
    ) throws {
        state.withLock { $0 = State(store: store, thread: pthread_self(), whenRefused: whenRefused) }
        defer { state.withLock { $0.store = nil } }
        var key: Int64 = 1
        while !wasRefused, key < 1000 {
            try write(key)
            key += 1
        }
    }

    /// Whether a call of SQLite's fails.
    func isRefused(_ call: String) -> Bool {
        guard call == "shmLock" else { return false }
        let (store, thread) = state.withLock { ($0.store, $0.thread) }
        guard let store, let thread, pthread_equal(thread, pthread_self()) != 0, store.waitingReadCount != nil else {
            return false
        }
        let body = state.withLock { state in
            defer { (state.whenRefused, state.wasRefused) = (nil, true) }
            return state.whenRefused
        }
        body?()
        return true
    }
}
