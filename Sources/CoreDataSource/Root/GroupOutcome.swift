internal import RowStore

/// What came of a group of saves, by their numbers.
struct GroupOutcome {
    /// Why saves were refused.
    let refused: [Int64: DataSourceError]
    /// The saves that have to be tried again, because another program keeps rows of them locked.
    let postponed: Set<Int64>
    /// Why they were postponed; nil if there are none.
    let cause: DataSourceError?
    /// When the commit ended.
    let end = ContinuousClock.now
    /// Calls wait no longer for what has been postponed since then.
    let lockLimit: ContinuousClock.Instant

    init(_ outcome: CommitOutcome, of group: [ChangeSet], _ lockPatience: Duration) {
        refused = Dictionary(outcome.refused.map { (group[$0.key].number, $0.value) }) { first, _ in first }
        postponed = Set(outcome.postponed.keys.map { group[$0].number })
        cause = outcome.postponed.min { $0.key < $1.key }?.value
        lockLimit = end - lockPatience
    }
}
