import CoreDataSource
import RowStore
import TestSupport
import Testing

/// Saves that wait for rows which another program keeps locked, if they do not fit into one transaction.
struct SaveLogPostponingTests {
    private let now = ContinuousClock.now

    /// Makes a log with a small save, and with a save that does not fit into its transaction.
    private func log(secondOrigin: Int, unmergedByteLimit: Int = .max) -> SaveLog {
        let large = LoggedSave.rows(10, origin: secondOrigin)
        var log = SaveLog(
            ModelLayout(.chat), unmergedByteLimit: unmergedByteLimit, transactionByteLimit: large.byteCount)
        _ = log.append(.rows(1, origin: 1))
        _ = log.append(large)
        return log
    }

    /// Tries a transaction, whose saves are locked.
    ///
    /// - Returns: The saves of the transaction, the saves that have waited since ``now``, and whether both saves were tried.
    private func tryLocked(_ log: inout SaveLog) -> (group: [Int64], late: [Int64], hasTriedBoth: Bool) {
        let group = log.takeForCommit(at: now) ?? []
        log.recordCommitted(except: Set(group.map(\.saveNumber)))
        let late = log.postpone(Set(group.map(\.saveNumber)), at: now, since: now)
        defer { _ = log.endCommit() }
        return (group.map(\.number), late.map(\.changes.number), log.hasTriedAll(through: 2))
    }

    /// The second save is in no transaction as long as the first one is locked, but its caller must get an error, too.
    @Test func aSaveBehindALockedSaveOfItsOriginIsLateWithoutATransaction() {
        var log = log(secondOrigin: 1)
        let first = tryLocked(&log)
        #expect(first.group == [1] && first.late == [1] && first.hasTriedBoth)
        let leftOut = log.takeForCommit(at: now)
        #expect(leftOut == nil)
        log.resume()
        let second = tryLocked(&log)
        #expect(second.group == [1] && second.late == [1, 2] && second.hasTriedBoth)
    }

    /// The lock of the second save may have ended.
    @Test func aSaveThatTheNextTransactionTriesIsNotLateYet() {
        var log = log(secondOrigin: 2)
        let (first, second) = (tryLocked(&log), tryLocked(&log))
        #expect(first.group == [1] && !first.hasTriedBoth)
        #expect(second.group == [2] && second.late == [1, 2] && second.hasTriedBoth)
        log.resume()
        let third = tryLocked(&log)
        #expect(third.group == [1] && third.late == [1] && !third.hasTriedBoth)
        let next = log.takeForCommit()
        #expect(next?.map(\.number) == [2])
    }

    /// While too much is in the log, a commit takes only the saves that were locked. Another save must not wait until there is a
    /// further one.
    @Test func savesThatAFullLogLeavesOutAreCommittedNext() {
        var log = log(secondOrigin: 2, unmergedByteLimit: 1)
        _ = tryLocked(&log)
        let stored = log.takeForCommit()
        log.recordCommitted(except: [])
        _ = log.endCommit()
        _ = log.append(.rows(1, origin: 2))
        let full = log.takeForCommit()
        log.resume()
        let locked = log.takeForCommit()
        log.recordCommitted(except: [])
        let isMoreWaiting = log.endCommit()
        let next = log.takeForCommit()
        #expect(stored?.map(\.number) == [2] && full == nil && locked?.map(\.number) == [1])
        #expect(isMoreWaiting && next?.map(\.number) == [3])
    }
}
