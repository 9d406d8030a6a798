import Dispatch
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// The write-ahead log is bounded, whoever reads.
struct LogBoundTests {
    /// 100 pages: an idle store copies them; at 16 times as many a commit does.
    private func options(_ folder: TemporaryFolder, calls: FileCalls = .system) -> SQLiteStore.Options {
        var options = SQLiteStore.Options.test(folder, calls: calls)
        options.logLimit = 100
        return options
    }

    private let limit = 16 * 100 * 4120

    private func item(_ key: Int64) -> ChangeSet {
        var row = RowSnapshot(columnCount: TestModel.columnCount)
        row.setValue(.blob(Array(repeating: UInt8(truncatingIfNeeded: key), count: 40_000)), TestModel.blob)
        return .of(insert: [StoredRow(key: key, row: row)])
    }

    private func logBytes(_ folder: TemporaryFolder) throws -> Int {
        let path = folder.url.appendingPathComponent("test.store-wal").path
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    @Test(arguments: [ReadIsolation.snapshot, .lookup])
    func readersThatOverlapDoNotLetTheLogGrow(isolation: ReadIsolation) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        try store.write([.of(1, insert: (1...1000).map { StoredRow(key: $0, row: RowSnapshot(columnCount: 8)) })])
        let isDone = Shared(0)
        let reads = Shared(0)
        let ended = DispatchGroup()
        for _ in 0..<6 {
            ended.enter()
            Thread.detachNewThread {
                while isDone.value == 0 {
                    try? store.read(isolation) { (reader) throws(DataSourceError) in
                        for _ in 0..<3 { _ = try reader.rows(RowQuery(entity: 1)) }
                    }
                    reads.value += 1
                }
                ended.leave()
            }
        }
        var longest = (used: 0, file: 0)
        for key in Int64(10_001)...11_200 {
            try store.write([item(key)])
            longest = (max(longest.used, store.counters.walBytes), max(longest.file, try logBytes(folder)))
        }
        isDone.value = 1
        ended.wait()
        // 48 MB were written, while somebody was always reading.
        #expect(reads.value > 20)
        #expect(longest.used < 2 * limit)
        #expect(longest.file < 2 * limit)
        store.close()
        try checkIntegrity(folder)
    }

    /// Holds a read open on a queue of that name while the body runs.
    private func holdingRead(of store: SQLiteStore, named name: String, _ body: () throws -> Void) throws {
        let queue = DispatchQueue(label: name)
        queue.setSpecific(key: ReaderName.key, value: name)
        let (began, release, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        queue.async(group: ended) {
            try? store.read(.snapshot) { (reader) throws(DataSourceError) in
                _ = try reader.count(RowQuery(entity: TestModel.item))
                began.signal()
                release.wait()
            }
        }
        began.wait()
        defer {
            release.signal()
            ended.wait()
        }
        try body()
    }

    @Test func aReadThatMakesTheLogGrowIsReportedOnceByName() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        let (failures, continuation) = AsyncStream<DataSourceError>.makeStream()
        store.report { continuation.yield($0) }
        try store.write([item(1)])
        try holdingRead(of: store, named: "the slow report") {
            for key in Int64(2)...600 { try store.write([item(key)]) }
            #expect(store.counters.walBytes > limit, "nothing can be done while it reads")
        }
        // It is gone: the next commit begins the log again.
        for key in Int64(601)...603 { try store.write([item(key)]) }
        #expect(store.counters.walBytes < limit / 10)
        try holdingRead(of: store, named: "another report") {
            for key in Int64(604)...1000 { try store.write([item(key)]) }
        }
        store.close()
        var iterator = failures.makeAsyncIterator()
        for name in ["the slow report", "another report"] {
            let failure = try #require(await iterator.next())
            #expect(failure.code == .readerBlocksCheckpoint)
            #expect(failure.message.contains(name) && failure.message.contains(" ms"))
        }
        continuation.finish()
        #expect(await iterator.next() == nil, "each is reported once")
        try checkIntegrity(folder)
    }

