package import RowStore

/// Every save that is still needed, in the order in which saves were made. It is a value that decides, and does nothing.
///
/// Each save has a number, counted from 1. The root commits the log, main merges it, and a fetch lays over its rows every save
/// after the commit that it surely includes. A save leaves the log once none of them can need it.
///
/// A save that cannot be committed is taken back: it is never committed, and another save, which undoes it, follows for
/// everyone who has seen it.
package struct SaveLog {
    /// The number of the newest save.
    package var newest: Int64 { saves.newest }
    /// Every save up to this number is in the store, or will never be.
    package private(set) var committed: Int64 = 0
    /// Main has merged everything up to this number; nil while main shows nothing.
    package private(set) var merged: Int64?
    /// The numbers of the group that is being committed; nil while no commit is under way.
    package private(set) var committing: ClosedRange<Int64>?
    /// How many commits have begun.
    package private(set) var commitCount = 0
    /// How often the store was reset. Cached rows of an older generation must be reloaded.
    package private(set) var generation = 0
    /// Whether the store is being emptied. Meanwhile nothing is committed.
    package private(set) var isResetting = false
    var pendingNumbers = PendingNumbers()
    /// How many saves must be committed.
    package var pendingCount: Int { pendingNumbers.all.count }
    /// How much memory they use, in bytes.
    package private(set) var pendingByteCount = 0
    /// How much memory the saves use that main has not merged, in bytes.
    package private(set) var unmergedByteCount = 0
    /// Why main must reload what it shows from the store; nil if it need not.
    private var staleness: Staleness?
    /// The origins whose saves no group contains for now.
    var postponedOrigins: Set<Int> = []
    /// Whether only saves of postponed origins are left out of the group that was taken last, and still wait.
    var takesAll = true
    /// Whether saves that had been left out of the commit that is under way wait no more.
    var hasResumed = false
    /// How many saves commits have looked at so far. For tests.
    package private(set) var lookedAt = 0
    /// How much memory saves use that are in the store while earlier ones are not, in bytes.
    private var storedByteCount = 0

    /// The rows of saves that a fetch may lack.
    private(set) var rows: PendingRows
    /// How much memory the saves of other containers use that are in ``rows``, in bytes.
    private var elsewhereByteCount = 0
    var saves = LoggedSaves()
    /// Everything up to this number has left ``rows``.
    private var trimmedRows: Int64 = 0
    private var reads = OpenReads()
    private let layout: ModelLayout
    /// How many bytes main may be behind before it has to reload.
    private let unmergedByteLimit: Int

    package init(_ layout: ModelLayout, unmergedByteLimit: Int = .max) {
        self.layout = layout
        rows = PendingRows(layout)
        self.unmergedByteLimit = unmergedByteLimit
    }

    // MARK: Saves

    /// Adds a save and gives it its number.
    ///
    /// - Parameter block: The save's rows, if it is large.
    package mutating func append(_ save: LoggedSave, _ block: PendingBlock? = nil) -> Int64 {
        saves.append(save)
        if save.isPending {
            pendingNumbers.append(newest)
            pendingByteCount += save.byteCount
            rows.add(saves[newest].changes, block)
        } else if save.isMadeElsewhere {
            // A read that began before may lack it.
            rows.add(saves[newest].changes, block)
            elsewhereByteCount += save.byteCount
            storedByteCount += save.byteCount
        }
        if merged != nil { unmergedByteCount += save.byteCount }
        if unmergedByteCount > unmergedByteLimit { forgetForMain(.backlog) }
        return newest
    }

    /// Adds a save that another container has made, unless too much waits behind saves that cannot be committed.
    mutating func append(madeElsewhere changes: ChangeSet, _ block: PendingBlock?) -> Int64? {
        defer { advance() }
        return elsewhereByteCount < unmergedByteLimit ? append(LoggedSave(madeElsewhere: changes), block) : nil
    }

    /// Lets reads find what is in the store there: there are newer rows than those of the saves here.
    mutating func forgetStoredRows() {
        for number in saves.numbers(after: trimmedRows) where saves[number].isStored && !saves[number].isForgotten {
            rows.remove(saves[number].changes)
            saves[number].isForgotten = true
        }
    }

    /// The saves that must be committed.
    package var pending: [LoggedSave] { pendingNumbers.all.map { saves[$0] } }

    /// The pending saves that wait for no other program, as one group; nil if there are none or a commit is under way.
    package mutating func takeForCommit(at now: ContinuousClock.Instant = .now) -> [ChangeSet]? {
        guard committing == nil, !isResetting else { return nil }
        // What is committed behind saves that wait stays in the log.
        let isFull = storedByteCount >= unmergedByteLimit && pendingNumbers.all.contains { saves[$0].isLocked }
        if isFull, isPostponing { return nil }
        var group: [ChangeSet] = []
        for number in pendingNumbers.forCommit {
            lookedAt += 1
            let isLeftOut = isFull && !saves[number].isLocked || postponedOrigins.contains(saves[number].changes.origin)
            saves[number].isCommitting = !isLeftOut
            if isLeftOut { wait(number, since: now) } else { group.append(saves[number].changes) }
        }
        (takesAll, hasResumed) = (!isFull, false)
        if group.isEmpty, takesAll { pendingNumbers.pass(through: newest) }
        guard !group.isEmpty else { return nil }
        committing = committed + 1...newest
        commitCount += 1
        return group
    }

    /// Notes that the group is in the store, except for the saves with those numbers, which are taken back or postponed.
    package mutating func noteCommitted(except others: Set<Int64>) {
        for number in pendingNumbers.forCommit where saves[number].isCommitting {
            lookedAt += 1
            saves[number].isCommitting = false
            guard !others.contains(number) else { continue }
            settle(number)
            storedByteCount += saves[number].byteCount
        }
        pendingNumbers.keepForCommit { saves[$0].isPending }
        if takesAll, let committing { pendingNumbers.pass(through: committing.upperBound) }
        advance()
    }

    /// Ends the commit, once everyone who waited for it was notified.
    ///
    /// - Returns: Whether saves came in meanwhile, or wait no more, for which no commit was tried yet.
    package mutating func endCommit() -> Bool {
        let through = committing?.upperBound ?? committed
        committing = nil
        return pendingNumbers.all.last.map { $0 > through || hasResumed } ?? false
    }

    /// Takes back the pending saves with those numbers, and every later pending one of their origins.
    ///
    /// - Returns: The saves that were taken back, the oldest first, and the number of the save that undoes them.
    package mutating func takeBack(_ numbers: Set<Int64>) -> (saves: [LoggedSave], undoneBy: Int64)? {
        var origins: Set<Int> = []
        var taken: [LoggedSave] = []
        for save in pending {
            let number = save.changes.number
            guard numbers.contains(number) || origins.contains(save.changes.origin) else { continue }
            origins.insert(save.changes.origin)
            taken.append(save)
            settle(number)
            saves[number].isTakenBack = true
            rows.remove(save.changes)
        }
        guard !taken.isEmpty else { return nil }
        pendingNumbers.keep { saves[$0].isPending }
        // Earlier saves of the same rows count again.
        for save in saves[saves.numbers(after: trimmedRows)]
        where save.isMadeElsewhere || origins.contains(save.changes.origin) {
            if save.hasRowsToRead { rows.restore(save.changes) }
        }
        let undoing = append(LoggedSave(undoing: taken.map(\.changes)), nil)
        advance()
        return (taken, undoing)
    }

    /// Replaces the origins of saves by others.
    mutating func move(_ moved: [Int: Int]) {
        for number in saves.numbers {
            if let origin = moved[saves[number].changes.origin] { saves[number].changes.origin = origin }
        }
        postponedOrigins = Set(postponedOrigins.map { moved[$0] ?? $0 })
    }

    private mutating func settle(_ number: Int64) {
        saves[number].isPending = false
        pendingByteCount -= saves[number].byteCount
    }

    /// Moves past the saves whose outcome is known.
    private mutating func advance() {
        let next = pendingNumbers.all.first ?? newest + 1
        while committed + 1 < next {
            committed += 1
            if saves[committed].isStored { storedByteCount -= saves[committed].byteCount }
        }
        trim()
    }

    // MARK: Reset

    /// The store is about to be emptied, unless a commit is under way.
    package mutating func beginReset() -> Bool {
        guard committing == nil else { return false }
        isResetting = true
        return true
    }

    /// The store was emptied, or could not be: saves are committed again.
    package mutating func endReset() { isResetting = false }

    /// The rows of the store are gone: pending saves are lost, and older ones are not reported.
    ///
    /// - Returns: The saves that are lost.
    package mutating func empty() -> [LoggedSave] {
        let lost = pending
        saves.removeAll(through: newest)
        rows.removeAll()
        postponedOrigins = []
        pendingNumbers = PendingNumbers()
        committed = newest
        trimmedRows = newest
        (pendingByteCount, unmergedByteCount, elsewhereByteCount, storedByteCount) = (0, 0, 0, 0)
        if merged != nil { merged = newest }
        staleness = nil
        generation += 1
        return lost
    }

    // MARK: Main

    /// Main begins to show rows: from now on it is notified of every save.
    package mutating func startMerging() {
        if merged == nil { merged = newest }
    }

    /// Main shows nothing any more.
    package mutating func stopMerging() {
        merged = nil
        unmergedByteCount = 0
        staleness = nil
        trim()
    }

    /// Whether there are saves that main has not merged yet.
    var hasUnmergedSaves: Bool { merged.map { $0 < newest } ?? false }

    /// The saves that main has not merged yet; it merges them now.
    package mutating func takeForMain() -> [ChangeSet] {
        guard let merged, merged < newest else { return [] }
        let taken = saves[saves.numbers(after: merged)].map(\.changes)
        self.merged = newest
        unmergedByteCount = 0
        trim()
        return taken
    }

    /// Drops the saves that main has not merged: it must reload what it shows from the store.
    package mutating func forgetForMain(_ reason: Staleness) {
        guard merged != nil else { return }
        merged = newest
        unmergedByteCount = 0
        if staleness != .outsideWrites { staleness = reason }
        trim()
    }

    /// Why main must reload, if it must; it does so now.
    package mutating func takeStaleness() -> Staleness? {
        defer { staleness = nil }
        return staleness
    }

    // MARK: Fetches

    /// A fetch begins: everything up to the number returned is surely in what it will read from the store.
    package mutating func beginRead() -> Int64 {
        reads.begin(at: committed)
        return committed
    }

    /// The fetch that began there has read the store, and has looked into ``rows`` for what the store lacked.
    package mutating func endRead(from number: Int64) {
        reads.end(from: number)
        trim()
    }

    // MARK: The log

    private mutating func trim() {
        let known = min(committed, reads.oldest ?? newest)
        if trimmedRows < known {
            for number in saves.numbers(after: trimmedRows) where number <= known {
                if saves[number].hasRowsToRead { rows.remove(saves[number].changes) }
                if saves[number].isMadeElsewhere { elsewhereByteCount -= saves[number].byteCount }
            }
            trimmedRows = known
        }
        saves.removeAll(through: min(known, merged ?? newest))
    }
}

