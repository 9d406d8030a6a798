internal import RowStore

/// What a list has to say: from which state to which, and what lies between.
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

/// Is notified of each report of an engine.
@MainActor
protocol ListSubscriber: AnyObject {
    /// Whether each save is to have a report of its own, even if several came at once.
    var wantsEverySave: Bool { get }

    func notify(_ report: ListReport)

    /// The rows could not be read; what is shown stays, and the next save tries again.
    func notify(_ failure: DataSourceError)

    /// There will be no more reports.
    func notifyEnd()
}
