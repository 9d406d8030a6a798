internal import RowStore

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
