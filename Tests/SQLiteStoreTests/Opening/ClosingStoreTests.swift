import Dispatch
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// The last reference to a container may go anywhere, so that its store is closed a little later. Who opens it is not refused.
struct ClosingStoreTests {
    /// On a thread of its own, for it waits.
    private func opened(_ options: SQLiteStore.Options) async throws -> SQLiteStore {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try SQLiteStore.open(options) })
            }
        }
    }

    private func rows(_ keys: ClosedRange<Int64>) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) }
    }

    @Test(arguments: [false, true]) func openingWaitsForThisProcesssOwnClose(isShared: Bool) async throws {
        let folder = try TemporaryFolder()
        for round in Int64(1)...20 {
            let store = try SQLiteStore.open(.test(folder))
            try store.write([.of(insert: [StoredRow(key: store.firstFreeKey, row: TestModel.row(code: "\(round)"))])])
            let isRefused = DispatchSemaphore(value: 0)
            var options = SQLiteStore.Options.test(
                folder, calls: .system(afterFirstLockOf: folder.store) { isRefused.signal() })
            options.isShared = isShared
            store.willClose()
            Thread.detachNewThread {
                isRefused.wait()
                store.close()
            }
            let next = try await opened(options)
            #expect(try next.count() == Int(round))
            next.close()
        }
        try checkIntegrity(folder)
    }

    /// The last reference can go on the main thread. Another program gets the lock when the early rows are rolled back.
    @Test func aStoreThatIsReleasedWithEarlyRowsDoesNotWaitForAnotherProgram() throws {
        let folder = try TemporaryFolder()
        let (other, begins) = (Guarded<RawDatabase?>(nil), Guarded(false))
        var options = SQLiteStore.Options.test(folder)
        options.history = .kept(for: .seconds(3600), upTo: 64 << 20)
        options.lockTimeout = .milliseconds(10)
        options.tracing = StatementTracing(showsValues: false) { trace in
            guard trace.sql.contains("FROM \"_metadata\" LIMIT 1"), begins.withLock({ $0 }) else { return }
            begins.withLock { $0 = false }
            other.withLock { _ = try? $0?.run("BEGIN IMMEDIATE") }
        }
        let store = try SQLiteStore.open(options)
        try other.withLock {
            $0 = try RawDatabase(folder)
            try $0?.run("CREATE TABLE outside (number)")
        }
        #expect(store.write(NewRows(entity: TestModel.item, rows(1...20)), for: EarlyWrite()))
        #expect(store.earlyRows == 20)
        begins.withLock { $0 = true }
        #expect(!store.closeIfIdle())
        #expect(store.earlyRows == 0)
        try other.withLock { _ = try $0?.run("COMMIT") }
        store.close()
        let records = "SELECT count(*) FROM \"_history\" WHERE \"note\" LIKE 'Another program%'"
        #expect(try RawDatabase(folder).run(records) == ["1"])
        try checkIntegrity(folder)
    }

    /// A write can take long. If the closing thread waited for the writer, the closing thread and the write would wait for each other here.
    @Test(.timeLimit(.minutes(30))) func aStoreThatIsReleasedDuringAWriteIsClosedLater() throws {
        let folder = try TemporaryFolder()
        let (released, answers) = (Guarded<SQLiteStore?>(nil), Guarded<[Bool]>([]))
        var options = SQLiteStore.Options.test(folder)
        options.tracing = StatementTracing(showsValues: false) { _ in
            guard let store = released.withLock({ $0 }) else { return }
            released.withLock { $0 = nil }
            let hasAnswered = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let isClosed = store.closeIfIdle()
                answers.withLock { $0.append(isClosed) }
                hasAnswered.signal()
            }
            hasAnswered.wait()
        }
        let store = try SQLiteStore.open(options)
        released.withLock { $0 = store }
        try store.write([.of(insert: rows(1...10), number: 1)])
        #expect(answers.withLock { $0 } == [false])
        #expect(try store.count() == 10)
        #expect(store.closeIfIdle())
        try checkIntegrity(folder)
    }

    /// It is over with the store itself, if nobody closes it.
    @Test func openingDoesNotWaitForAReleasedStore() async throws {
        let folder = try TemporaryFolder()
        var store: SQLiteStore? = try SQLiteStore.open(.test(folder))
        store?.willClose()
        store = nil
        try await opened(.test(folder)).close()
        let other = try SQLiteStore.open(.test(folder))
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        other.close()
        try checkIntegrity(folder)
    }
}
