import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// A store that is emptied while it is open.
struct RunningResetTests {
    private func item(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    @Test func theFilesAreNewOnesAndTheLockIsKept() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        let old = store.storeID
        var emptied = 0
        let startup = try store.reset { emptied += 1 }
        #expect(emptied == 1)
        #expect(startup == StoreStartup(reason: .requested, rowsDropped: 1))
        #expect(store.storeID != old)
        #expect(store.firstFreeKey > 1)
        #expect(try store.count() == 0)
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        try store.write([item(1)])
        #expect(try store.count() == 1)
        store.close()
        #expect(code { _ = try store.reset() } == .storeClosed)
        try checkIntegrity(folder)
    }

    /// Another store was renamed into its place.
    @Test func aFileThatIsNotTheStoreIsNotRemoved() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        for place in [folder, other] {
            let store = try SQLiteStore.open(.test(place))
            try store.write([item(7)])
            store.close()
        }
        let store = try SQLiteStore.open(.test(folder))
        try #require(rename(other.store.path, folder.store.path) == 0)
        #expect(code { _ = try store.reset() } == .storeMoved)
        store.close()
        #expect(try RawDatabase(folder.store).run("SELECT code FROM Item") == ["7"])
        #expect(folder.backups == [])
    }

    @Test func readsUnderWayEndBeforeAndOthersSeeTheNewStore() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        try store.read(.snapshot) { (reader) throws(DataSourceError) in
                            let counts = [
                                try reader.count(RowQuery(entity: TestModel.item)),
                                try reader.rows(RowQuery(entity: TestModel.item)).count,
                            ]
                            #expect(counts[0] == counts[1], "a reset in the middle of a snapshot")
                        }
                    }
                }
            }
            for key in Int64(1)...30 {
                try store.write([item(key)])
                #expect(try store.reset().rowsDropped == 1)
            }
            try await group.waitForAll()
        }
        store.close()
        try checkIntegrity(folder)
    }

    /// Whatever fails, all rows are there or none, the store says which, and so does the next start.
    @Test(arguments: [ResetPolicy.standard, .discard, .backup(keep: 1)])
    func aResetThatFailsLosesNothing(policy: ResetPolicy) throws {
        var number = 0
        var wasReached = true
        while wasReached {
            number += 1
            let folder = try TemporaryFolder()
            let target = Shared(Int.max)
            let faulty = try FaultyCalls { $0 == target.value }
            let store = try SQLiteStore.open(.test(folder, resetPolicy: policy, calls: faulty.calls))
            try store.write([item(1), item(2)])
            target.value = faulty.count + number
            let failure = code { _ = try store.reset() }
            wasReached = faulty.count >= target.value
            let rows = failure == nil ? 0 : 2
            let found = Result { try store.count() }
            if case .success(let count) = found { #expect(count == rows, "EIO at call \(number)") }
            store.close()
            let next = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
            #expect(try next.count() == rows, "EIO at call \(number), \(String(describing: failure))")
            next.close()
            try checkIntegrity(folder)
        }
        #expect(number > 20)
    }

    /// A disk that fails for good, from any call of a reset on.
    @Test(arguments: [ResetPolicy.standard, .discard, .backup(keep: 1)])
    func aStoreThatAResetCouldNotOpenIsOpenedByTheNextCall(policy: ResetPolicy) throws {
        var number = 0
        var wasReached = true
        var timesLost = 0
        while wasReached {
            number += 1
            let folder = try TemporaryFolder()
            let first = Shared(Int.max)
            let faulty = try FaultyCalls { $0 >= first.value }
            let store = try SQLiteStore.open(.test(folder, resetPolicy: policy, calls: faulty.calls))
            try store.write([item(1), item(2)])
            first.value = faulty.count + number
            let failure = code { _ = try store.reset() }
            wasReached = faulty.count >= first.value
            if wasReached {
                let (reading, writing) = (code { _ = try store.count() }, code { try store.write([item(3)]) })
                #expect(writing != nil && writing != .storeClosed, "EIO from call \(number) on")
                #expect(reading != .storeClosed, "EIO from call \(number) on")
                timesLost += reading == writing ? 1 : 0
            }
            first.value = .max
            let rows = failure == nil ? 0 : 2
            #expect(try store.count() == rows, "EIO from call \(number) on")
            try store.write([item(4)])
            #expect(try store.count() == rows + 1, "EIO from call \(number) on")
            store.close()
            let next = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
            #expect(try next.count() == rows + 1, "EIO from call \(number) on")
            next.close()
            try checkIntegrity(folder)
        }
        #expect(timesLost > 0)
    }
}
