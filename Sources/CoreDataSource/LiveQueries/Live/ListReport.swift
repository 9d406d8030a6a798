internal import RowStore

/// A report of a list: the state before, the state after, and the changes between them.
final class ListReport: Sendable {
    let old: ListState
    let new: ListState
    let net: NetChanges
    let difference: RowDifference
    let reason: ListReason

    init(
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
