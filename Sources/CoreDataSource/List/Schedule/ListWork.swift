package import RowStore

/// One step of a list's work.
package struct ListWork: Sendable {
    /// The list before the step.
    package let state: ListState
    /// The number of that state.
    let version: Int
    package let reason: ListReason
    package let task: Task
    /// For a read: the rows that count as changed even if the read finds them unchanged.
    package let touched: TouchedRows
    /// The number of rows that must first be indexed by key, to find the rows whose relationships changed.
    let unindexedCount: Int

    package enum Task: Sendable {
        /// Apply the saves, in their order. All are newer than the state.
        case merge([ChangeSet])
        /// Apply saves that changed related rows. The version is the version of the state.
        case follow([ChangeSet], version: Int)
        /// Report rows that the state already has. Saves that a read included have changed the relationships of these rows, or
        /// have changed the rows and changed them back.
        case redraw(TouchedRows, [ChangeSet])
        /// Reload the rows.
        case read
        /// Read the rows after the remaining rows.
        case readOn(ShortList)
        /// Append the rows that were read to the remaining rows, and apply the saves between the two.
        case join(ShortList, RowTail, [ChangeSet])
    }

    package enum Outcome: Sendable {
        /// No shown row has changed.
        case unchanged(ListState)
        case changed(ListReport)
        /// The rows must be read.
        case mustRead
        /// More rows must be read.
        case isShort(ShortList)
        case hasRead(ShortList, RowTail)
        case failed(DataSourceError)
    }

    /// The number of rows that the work visits; `Int.max` if it reads the store.
    var rowCount: Int {
        switch task {
        case .merge(let saves): saves.reduce(unindexedCount) { $0 + $1.rowCount }
        case .redraw(let rows, _): rows.related.isEmpty ? unindexedCount + rows.keys.count : .max
        case .join(_, let tail, let saves): saves.reduce(tail.rows.count) { $0 + $1.rowCount }
        case .follow, .read, .readOn: .max
        }
    }

    /// Whether the work advances the index by key to the next state.
    var keepsIndex: Bool {
        switch task {
        case .merge, .redraw: true
        case .follow, .read, .readOn, .join: false
        }
    }

    /// Whether the list must be notified of all saves, and of a reset, before it takes the outcome. The rows that were read may
    /// be newer than the last notice. Saves that a read included are not merged again, but the rows whose relationships they
    /// changed must still be reported.
    package func mayBeAhead(_ outcome: Outcome) -> Bool {
        switch (task, outcome) {
        case (.follow, _), (.read, _), (_, .hasRead): true
        default: false
        }
    }
}

/// A list with too few rows after changes, until more rows are read.
package struct ShortList: Sendable {
    /// The remaining rows.
    package let head: ListState
    /// The changes that led to the remaining rows.
    package let net: NetChanges
    package var reason: ListReason

    package init(head: ListState, net: NetChanges, reason: ListReason) {
        (self.head, self.net, self.reason) = (head, net, reason)
    }
}