    /// A short pause, for which a commit holds readers up, stayed in place of the patience that writing has.
    @Test func emptyingTheLogLeavesTheConnectionAsPatientAsBefore() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        let patience = try store.pragma("busy_timeout")
        var (key, longest): (Int64, Int) = (0, 0)
        while store.counters.walBytes >= longest, key < 1_000 {
            longest = store.counters.walBytes
            key += 1
            try store.write([item(key)])
        }
        #expect(key < 1_000, "a commit emptied it")
        #expect(try store.pragma("busy_timeout") == patience)
        store.close()
        try checkIntegrity(folder)
    }

    /// What was copied of the log before it began again counts no more.
    @Test func aLogThatBeganAgainIsCopiedAsSoonAsTheFirst() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        var counts: [Int] = []
        var key: Int64 = 0
        for _ in 0..<4 {
            var count = 0
            while !store.needsUpkeep, count < 100 {
                key += 1
                count += 1
                try store.write([item(key)])
            }
            counts.append(count)
            store.upkeep()
        }
        #expect(counts.dropFirst().allSatisfy { $0 <= counts[0] + 1 }, "\(counts)")
        store.close()
        try checkIntegrity(folder)
    }

    private func snapshot(_ store: SQLiteStore) throws -> any StoreSnapshot {
        let snapshot = try store.openSnapshot(named: "a pin")
        _ = try snapshot.read { (reader) throws(DataSourceError) in try reader.count(RowQuery(entity: TestModel.item)) }
        return snapshot
    }

    /// An attempt to empty a long log beside a snapshot fails. Then the log begins again, here or by another member. The next attempts
    /// are made as soon as the first.
    @Test(arguments: [false, true])
    func aLogThatBeganAgainIsEmptiedBesideSnapshotsAsSoonAsTheFirst(byMember: Bool) throws {
        let folder = try TemporaryFolder()
        var options = options(folder)
        options.isShared = byMember
        let store = try SQLiteStore.open(options)
        var pinned: (any StoreSnapshot)? = try snapshot(store)
        for key in Int64(1)...400 { try store.write([item(key)]) }
        store.emptyLogBesideSnapshots()
        #expect(store.counters.walBytes > limit)
        pinned = nil
        let other = try byMember ? SQLiteStore.open(options) : nil
        if let other {
            // It learns how long the log is, and empties it.
            try other.write([item(2000)])
            other.upkeep()
            try other.write([item(2001)])
            other.close()
            pinned = try snapshot(store)
        }
        store.upkeep()
        #expect(store.counters.walBytes < limit / 10)
        var longCount = 0
        for key in Int64(401)...800 {
            try store.write([item(key)])
            // The next snapshot is opened before the last is released.
            pinned = try snapshot(store)
            store.emptyLogBesideSnapshots()
            if store.counters.walBytes > limit / 4 { longCount += 1 }
        }
        // In a shared store, one of these commits also drops the old rows of the feed, which takes 1,000 pages. A few more commits can follow
        // before the log begins again, if a read is open.
        #expect(longCount < 40)
        #expect(pinned?.hasEnded == false)
        store.close()
        try checkIntegrity(folder)
    }

    /// Opens a snapshot after each write of another, before the last snapshot is released.
    ///
    /// - Parameter write: Writes about 40,000 bytes. Called 400 times.
    private func followWithSnapshots(
        _ reading: SQLiteStore, in folder: TemporaryFolder, _ write: (Int64) throws -> Void
    ) throws {
        var pinned: (any StoreSnapshot)? = try snapshot(reading)
        var longest = 0
        for key in Int64(1)...400 {
            try write(key)
            pinned = try snapshot(reading)
            reading.emptyLogBesideSnapshots()
            longest = max(longest, try logBytes(folder))
        }
        #expect(longest < 2 * limit, "\(longest) bytes after 16 MB")
        #expect(pinned?.hasEnded == false)
    }

    /// The member with the snapshots writes nothing, so no commit of its own tells it how long the log is.
    @Test func aMemberThatOnlyReadsLetsTheLogOfAnotherBeginAgain() throws {
        let folder = try TemporaryFolder()
        var options = options(folder)
        options.isShared = true
        let (writing, reading) = (try SQLiteStore.open(options), try SQLiteStore.open(options))
        try followWithSnapshots(reading, in: folder) { key in
            try writing.write([item(key)])
            if writing.needsUpkeep { writing.upkeep() }
        }
        for store in [writing, reading] { store.close() }
        try checkIntegrity(folder)
    }

    @Test func aStoreThatOnlyReadsLetsTheLogOfAnotherProgramBeginAgain() throws {
        let folder = try TemporaryFolder()
        let reading = try SQLiteStore.open(options(folder))
        let raw = try RawDatabase(folder)
        try raw.run("CREATE TABLE other (value BLOB)")
        try followWithSnapshots(reading, in: folder) { _ in
            try raw.run("INSERT INTO other VALUES (zeroblob(40000))")
        }
        reading.close()
        try checkIntegrity(folder)
    }

    /// A log that was copied and may begin again is as long as before until the next commit.
    @Test func aLogThatWillBeginAgainIsNotCopiedAgain() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        for key in Int64(1)...60 { try store.write([item(key)]) }
        store.upkeep()
        #expect(store.counters.walBytes == 0)
        for _ in 0..<3 {
            store.emptyLogBesideSnapshots()
            #expect(store.counters.walBytes == 0 && !store.needsUpkeep)
        }
        store.close()
        try checkIntegrity(folder)
    }

    /// Lets the log be emptied while a read is begun.
    private func empty(_ emptying: ReadWhileEmptying) throws {
        let folder = try TemporaryFolder()
        let files = try FaultyCalls { _ in
            emptying.look()
            return false
        }
        let store = try SQLiteStore.open(options(folder, calls: files.calls))
        emptying.store.withLock { $0 = store }
        for key in Int64(1)...400 { try store.write([item(key)]) }
        emptying.store.withLock { $0 = nil }
        emptying.ended.wait()
        #expect(emptying.hasWaited.value == 1)
        store.close()
        try checkIntegrity(folder)
    }

    @Test func newReadsWaitWhileTheLogIsBeingEmptied() throws {
        try empty(ReadWhileEmptying())
    }

    /// It goes on however long the log takes: the files are held here until the read has ended.
    @Test(.timeLimit(.minutes(30))) func noReadWaitsUntilTheLogIsEmpty() throws {
        try empty(ReadWhileEmptying(holdsTheFiles: true))
    }

    @Test func mainReadsWhileTheLogIsBeingEmptied() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        for key in Int64(1)...150 { try store.write([item(key)]) }
        let counts = try await MainActor.run {
            var counts: [Int] = []
            try holdingRead(of: store, named: "a report") {
                let ended = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    for key in Int64(151)...400 { try? store.write([item(key)]) }
                    ended.signal()
                }
                while ended.wait(timeout: .now()) != .success { counts.append(try store.count()) }
            }
            return counts
        }
        #expect(counts.sorted() == counts && counts.count > 10)
        #expect(try store.count() == 400)
        store.close()
        try checkIntegrity(folder)
    }

    @Test func aCheckpointThatKeepsFailingIsReportedOnce() async throws {
        let folder = try TemporaryFolder()
        let isBroken = Shared(0)
        // Without the synchronous level .full, only copying syncs.
        let files = try WriteLog { _ in isBroken.value == 1 }
        let store = try SQLiteStore.open(options(folder, calls: files.calls))
        let (failures, continuation) = AsyncStream<DataSourceError>.makeStream()
        store.report { continuation.yield($0) }
        try store.write([item(1)])
        isBroken.value = 1
        for key in Int64(2)...500 {
            try store.write([item(key)])
            if store.needsUpkeep { store.upkeep() }
        }
        let failure = await failures.first { _ in true }
        #expect(failure?.code == .checkpointFailed)
        #expect(store.counters.walBytes > limit)
        isBroken.value = 0
        store.upkeep()
        try store.write([item(501)])
        #expect(store.counters.walBytes < limit / 10)
        #expect(try store.count() == 501)
        store.close()
        try checkIntegrity(folder)
    }
}

/// A read that is begun while the log is emptied for the first time.
private final class ReadWhileEmptying: Sendable {
    let store = Guarded<SQLiteStore?>(nil)
    let hasWaited = Shared(0)
    let ended = DispatchGroup()
    private let holdsTheFiles: Bool
    private let hasBegun = Shared(0)
    private let isMade = Guarded(false)

    init(holdsTheFiles: Bool = false) {
        self.holdsTheFiles = holdsTheFiles
    }

    /// Called at each call for the files.
    func look() {
        guard let store = store.withLock({ $0 }), store.waitingReadCount != nil else { return }
        let isFirst = isMade.withLock { isMade in
            defer { isMade = true }
            return !isMade
        }
        guard isFirst else { return }
        ended.enter()
        Thread.detachNewThread {
            try? store.read(.snapshot) { (_) throws(DataSourceError) in self.hasBegun.value = 1 }
            self.ended.leave()
        }
        // The log is not emptied before one of the two has happened.
        while hasBegun.value == 0, store.waitingReadCount == 0 { sched_yield() }
        if let count = store.waitingReadCount, count > 0 { hasWaited.value = 1 }
        if holdsTheFiles { ended.wait() }
    }
}
