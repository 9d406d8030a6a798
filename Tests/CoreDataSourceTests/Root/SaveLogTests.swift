import CoreDataSource
import RowStore
import Testing
import TestSupport

/// The log decides what is committed, merged and laid over a fetch; here it is compared with a list that forgets nothing.
struct SaveLogTests {
    private let anything = LoggedSave(ChangeSet(entities: []))

    /// A log with transactions of at most ten rows.
    private var logOfTenRows: SaveLog {
        SaveLog(ModelLayout(.chat), transactionByteLimit: LoggedSave.rows(10).byteCount)
    }

    /// Commits until no other commit must follow, and returns the saves of each transaction.
    private func commitAll(_ log: inout SaveLog) -> [[Int64]] {
        var (groups, isMoreWaiting): ([[Int64]], Bool) = ([], true)
        while isMoreWaiting, let group = log.takeForCommit() {
            groups.append(group.map(\.number))
            log.recordCommitted(except: [])
            isMoreWaiting = log.endCommit()
        }
        return groups
    }

    private func log(of count: Int = 0, unmergedByteLimit: Int = .max) -> SaveLog {
        var log = SaveLog(ModelLayout(.chat), unmergedByteLimit: unmergedByteLimit)
        for _ in 0..<count { _ = log.append(anything) }
        return log
    }

    @Test func savesAreNumberedInTheirOrder() {
        var log = log()
        let numbers = (0..<2).map { _ in log.append(anything) }
        #expect(numbers == [1, 2])
        #expect(log.newest == 2)
        #expect(log.pendingCount == 2)
    }

    @Test func aGroupHoldsAllThatWaits() {
        var log = log(of: 3)
        let group = log.takeForCommit()
        #expect(group?.map(\.number) == [1, 2, 3])
    }

    @Test func aLargeSaveHasATransactionOfItsOwn() {
        var log = logOfTenRows
        for count in [11, 1, 11, 1, 1, 12] as [Int64] { _ = log.append(.rows(count)) }
        let groups = commitAll(&log)
        #expect(groups == [[1], [2], [3], [4, 5], [6]])
        #expect(log.committed == 6 && log.pendingCount == 0)
    }

    @Test func smallSavesShareATransactionUpToItsLimit() {
        var log = logOfTenRows
        for _ in 0..<25 { _ = log.append(.rows(1)) }
        let groups = commitAll(&log)
        #expect(groups == [Array(1...10), Array(11...20), Array(21...25)])
        #expect(log.visitedSaveCount == 2 * 25 + 2)
    }

    /// If it shared the transaction, its early rows would be rolled back and written again.
    @Test(arguments: [true, false])
    func aSaveWithEarlyRowsHasATransactionOfItsOwn(isOpen: Bool) {
        let early = EarlyWrite()
        #expect(early.begin())
        if !isOpen { early.close() }
        var first = LoggedSave.rows(1).changes
        first.earlyWrite = early
        var log = logOfTenRows
        _ = log.append(LoggedSave(first))
        for _ in 0..<2 { _ = log.append(.rows(1)) }
        let groups = commitAll(&log)
        #expect(groups == (isOpen ? [[1], [2, 3]] : [[1, 2, 3]]))
    }

    /// A container whose disk fails would try the same transaction again and again.
    @Test func noCommitFollowsAFailureAlthoughSavesDidNotFit() {
        var log = logOfTenRows
        for _ in 0..<2 { _ = log.append(.rows(11)) }
        var group = log.takeForCommit()
        #expect(group?.map(\.number) == [1] && log.failureReach == 2)
        var isMoreWaiting = log.endCommit()
        #expect(!isMoreWaiting)
        group = log.takeForCommit()
        _ = log.append(.rows(1))
        isMoreWaiting = log.endCommit()
        #expect(isMoreWaiting)
        let groups = commitAll(&log)
        #expect(groups == [[1], [2], [3]])
    }

