/// Saves that wait for rows that another program keeps locked, while others are committed.
extension SaveLog {
    /// Whether there are saves after that number for the next commit.
    func isMoreToCommit(after number: Int64) -> Bool {
        guard pendingCount > 0 else { return false }
        if postponed.isEmpty { return saves.last(where: \.isPending).map { $0.changes.number > number } ?? false }
        // What is written before those that are postponed stays in the log.
        guard storedByteCount < unmergedByteLimit else { return false }
        return pending.contains { $0.changes.number > number && !postponed.contains($0.changes.origin) }
    }

    /// How much memory saves use that are in the store while earlier ones are not, in bytes.
    private var storedByteCount: Int {
        saves[saves.numbers(after: committed)].reduce(0) { $0 + ($1.isStored ? $1.byteCount : 0) }
    }

    /// Leaves saves out of commits that wait for others, and all of their origins, until ``resume()``.
    ///
    /// - Returns: Those that have waited since then.
    package mutating func postpone(
        _ numbers: Set<Int64>, at now: ContinuousClock.Instant, since limit: ContinuousClock.Instant
    ) -> [LoggedSave] {
        for number in numbers where isPending(number) {
            postponed.insert(saves[number].changes.origin)
            saves[number].waitsSince = saves[number].waitsSince ?? now
        }
        return pending.filter { save in save.waitsSince.map { $0 <= limit } ?? false }
    }

    /// Whether saves are left out of commits.
    var isPostponing: Bool { !postponed.isEmpty }

    /// Lets the next commit have what was postponed.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    package mutating func resume() -> Bool {
        defer { postponed = [] }
        return !postponed.isEmpty
    }
}