/// Saves that wait for rows that another program keeps locked, while others are committed.
extension SaveLog {
    /// Leaves saves out of commits, and later ones of their origins, until ``resume()``.
    ///
    /// - Parameter numbers: Those that could not be written.
    /// - Returns: Those that have been left out since the limit, or longer.
    package mutating func postpone(
        _ numbers: Set<Int64>, at now: ContinuousClock.Instant, since limit: ContinuousClock.Instant
    ) -> [LoggedSave] {
        for number in numbers where isPending(number) {
            postponedOrigins.insert(saves[number].changes.origin)
            saves[number].isLocked = true
            wait(number, since: now)
        }
        return pending.filter { save in save.waitsSince.map { $0 <= limit } ?? false }
    }

    mutating func wait(_ number: Int64, since now: ContinuousClock.Instant) {
        if saves[number].waitsSince == nil { saves[number].waitsSince = now }
    }

    /// Whether saves are left out of commits.
    package var isPostponing: Bool { !postponedOrigins.isEmpty }

    /// Lets the next commit have what was postponed.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    package mutating func resume() -> Bool {
        let wasPostponing = isPostponing
        postponedOrigins = []
        pendingNumbers.passOverNone()
        // What the commit that is under way has left out is not passed over when it ends.
        if wasPostponing { (takesAll, hasResumed) = (false, true) }
        return wasPostponing
    }

    /// Marks those that are pending as reported late.
    ///
    /// - Returns: Those that had not been reported.
    package mutating func noteDelay(of numbers: Set<Int64>) -> [LoggedSave] {
        var delayed: [LoggedSave] = []
        for number in pendingNumbers.all where numbers.contains(number) && !saves[number].isDelayed {
            saves[number].isDelayed = true
            delayed.append(saves[number])
        }
        return delayed
    }

    /// Whether the save with that number must be committed.
    package func isPending(_ number: Int64) -> Bool {
        saves.numbers(after: committed).contains(number) && saves[number].isPending
    }

    /// Whether there is such a save among those that must be committed.
    package func containsPending(_ isWanted: (LoggedSave) -> Bool) -> Bool {
        pendingNumbers.all.contains { isWanted(saves[$0]) }
    }
}

extension SaveLog {
    /// Why main cannot continue from what it shows.
    package enum Staleness: Sendable {
        /// It was so far behind that it skipped saves.
        case backlog
        /// Another program wrote to the store.
        case outsideWrites
        /// The store has changed very many rows itself.
        case bulkChange
    }
}