    /// A save that was locked comes back, and the saves of the failed group do not fit behind it.
    @Test func aSaveOfAFailedGroupStaysPendingWhileOthersAreCommitted() {
        var log = logOfTenRows
        _ = log.append(.rows(9))
        _ = log.takeForCommit()
        log.recordCommitted(except: [1])
        _ = log.postpone([1], at: .now, since: .now - .seconds(1))
        _ = log.endCommit()
        for _ in 0..<2 { _ = log.append(.rows(2, origin: 2)) }
        var group = log.takeForCommit()
        #expect(group?.map(\.number) == [2, 3])
        _ = log.endCommit()
        log.resume()
        group = log.takeForCommit()
        #expect(group?.map(\.number) == [1])
        log.recordCommitted(except: [])
        #expect(log.isPending(2) && log.isPending(3) && log.committed == 1)
        let isMoreWaiting = log.endCommit()
        #expect(isMoreWaiting)
        let groups = commitAll(&log)
        #expect(groups == [[2, 3]])
    }

    @Test func aSecondCommitWaitsForTheFirst() {
        var log = log(of: 1)
        _ = log.takeForCommit()
        _ = log.append(anything)
        let second = log.takeForCommit()
        #expect(second == nil)
        log.recordCommitted(except: [])
        let isMoreWaiting = log.endCommit()
        #expect(isMoreWaiting)
        let third = log.takeForCommit()
        #expect(third?.map(\.number) == [2])
    }

    @Test func aGroupThatFailedIsPartOfTheNextOne() {
        var log = log(of: 1)
        _ = log.takeForCommit()
        let isMoreWaiting = log.endCommit()
        #expect(!isMoreWaiting)
        _ = log.append(anything)
        let group = log.takeForCommit()
        #expect(group?.map(\.number) == [1, 2])
    }

