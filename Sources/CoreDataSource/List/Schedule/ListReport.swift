internal import RowStore

/// A report of a list: the old state, the new state, and the changes between them.
package final class ListReport: Sendable {
    package let old: ListState
    package let new: ListState
    package let net: NetChanges
    package let difference: RowDifference
    package let reason: ListReason
    /// Whether the report covers a pause, or a move to another page. Such a report does not include how a row changed after it
    /// had left the list.
    let isCatchUp: Bool

    package init(
        from old: ListState, to new: ListState, _ net: NetChanges, _ indexes: RowIndexes?, _ reason: ListReason,
        since start: ContinuousClock.Instant
    ) {
        self.old = old
        self.new = new
        self.net = net
        difference = RowDifference(from: old, to: new, net, indexes)
        var reason = reason
        reason.addTime(since: start)
        self.reason = reason
        isCatchUp = false
    }

    /// Reports the first rows. There are no net changes, because no observer has shown the list before.
    package init(first new: ListState, _ reason: ListReason, since start: ContinuousClock.Instant) {
        (old, self.new) = (.unread(new.query), new)
        (net, difference) = (NetChanges(), RowDifference(inserting: new))
        var reason = reason
        reason.rowCount = new.count
        reason.addTime(since: start)
        self.reason = reason
        isCatchUp = false
    }

    /// Reports all changes since a pause began, or the rows of another page.
    init(
        from old: ListState, to new: ListState, _ net: NetChanges, _ difference: RowDifference, _ reason: ListReason
    ) {
        (self.old, self.new, self.net) = (old, new, net)
        (self.difference, self.reason) = (difference, reason)
        isCatchUp = true
    }
}

/// An object that is notified of each report of an engine.
@MainActor
protocol ListSubscriber: AnyObject {
    /// Whether each save must make its own report, even if several saves were merged together.
    var wantsEverySave: Bool { get }

    func notify(_ report: ListReport)

    /// The rows could not be read. The list keeps its old rows. The rows are read again after the next save.
    func notify(_ failure: DataSourceError)

    /// No more reports follow.
    func notifyEnd()
}

/// The state of a list that an observer shows. During a pause, the shown state does not change, and the changes are collected.
package struct ShownState {
    package private(set) var state: ListState
    /// The unreported changes; nil if there is no pause.
    private var missed: NetChanges?
    /// Whether a new day has begun during the pause.
    private var missedDay = false

    package init(_ state: ListState) {
        self.state = state
    }

    /// Begins a pause. Does nothing during a pause.
    package mutating func pause() {
        if missed == nil { missed = NetChanges() }
    }

    /// Ends the pause, and shows the newest state.
    ///
    /// - Parameters:
    ///   - newest: The state of the engine.
    ///   - reason: The reason for the last change of the engine.
    /// - Returns: One report of all changes since the pause began; nil if there are no changes or there was no pause.
    package mutating func resume(at newest: ListState, _ reason: ListReason) -> ListReport? {
        guard let missed else { return nil }
        var reason = reason
        if missedDay, ![.closed, .reset, .failure].contains(reason.kind) { reason.kind = .dayChange }
        let isReportedIfEmpty = missedDay
        (self.missed, missedDay) = (nil, false)
        defer { state = newest }
        let (net, indexes) = NetChanges.catchingUp(from: state, to: newest, missed)
        let difference = RowDifference(from: state, to: newest, net, indexes)
        return difference.isEmpty && !isReportedIfEmpty
            ? nil : ListReport(from: state, to: newest, net, difference, reason)
    }

    /// Handles the next report of the engine.
    ///
    /// - Returns: The report to show now; nil during a pause.
    package mutating func receive(_ report: ListReport) -> ListReport? {
        if missed != nil {
            missed?.add(report.net, from: state, to: report.new.query)
            if report.reason.kind == .dayChange { missedDay = true }
            return nil
        }
        state = report.new
        return report
    }

    /// Shows another page at once, even during a pause.
    package mutating func move(to new: ListState, _ reason: ListReason) -> ListReport {
        if missed != nil { missed = NetChanges() }
        missedDay = false
        defer { state = new }
        let (net, indexes) = NetChanges.comparing(state.rows, with: new.rows, of: new.query)
        return ListReport(from: state, to: new, net, RowDifference(from: state, to: new, net, indexes), reason)
    }
}
