import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import TestSupport
import Testing

/// Some calls for the files fail while saves are made. `Scripts/stress faults` tries more of them, up to all.
struct CommitFaultTests {
    private let faults = CommitFaults(saveCount: 8, step: 8, seed: testSeed())

    /// Whichever call fails: it is an error, what was acknowledged is there, and the same save succeeds after it.
    @Test(arguments: [Fault.io, .full])
    func whicheverCallFailsTheSaveIsRefusedAndSucceedsLater(fault: Fault) throws {
        try faults.failEveryCall(with: fault, length: 1)
        #expect(faults.findings.violations == [])
    }

    /// So it is when the next fifty calls fail too.
    @Test(arguments: [Fault.io, .full])
    func aFaultThatLastsIsOvercomeOnceItIsGone(fault: Fault) throws {
        try faults.failEveryCall(with: fault, length: 50)
        #expect(faults.findings.violations == [])
    }

    /// Without that, what was refused could be the one of the two that the disk has.
    @Test func theOverwriteOfARefusedSaveIsSyncedWithNormalDurabilityToo() throws {
        let folder = try TemporaryFolder()
        let isBroken = Shared(0)
        let files = try WriteLog { _ in
            defer { isBroken.value = 0 }
            return isBroken.value == 1
        }
        var options = SQLiteStore.Options.test(folder, calls: files.calls)
        options.logLimit = 1
        let store = try SQLiteStore.open(options)
        let saves = (1...3).map { key in
            ChangeSet.of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
        }
        try store.write([saves[0]])
        // All of the log is copied, so that the next save begins it again, and syncs its beginning.
        store.upkeep()
        let before = files.events.count
        isBroken.value = 1
        #expect(code { try store.write([saves[1]]) } == .storeUnreadable)
        let events = files.events[before...]
        let written = events.lastIndex { if case .write("test.store-wal", _, _) = $0 { true } else { false } }
        let synced = events.lastIndex { if case .sync("test.store-wal") = $0 { true } else { false } }
        #expect(try #require(synced) > #require(written))
        try store.write([saves[2]])
        #expect(try store.keys(RowQuery(entity: TestModel.item)) == [1, 3])
        store.close()
        try checkIntegrity(folder)
    }
}