    @Test func aRollbackTakesLaterSavesOfTheOriginToo() {
        var log = log()
        let sources = [SaveSource("A", origin: 1), SaveSource("B", origin: 2)]
        for place in [0, 1, 0, 1, 0] { _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[place])) }
        _ = log.takeForCommit()
        log.recordCommitted(except: [3, 5])
        let taken = log.rollBack([3])
        #expect(taken?.saves.map(\.changes.number) == [3, 5])
        #expect(taken?.undoneBy == 6)
        #expect(log.pendingCount == 0)
        #expect(log.committed == 6)
    }

    @Test func othersAreCommittedWhileSavesArePostponed() {
        var log = log()
        let sources = [SaveSource("A", origin: 1), SaveSource("B", origin: 2)]
        for place in [0, 1, 0] { _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[place])) }
        _ = log.takeForCommit()
        log.recordCommitted(except: [1, 3])
        let now = ContinuousClock.now
        var late = log.postpone([1, 3], at: now, since: now - .seconds(1))
        _ = log.endCommit()
        #expect(late.isEmpty)
        #expect(log.committed == 0 && !log.isPending(2) && log.pendingCount == 2)
        for place in [0, 1] { _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[place])) }
        var group = log.takeForCommit(at: now + .seconds(1))
        #expect(group?.map(\.number) == [5])
        log.recordCommitted(except: [])
        _ = log.endCommit()
        group = log.takeForCommit()
        #expect(group == nil)
        let wasPostponed = log.resume()
        group = log.takeForCommit()
        #expect(wasPostponed && group?.map(\.number) == [1, 3, 4])
        log.recordCommitted(except: [1, 3, 4])
        late = log.postpone([1, 3, 4], at: now + .seconds(1), since: now)
        // The fourth is left out later than the others.
        #expect(late.map(\.changes.number) == [1, 3])
        _ = log.endCommit()
        log.resume()
        group = log.takeForCommit()
        log.recordCommitted(except: [])
        #expect(log.committed == 5 && log.pendingCount == 0)
    }

    /// What is committed after a save that waits stays in the log, so it must not be any number, however often that save is tried.
    @Test func commitsAreLimitedWhileASaveWaits() {
        var log = log(unmergedByteLimit: 1000)
        let sources = [SaveSource("A", origin: 1), SaveSource("B", origin: 2)]
        var changes = EntityChanges(entity: 1)
        changes.inserted = [StoredRow(key: 1, row: RowSnapshot(columnCount: 3, spareWords: 0))]
        let save = LoggedSave(ChangeSet(entities: [changes]), from: sources[1])
        _ = log.append(LoggedSave(ChangeSet(entities: [changes]), from: sources[0]))
        var committed = 0
        for _ in 0..<100 {
            log.resume()
            for _ in 0..<2 {
                _ = log.append(save)
                guard let group = log.takeForCommit() else { continue }
                committed += group.count { $0.number != 1 }
                log.recordCommitted(except: [1])
                if group.contains(where: { $0.number == 1 }) {
                    _ = log.postpone([1], at: .now, since: .now - .seconds(1))
                }
                _ = log.endCommit()
            }
        }
        #expect((1000..<2000).contains(committed * save.byteCount))
        log.resume()
        var group = log.takeForCommit()
        #expect(group?.map(\.number) == [1])
        log.recordCommitted(except: [])
        _ = log.endCommit()
        group = log.takeForCommit()
        #expect(group?.count == 200 - committed)
    }

    /// While a row stays locked, saves behind it gather, and others are committed.
    @Test func eachSaveThatWaitsIsLookedAtOnce() {
        var log = log()
        let sources = [SaveSource("A", origin: 1), SaveSource("B", origin: 2)]
        func add(_ source: Int) { _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[source])) }
        add(0)
        _ = log.takeForCommit()
        log.recordCommitted(except: [1])
        _ = log.postpone([1], at: .now, since: .now - .seconds(1))
        _ = log.endCommit()
        let count = 2000
        for _ in 0..<count {
            add(0)
            let group = log.takeForCommit()
            #expect(group == nil)
            add(1)
            let other = log.takeForCommit()
            #expect(other?.count == 1)
            log.recordCommitted(except: [])
            _ = log.endCommit()
        }
        #expect(log.visitedSaveCount <= 4 * count + 10, "\(log.visitedSaveCount)")
        log.resume()
        let group = log.takeForCommit()
        #expect(group?.count == 1 + count)
        log.recordCommitted(except: [])
        _ = log.endCommit()
        #expect(log.committed == log.newest && log.pendingCount == 0)
    }

    @Test func mainGetsOnlySavesMadeAfterItBeganToShow() {
        var log = log(of: 1)
        log.startMerging()
        _ = log.append(anything)
        let taken = [log.takeForMain().map(\.number), log.takeForMain().map(\.number)]
        #expect(taken == [[2], []])
    }

    @Test func mainDoesNotGetSavesBeyondTheLimit() {
        var log = log(unmergedByteLimit: 1000)
        log.startMerging()
        var changes = EntityChanges(entity: 1)
        changes.inserted = [StoredRow(key: 1, row: RowSnapshot(columnCount: 3, spareWords: 0))]
        let save = LoggedSave(ChangeSet(entities: [changes]))
        while log.unmergedByteCount + save.byteCount <= 1000 { _ = log.append(save) }
        #expect(log.takeStaleness() == nil)
        _ = log.append(save)
        #expect(log.takeForMain().isEmpty)
        #expect(log.takeStaleness() == .backlog)
        #expect(log.takeStaleness() == nil)
        #expect(log.unmergedByteCount == 0)
    }

    @Test func mergedSavesDoNotCountAgainstTheLimit() {
        var log = log(unmergedByteLimit: 1000)
        log.startMerging()
        var changes = EntityChanges(entity: 1)
        changes.inserted = [StoredRow(key: 1, row: RowSnapshot(columnCount: 3, spareWords: 0))]
        for _ in 0..<100 {
            _ = log.append(LoggedSave(ChangeSet(entities: [changes])))
            let merged = log.takeForMain()
            #expect(merged.count == 1)
        }
        #expect(log.takeStaleness() == nil)
    }

    /// Any order of events: main gets each save once, in order, and each save is committed or rolled back.
    @Test(arguments: 0..<64)
    func everyReaderSeesEverySaveOnce(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var log = logOfTenRows
        var ended: Set<SaveNumber> = []
        var merged: [SaveNumber] = []
        var group: [SaveNumber] = []
        var reads: [SaveNumber] = []
        func rollBack(_ numbers: Set<SaveNumber>) {
            guard let taken = log.rollBack(numbers) else { return }
            for save in taken.saves { #expect(ended.insert(save.changes.saveNumber).inserted, "seed \(seed)") }
            ended.insert(taken.undoneBy)
        }
        func endCommit(refusing refused: Set<SaveNumber>, postponing origin: Int? = nil) {
            let waiting = log.pending.filter { $0.changes.origin == origin && group.contains($0.changes.saveNumber) }
            let others = Set(waiting.map(\.changes.saveNumber)).subtracting(refused)
            log.recordCommitted(except: refused.union(others))
            ended.formUnion(group.filter { !refused.contains($0) && !others.contains($0) })
            rollBack(refused)
            _ = log.postpone(others, at: .now, since: .now)
            _ = log.endCommit()
        }
        /// No save comes before an earlier one of its origin, and only those wait that are left out or do not fit.
        func checkGroup() {
            for save in log.pending where !group.contains(save.changes.saveNumber) {
                let later = log.pending.filter {
                    $0.changes.origin == save.changes.origin && $0.changes.saveNumber > save.changes.saveNumber
                }
                #expect(!later.contains { group.contains($0.changes.saveNumber) }, "seed \(seed)")
                let isBehind = save.changes.saveNumber > group.last ?? .beforeFirst
                #expect(log.isPostponing || isBehind && !group.isEmpty, "seed \(seed)")
            }
        }
        log.startMerging()
        for _ in 0..<400 {
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1:
                let count = Int64.random(in: 0...12, using: &random)
                _ = log.append(.rows(count, origin: Int.random(in: 1...3, using: &random)))
            case 2 where log.committing == nil:
                group = log.takeForCommit()?.map(\.saveNumber) ?? []
                checkGroup()
            case 3 where log.committing != nil:
                if Bool.random(using: &random) {
                    endCommit(
                        refusing: Set(group.filter { _ in Int.random(in: 0..<5, using: &random) == 0 }),
                        postponing: Int.random(in: 1...6, using: &random))
                } else {
                    _ = log.endCommit()
                }
            case 4: merged += log.takeForMain().map(\.saveNumber)
            case 5: reads.append(log.beginRead())
            case 6 where log.committing == nil: rollBack(Set(log.pending.map(\.changes.saveNumber).suffix(2)))
            case 7: log.resume()
            default: if let read = reads.popLast() { log.endRead(from: read) }
            }
            #expect(log.pendingCount == log.pending.count)
        }
        for read in reads { log.endRead(from: read) }
        if log.committing != nil { endCommit(refusing: []) }
        log.resume()
        while let taken = log.takeForCommit() {
            group = taken.map(\.saveNumber)
            endCommit(refusing: [])
        }
        merged += log.takeForMain().map(\.saveNumber)
        #expect(ended == Set(1..<log.newest.next), "seed \(seed)")
        #expect(merged == Array(1..<log.newest.next), "seed \(seed)")
        #expect(log.committed == log.newest)
    }

    /// A hand-over of leases, or a timer, has it tried again while others are committed.
    @Test func aSaveThatIsResumedDuringACommitIsCommittedNext() {
        var log = log()
        let sources = (1...2).map { SaveSource("\($0)", origin: $0) }
        _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[0]))
        _ = log.takeForCommit()
        log.recordCommitted(except: [1])
        _ = log.postpone([1], at: .now, since: .now)
        _ = log.endCommit()
        _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[1]))
        let others = log.takeForCommit()
        log.resume()
        log.recordCommitted(except: [])
        let isMoreWaiting = log.endCommit()
        _ = log.append(LoggedSave(ChangeSet(entities: []), from: sources[0]))
        let next = log.takeForCommit()
        #expect(others?.map(\.number) == [2] && isMoreWaiting && next?.map(\.number) == [1, 3])
    }
}

extension LoggedSave {
    /// A save of rows without values. A save of ten rows has ten times the bytes of a save of one row.
    static func rows(_ count: Int64, origin: Int = 1) -> LoggedSave {
        var changes = EntityChanges(entity: 1)
        changes.inserted = (0..<count).map { StoredRow(key: $0, row: RowSnapshot(columnCount: 3, spareWords: 0)) }
        return LoggedSave(ChangeSet(entities: [changes]), from: SaveSource("\(origin)", origin: origin))
    }
}
