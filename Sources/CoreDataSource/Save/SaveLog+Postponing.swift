package import RowStore

/// Postponed saves. Another program has locked their rows, so later saves may be committed before them.
extension SaveLog {
    /// Leaves the given saves, and all later saves of their origins, out of commits until ``resume()``.
    ///
    /// - Parameters:
    ///   - numbers: The saves that could not be written.
    ///   - limit: A save that began to wait at this time or earlier has waited too long.
    /// - Returns: The saves that have waited too long. Left out are saves that the next transaction tries, because they did not fit
    ///   into the running one.
    package mutating func postpone(
        _ numbers: Set<SaveNumber>, at now: ContinuousClock.Instant, since limit: ContinuousClock.Instant
    ) -> [LoggedSave] {
        for number in numbers where isPending(number) {
            postponedOrigins.insert(saves[number].changes.origin)
            saves[number].isLocked = true
            recordPostponement(number, since: now)
        }
        return pending.filter { save in
            let isLate = save.postponedSince.map { $0 <= limit } ?? false
            return isLate && !isLeftToNext(save.changes.saveNumber)
        }
    }

    /// Whether the running commit, or an earlier commit, has tried all pending saves up to a number. A save that commits leave out
    /// counts as tried, because an earlier save of its origin was tried.
    package func hasTriedAll(through number: SaveNumber) -> Bool {
        !pendingNumbers.all.contains { $0 <= number && isLeftToNext($0) }
    }

    /// Whether a pending save waits for the next transaction, because the save did not fit into the running one, or was added
    /// later.
    private func isLeftToNext(_ number: SaveNumber) -> Bool {
        number > committing?.upperBound ?? newest && !postponedOrigins.contains(saves[number].changes.origin)
    }

    mutating func recordPostponement(_ number: SaveNumber, since now: ContinuousClock.Instant) {
        if saves[number].postponedSince == nil { saves[number].postponedSince = now }
    }

    /// Whether any origin is postponed.
    package var isPostponing: Bool { !postponedOrigins.isEmpty }

    /// Includes postponed saves in the next commit.
    ///
    /// - Returns: Whether any origin was postponed.
    @discardableResult
    package mutating func resume() -> Bool {
        let wasPostponing = isPostponing
        postponedOrigins = []
        pendingNumbers.includeAll()
        // The next commit must include the saves that the running commit has left out, so do not skip these saves.
        if wasPostponing { (canSkipPostponed, hasResumed) = (false, true) }
        return wasPostponing
    }

    /// Makes another commit follow the running one, if saves are pending at its end.
    mutating func requestAnotherCommit() { hasResumed = true }

    /// Records that pending saves were reported as delayed.
    ///
    /// - Returns: The saves that were not reported before.
    package mutating func recordDelay(of numbers: Set<SaveNumber>) -> [LoggedSave] {
        var delayed: [LoggedSave] = []
        for number in pendingNumbers.all where numbers.contains(number) && !saves[number].isDelayed {
            saves[number].isDelayed = true
            delayed.append(saves[number])
        }
        return delayed
    }

    /// Whether a save is neither committed nor rolled back.
    package func isPending(_ number: SaveNumber) -> Bool {
        saves.numbers(after: committed).contains(number) && saves[number].isPending
    }

    /// Whether the closure returns true for any pending save.
    package func containsPending(_ isWanted: (LoggedSave) -> Bool) -> Bool {
        pendingNumbers.all.contains { isWanted(saves[$0]) }
    }
}
