package import RowStore

/// All saves that are still needed, in their order. The log only makes decisions; ``RootTier`` carries them out.
///
/// Each save has a number. The numbers begin with 1. The root commits the saves of the log, and the main context merges
/// the saves. A save that was not committed when a fetch began may be missing in the store. In the result of the fetch,
/// the rows of such saves replace the rows of the store. A save leaves the log when the root, the main context and all
/// fetches no longer need it.
///
/// A save that cannot be committed is rolled back: it is never committed, and another save is added that undoes it in
/// the main context.
package struct SaveLog {
    /// The number of the newest save.
    package var newest: SaveNumber { saves.newest }
    /// The number up to which the outcome of every save is known: the save is in the store, or was rolled back.
    package private(set) var committed = SaveNumber.beforeFirst
    /// The number up to which the main context has merged all saves; nil while the main context shows nothing.
    package private(set) var merged: SaveNumber?
    /// The numbers of the group that is being committed; nil if no commit is running.
    package private(set) var committing: ClosedRange<SaveNumber>?
    /// The number of the newest save when the newest commit began. A failure of the whole commit ends the wait for all saves up to
    /// this number, because the store would not write the saves of the next transactions either.
    package private(set) var failureReach = SaveNumber.beforeFirst
    /// Whether the store has written the running commit.
    private var isWritten = false
    /// The number of commits that have begun.
    package private(set) var commitCount = 0
    /// The number of resets of the store. Cached rows of an older generation must be reloaded.
    package private(set) var generation = 0
    /// Whether the store is being emptied. If true, no save is committed.
    package private(set) var isResetting = false
    var pendingNumbers = PendingNumbers()
    /// The number of saves that are neither committed nor rolled back.
    package var pendingCount: Int { pendingNumbers.all.count }
    /// The memory of the pending saves, in bytes.
    package private(set) var pendingByteCount = 0
    /// The memory of the pending saves that the running commit does not write, in bytes.
    var waitingByteCount: Int { max(0, pendingByteCount - committingByteCount) }
    private var committingByteCount = 0
    /// The memory of the saves that the main context has not merged, in bytes.
    package private(set) var unmergedByteCount = 0
    /// The reason why the main context must reload from the store; nil if the main context is up to date.
    private(set) var staleness: Staleness?
    /// The number of times that the main context had to reload because unknown rows had changed.
    private(set) var unknownChangeCount = 0
    /// The origins whose saves are left out of commits until ``resume()``.
    var postponedOrigins: Set<Int> = []
    /// Whether commits may pass over the saves that the last group left out. True if all of them have postponed origins, and
    /// ``resume()`` was not called since.
    var canSkipPostponed = true
    /// Whether ``resume()`` or ``requestAnotherCommit()`` was called during the running commit, so that another commit must follow.
    var hasResumed = false
    /// The number of saves that commits have visited so far. For tests.
    package private(set) var visitedSaveCount = 0
    /// The memory, in bytes, of the saves that are already in the store while earlier saves are pending.
    private var storedByteCount = 0

    /// The rows of saves that a fetch might not find in the store.
    private(set) var rows: PendingRows
    /// The memory of the saves of other members in ``rows``, in bytes.
    private var otherMemberByteCount = 0
    var saves = LoggedSaves()
    /// The number up to which the rows of all saves were removed from ``rows``.
    private var trimmedRows = SaveNumber.beforeFirst
    private var reads = OpenReads()
    private let layout: ModelLayout
    /// The largest number of bytes of unmerged saves. Beyond the limit, the main context must reload.
    private let unmergedByteLimit: Int
    /// The largest number of bytes of a transaction with several saves.
    private let transactionByteLimit: Int

    package init(_ layout: ModelLayout, unmergedByteLimit: Int = .max, transactionByteLimit: Int = 1 << 20) {
        self.layout = layout
        rows = PendingRows(layout)
        self.unmergedByteLimit = unmergedByteLimit
        self.transactionByteLimit = transactionByteLimit
    }

    // MARK: Saves

    /// Adds a save, and gives it the next number.
    ///
    /// - Parameter block: The rows of the save, if it is large.
    package mutating func append(_ save: LoggedSave, _ block: PendingBlock? = nil) -> SaveNumber {
        saves.append(save)
        if save.isPending {
            pendingNumbers.append(newest)
            pendingByteCount += save.byteCount
            rows.add(saves[newest].changes, block)
        } else if save.isOfOtherMember {
            // A read that began earlier might lack the save.
            rows.add(saves[newest].changes, block)
            otherMemberByteCount += save.byteCount
            storedByteCount += save.byteCount
        }
        if merged != nil { unmergedByteCount += save.byteCount }
        if unmergedByteCount > unmergedByteLimit { makeMainReload(.backlog) }
        return newest
    }

    /// Adds a save of another member.
    ///
    /// - Returns: The number of the save; nil if the saves of other members use too much memory.
    mutating func append(ofOtherMember changes: ChangeSet, _ block: PendingBlock?) -> SaveNumber? {
        defer { advance() }
        return otherMemberByteCount < unmergedByteLimit ? append(LoggedSave(ofOtherMember: changes), block) : nil
    }

    /// Removes from ``rows`` the rows of all saves that are in the store. Called when others have changed unknown rows: the
    /// rows in the store may be newer than the rows of these saves.
    mutating func forgetStoredRows() {
        for number in saves.numbers(after: trimmedRows) where saves[number].isStored && !saves[number].isSuperseded {
            rows.remove(saves[number].changes)
            saves[number].isSuperseded = true
        }
    }

    /// The saves that are neither committed nor rolled back.
    package var pending: [LoggedSave] { pendingNumbers.all.map { saves[$0] } }

    /// Begins a commit of the oldest pending saves that are not postponed.
    ///
    /// The saves become one transaction. All callers of a transaction wait for its end, so its size has a limit, and the next
    /// transaction begins with the first save that does not fit. So a save larger than the limit has a transaction of its own.
    ///
    /// - Returns: The group; nil if there is no save to commit, if a commit is running, or during a reset.
    package mutating func takeForCommit(at now: ContinuousClock.Instant = .now) -> [ChangeSet]? {
        guard committing == nil, !isResetting else { return nil }
        // Committed saves stay in the log until all earlier saves are committed. If these committed saves use too much memory
        // and a pending save was locked, commit nothing while saves are postponed. After `resume()`, commit only the saves that
        // were locked.
        let isFull = storedByteCount >= unmergedByteLimit && pendingNumbers.all.contains { saves[$0].isLocked }
        if isFull, isPostponing { return nil }
        var group: [ChangeSet] = []
        var (byteCount, last) = (0, newest)
        for number in pendingNumbers.forCommit {
            visitedSaveCount += 1
            let isLeftOut = isFull && !saves[number].isLocked || postponedOrigins.contains(saves[number].changes.origin)
            if !isLeftOut {
                let newByteCount = byteCount + saves[number].byteCount
                // If a save has early rows, the store keeps these rows only if the transaction has no other save.
                if let first = group.first, newByteCount > transactionByteLimit || first.earlyWrite?.isOpen == true {
                    last = number.advanced(by: -1)
                    break
                }
                group.append(saves[number].changes)
                byteCount = newByteCount
            }
            saves[number].isCommitting = !isLeftOut
            if isLeftOut { recordPostponement(number, since: now) }
        }
        (canSkipPostponed, hasResumed) = (!isFull, false)
        if group.isEmpty, canSkipPostponed { pendingNumbers.skip(through: newest) }
        guard !group.isEmpty else { return nil }
        (committing, failureReach, isWritten) = (committed.next...last, newest, false)
        committingByteCount = byteCount
        commitCount += 1
        return group
    }

    /// Records that the group is in the store, except for refused and postponed saves.
    package mutating func recordCommitted(except others: Set<SaveNumber>) {
        guard let committing else { return }
        (isWritten, committingByteCount) = (true, 0)
        // Stop at the end of this commit: a failed earlier commit may have left marks on later saves.
        for number in pendingNumbers.forCommit.prefix(while: { $0 <= committing.upperBound })
        where saves[number].isCommitting {
            visitedSaveCount += 1
            saves[number].isCommitting = false
            guard !others.contains(number) else { continue }
            markNotPending(number)
            storedByteCount += saves[number].byteCount
        }
        pendingNumbers.keepForCommit(through: committing.upperBound) { saves[$0].isPending }
        if canSkipPostponed { pendingNumbers.skip(through: committing.upperBound) }
        advance()
    }

    /// Ends the commit. All waiters must already be notified.
    ///
    /// - Returns: Whether another commit must follow. There are three reasons: saves did not fit into the transaction, saves were
    ///   added or resumed during this commit, or the commit left out saves of origins that are not postponed. After a failure,
    ///   saves that did not fit are no reason for another commit: the failure also ends the wait for every save that was in
    ///   the log when the commit began (`failureReach`).
    package mutating func endCommit() -> Bool {
        let through = isWritten ? committing?.upperBound ?? committed : failureReach
        (committing, committingByteCount) = (nil, 0)
        let isMoreLeft = hasResumed || isWritten && !canSkipPostponed
        return pendingNumbers.all.last.map { $0 > through || isMoreLeft } ?? false
    }

    /// Rolls back the given pending saves, and all later pending saves of their origins.
    ///
    /// - Returns: The rolled back saves, the oldest first, and the number of the save that undoes them; nil if none of the
    ///   given saves is pending.
    package mutating func rollBack(_ numbers: Set<SaveNumber>) -> (saves: [LoggedSave], undoneBy: SaveNumber)? {
        var origins: Set<Int> = []
        var taken: [LoggedSave] = []
        for save in pending {
            let number = save.changes.saveNumber
            guard numbers.contains(number) || origins.contains(save.changes.origin) else { continue }
            origins.insert(save.changes.origin)
            taken.append(save)
            markNotPending(number)
            saves[number].isRolledBack = true
            rows.remove(save.changes)
        }
        guard !taken.isEmpty else { return nil }
        pendingNumbers.keep { saves[$0].isPending }
        // Restore the rows of earlier saves that the rolled back saves had replaced.
        for save in saves[saves.numbers(after: trimmedRows)]
        where save.isOfOtherMember || origins.contains(save.changes.origin) {
            if save.hasRowsToRead { rows.restore(save.changes) }
        }
        let undoing = append(LoggedSave(undoing: taken.map(\.changes)), nil)
        advance()
        return (taken, undoing)
    }

    /// Replaces the origins of saves with new origins.
    ///
    /// - Parameter moved: A map from each old origin to its new origin.
    mutating func replaceOrigins(_ moved: [Int: Int]) {
        for number in saves.numbers {
            if let origin = moved[saves[number].changes.origin] { saves[number].changes.origin = origin }
        }
        postponedOrigins = Set(postponedOrigins.map { moved[$0] ?? $0 })
    }

    private mutating func markNotPending(_ number: SaveNumber) {
        saves[number].isPending = false
        pendingByteCount -= saves[number].byteCount
    }

    /// Raises ``committed`` to the last save before the first pending save.
    private mutating func advance() {
        let next = pendingNumbers.all.first ?? newest.next
        while committed.next < next {
            committed = committed.next
            if saves[committed].isStored { storedByteCount -= saves[committed].byteCount }
        }
        trim()
    }

    // MARK: Reset

    /// Begins a reset.
    ///
    /// - Returns: False if a commit is running.
    package mutating func beginReset() -> Bool {
        guard committing == nil else { return false }
        isResetting = true
        return true
    }

    /// Ends a reset, whether it succeeded or failed. Commits may begin again.
    package mutating func endReset() { isResetting = false }

    /// Empties the log after the store was emptied.
    ///
    /// - Returns: The pending saves, which are lost.
    package mutating func empty() -> [LoggedSave] {
        let lost = pending
        saves.removeAll(through: newest)
        rows.removeAll()
        postponedOrigins = []
        pendingNumbers = PendingNumbers()
        committed = newest
        trimmedRows = newest
        (pendingByteCount, unmergedByteCount, otherMemberByteCount, storedByteCount) = (0, 0, 0, 0)
        if merged != nil { merged = newest }
        staleness = nil
        generation += 1
        return lost
    }

    // MARK: The main context

    /// Records that the main context begins to show rows. From now on, the main context merges every save.
    package mutating func startMerging() {
        if merged == nil { merged = newest }
    }

    /// Records that the main context no longer shows rows.
    package mutating func stopMerging() {
        merged = nil
        unmergedByteCount = 0
        staleness = nil
        trim()
    }

    var hasUnmergedSaves: Bool { merged.map { $0 < newest } ?? false }

    /// Returns the saves that the main context has not merged yet, and marks them as merged.
    package mutating func takeForMain() -> [ChangeSet] {
        guard let merged, merged < newest else { return [] }
        let taken = saves[saves.numbers(after: merged)].map(\.changes)
        self.merged = newest
        unmergedByteCount = 0
        trim()
        return taken
    }

    /// Like ``takeForMain()``, for the saves up to a number.
    mutating func takeForMain(through last: SaveNumber) -> [ChangeSet] {
        guard let merged, merged < min(last, newest) else { return [] }
        let taken = saves.numbers(after: merged).clamped(to: merged.next..<last.next)
        defer { trim() }
        self.merged = last
        unmergedByteCount = saves[saves.numbers(after: last)].reduce(0) { $0 + $1.byteCount }
        return saves[taken].map(\.changes)
    }

    /// Makes the main context reload from the store instead of merging saves.
    package mutating func makeMainReload(_ reason: Staleness) {
        guard merged != nil else { return }
        merged = newest
        unmergedByteCount = 0
        if reason != .backlog { unknownChangeCount += 1 }
        if staleness != .outsideWrites { staleness = reason }
        trim()
    }

    /// Removes and returns the reason why the main context must reload; nil if the main context is up to date.
    package mutating func takeStaleness() -> Staleness? {
        defer { staleness = nil }
        return staleness
    }

    // MARK: Fetches

    /// Begins a fetch.
    ///
    /// - Returns: The number of a save. The fetch will find all saves up to this number in the store.
    package mutating func beginRead() -> SaveNumber {
        reads.begin(at: committed)
        return committed
    }

    /// Ends a fetch, after the fetch has read from the store and then from ``rows``.
    ///
    /// - Parameter number: The number that ``beginRead()`` returned.
    package mutating func endRead(from number: SaveNumber) {
        reads.end(from: number)
        trim()
    }

    // MARK: The log

    private mutating func trim() {
        let known = min(committed, reads.oldest ?? newest)
        if trimmedRows < known {
            for number in saves.numbers(after: trimmedRows) where number <= known {
                if saves[number].hasRowsToRead { rows.remove(saves[number].changes) }
                if saves[number].isOfOtherMember { otherMemberByteCount -= saves[number].byteCount }
            }
            trimmedRows = known
        }
        saves.removeAll(through: min(known, merged ?? newest))
    }
}

extension SaveLog {
    /// The reason why the main context must reload from the store.
    package enum Staleness: Sendable {
        /// The unmerged saves used too much memory and were dropped.
        case backlog
        /// Another program wrote to the store.
        case outsideWrites
        /// The store made a bulk change.
        case bulkChange
    }
}
