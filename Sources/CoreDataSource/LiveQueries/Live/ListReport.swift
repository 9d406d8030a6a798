internal import RowStore

/// A report of a list: the state before, the state after, and the changes between them.
package final class ListReport: Sendable {
    package let old: ListState
    package let new: ListState
    package let net: NetChanges
    package let difference: RowDifference
    package let reason: ListReason

    package init(
        from old: ListState, to new: ListState, _ net: NetChanges, _ places: RowPlaces?, _ reason: ListReason,
        since start: ContinuousClock.Instant
    ) {
        self.old = old
        self.new = new
        self.net = net
        difference = RowDifference(from: old, to: new, net, places)
        var reason = reason
        reason.addTime(since: start)
        self.reason = reason
    }

    /// The report of the first rows. Nobody has shown the list before, so nobody asks for what has changed since.
    package init(first new: ListState, _ reason: ListReason, since start: ContinuousClock.Instant) {
        (old, self.new) = (.unread(new.query), new)
        (net, difference) = (NetChanges(), RowDifference(inserting: new))
        var reason = reason
        reason.rowCount = new.count
        reason.addTime(since: start)
        self.reason = reason
    }

    /// A report whose difference is known.
    init(
        from old: ListState, to new: ListState, _ net: NetChanges, _ difference: RowDifference, _ reason: ListReason
    ) {
        (self.old, self.new, self.net) = (old, new, net)
        (self.difference, self.reason) = (difference, reason)
    }
}

/// An observer that gets each report of an engine.
@MainActor
protocol ListSubscriber: AnyObject {
    /// Whether each save makes a report of its own, even if several came at once.
    var wantsEverySave: Bool { get }

    func notify(_ report: ListReport)

    /// The rows could not be read; the list keeps what it shows, and the next save tries again.
    func notify(_ failure: DataSourceError)

    /// No more reports follow.
    func notifyEnd()
}
