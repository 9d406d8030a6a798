internal import RowStore

/// Writes of other programs that were noticed.
struct OutsideNews {
    /// The position of the feed after the last event about them.
    fileprivate(set) var position: Int64 = 0
    /// The newest pending save whose rows may lack them; nil if there is none.
    fileprivate(set) var lacking: Int64?

    /// Unknown rows have changed, under pending saves up to that one.
    mutating func wait(for number: Int64?) {
        if let number { lacking = number }
    }
}

extension RootContext.State {
    /// Makes all followers reload the rows that another program may have written.
    ///
    /// A pending save has whole rows, of which the store takes only the columns that it changes. Until it is in the store or
    /// taken back, reads lay its rows over those that the other program wrote. So all followers read once more after that.
    mutating func noteOutsideWrites() {
        feed.append(.unknown(nil))
        log.forgetForMain(.outsideWrites)
        outsideWrites.position = feed.position
        let lacking = log.pending.last { $0.changes.entities.contains { !$0.updated.isEmpty || !$0.deleted.isEmpty } }
        outsideWrites.lacking = lacking?.changes.number
    }

    /// Notes a save that is based on rows from before the last event about outside writes.
    mutating func noteBasis(of number: Int64, _ basis: FeedPosition) {
        if basis.number < outsideWrites.position { outsideWrites.lacking = number }
    }

    /// Makes all followers reload once the saves are settled whose rows may lack the writes of another program.
    mutating func readAgainAfterOutsideWrites() {
        guard let lacking = outsideWrites.lacking, log.committed >= lacking else { return }
        noteOutsideWrites()
    }
}
