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
