/// What an observer shows of a list. While it is paused, it shows the same, and keeps what it must report later.
package struct ShownState {
    package private(set) var state: ListState
    /// What has not been reported while it is paused.
    private var missed: NetChanges?

    package init(_ state: ListState) {
        self.state = state
    }

    /// Does nothing if it is paused.
    package mutating func pause() {
        if missed == nil { missed = NetChanges() }
    }

    /// Shows the newest state.
    ///
    /// - Parameters:
    ///   - newest: The list after the last report that was taken.
    ///   - reason: Why the list last changed.
    /// - Returns: All that has changed since the pause began, as one report; nil if nothing has, or if it was not paused.
    package mutating func resume(at newest: ListState, _ reason: ListReason) -> ListReport? {
        guard let missed else { return nil }
        self.missed = nil
        defer { state = newest }
        let (net, places) = NetChanges.catchingUp(from: state, to: newest, missed)
        let difference = RowDifference(from: state, to: newest, net, places)
        return difference.isEmpty ? nil : ListReport(from: state, to: newest, net, difference, reason)
    }

    /// Takes the next report of the list.
    ///
    /// - Returns: What must be shown now; nil while it is paused.
    package mutating func take(_ report: ListReport) -> ListReport? {
        if missed != nil {
            missed?.add(report.net, from: state, to: report.new.query)
            return nil
        }
        state = report.new
        return report
    }

    /// Shows another list at once, even while it is paused.
    package mutating func move(to new: ListState, _ reason: ListReason) -> ListReport {
        if missed != nil { missed = NetChanges() }
        defer { state = new }
        let (net, places) = NetChanges.comparing(state.rows, with: new.rows, of: new.query)
        return ListReport(from: state, to: new, net, RowDifference(from: state, to: new, net, places), reason)
    }
}
