import Dispatch
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Main has a reader of its own.
struct MainReaderTests {
    /// In a process of its own, which is ended if main waits.
    @Test func mainReadsWhileAllOtherReadersAreTaken() async throws {
        await #expect(processExitsWith: .success) {
            alarm(120)
            let folder = try TemporaryFolder()
            let store = try SQLiteStore.open(.test(folder))
            let release = holdAllReaders(of: store)
            let count = try await MainActor.run { try store.count() }
            #expect(count == 0)
            for _ in 0..<8 { release.signal() }
            store.close()
            try checkIntegrity(folder)
        }
    }

    @Test func mainMayReadDuringItsRead() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        let counts = try await MainActor.run {
            try store.read(.snapshot) { (reader) throws(DataSourceError) in
                [try reader.count(RowQuery(entity: TestModel.item)), try store.count()]
            }
        }
        #expect(counts == [0, 0])
        store.close()
    }

    @Test func aResetWaitsForMainsRead() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let counts = try await MainActor.run {
            try store.read(.snapshot) { (reader) throws(DataSourceError) in
                let before = try reader.count(RowQuery(entity: TestModel.item))
                Thread.detachNewThread {
                    started.signal()
                    _ = try? store.reset()
                    ended.signal()
                }
                started.wait()
                // A read during main's read is not held up by the reset that waits.
                return [before, try store.count(), try reader.count(RowQuery(entity: TestModel.item))]
            }
        }
        #expect(counts == [1, 1, 1])
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                ended.wait()
                continuation.resume()
            }
        }
        #expect(try await MainActor.run { try store.count() } == 0)
        store.close()
        try checkIntegrity(folder)
    }
}

/// Takes all readers of the pool, and holds them until the semaphore is signalled once for each.
private func holdAllReaders(of store: SQLiteStore) -> DispatchSemaphore {
    let release = DispatchSemaphore(value: 0)
    let taken = DispatchSemaphore(value: 0)
    for _ in 0..<8 {
        Thread.detachNewThread {
            try? store.read(.snapshot) { (reader) throws(DataSourceError) in
                _ = try reader.count(RowQuery(entity: TestModel.item))
                taken.signal()
                release.wait()
            }
        }
    }
    for _ in 0..<8 { taken.wait() }
    return release
}
