import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// A store whose rows are damaged can be reset, for its description of itself can be read.
struct CorruptStoreTests {
    private func makeStore(_ folder: TemporaryFolder) throws {
        let store = try SQLiteStore.open(.test(folder))
        try store.write([
            .of(insert: (1...2000).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) }),
            .of(1, insert: (3001...3005).map { StoredRow(key: $0, row: RowSnapshot(columnCount: 8)) }),
        ])
        store.close()
        try damage("Item", of: folder)
    }

    private func expectCounted(_ startup: StoreStartup, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(startup.rowsDropped == 5, sourceLocation: sourceLocation)
        #expect(startup.countFailure?.contains("malformed") == true, sourceLocation: sourceLocation)
    }

    @Test(arguments: [("other", "1"), ("hash", "2")], [ResetPolicy.discard, .backup(keep: 1), .standard])
    func anotherModelOrKeyResetsACorruptStore(identity: (hash: String, key: String), policy: ResetPolicy) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let store = try SQLiteStore.open(.test(folder, hash: identity.hash, key: identity.key, resetPolicy: policy))
        expectCounted(store.startup)
        #expect(
            (store.startup.backup != nil) == (policy == .backup(keep: 1) || policy == .standard && identity.key == "1"))
        #expect(try store.count() == 0)
        store.close()
        try checkIntegrity(folder)
    }

    @Test func theAppAndTheToolResetACorruptStore() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let store = try SQLiteStore.open(.test(folder))
        expectCounted(try store.reset())
        #expect(try store.count() == 0)
        store.close()
        try FileManager.default.removeItem(at: folder.store)
        try makeStore(folder)
        expectCounted(try SQLiteStore.forecast(.test(folder, key: "2")))
        expectCounted(try SQLiteStore.reset(.test(folder)))
        try checkIntegrity(folder)
    }

    @Test func aDiskThatFailsWhileRowsAreCountedResetsNothing() throws {
        var number = 0
        var wasReached = true
        while wasReached {
            number += 1
            let folder = try TemporaryFolder()
            let store = try SQLiteStore.open(.test(folder))
            try store.write([.of(insert: (1...500).map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
            store.close()
            let faulty = try FaultyCalls { [number] in $0 == number }
            let failure = code {
                try SQLiteStore.open(.test(folder, key: "2", calls: faulty.calls)).close()
            }
            wasReached = faulty.count >= number
            guard failure != nil, faulty.count < faulty.firstRemoval ?? .max else { continue }
            let next = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
            #expect(try next.count() == 500)
            next.close()
        }
        #expect(number > 10)
    }
}
