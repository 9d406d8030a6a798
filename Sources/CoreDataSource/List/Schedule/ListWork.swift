package import RowStore

/// One step of a list's work: what must be done, but not how, or where.
package struct ListWork: Sendable {
    /// The list before it.
    package let state: ListState
    /// The number of that state.
    let version: Int
    package let reason: ListReason
    package let task: Task
    /// If rows are read, those that count as changed though they may be the same.
    package let touched: TouchedRows
    /// How many rows of the list must be indexed by key first, because their objects' relationships change.
    let unindexedCount: Int

    package enum Task: Sendable {
        /// Apply the saves, which are in their order and all newer than the state.
        case merge([ChangeSet])
        /// Apply saves that changed related rows. The version is that of the state.
        case follow([ChangeSet], version: Int)
        /// Report those rows, though the state has them as they are: saves that a read has met have changed what their objects lead to,
        /// or have changed them and changed them back.
        case redraw(TouchedRows, [ChangeSet])
        /// Reload the rows.
        case read
        /// Read the rows that follow the remaining ones.
        case readOn(ShortList)
        /// Combine the remaining rows with the rows that were read, and apply the saves between them.
        case join(ShortList, RowTail, [ChangeSet])
    }

    package enum Outcome: Sendable {
        /// Nothing that is shown has changed.
        case unchanged(ListState)
        case changed(ListReport)
        /// The rows must be read.
        case mustRead
        /// More rows must be read.
        case isShort(ShortList)
        case hasRead(ShortList, RowTail)
        case failed(DataSourceError)
    }

    /// How many rows the work looks at; a very large number if it reads the store.
    var rowCount: Int {
        switch task {
        case .merge(let saves): saves.reduce(unindexedCount) { $0 + $1.rowCount }
        case .redraw(let rows, _): rows.related.isEmpty ? unindexedCount + rows.keys.count : .max
        case .join(_, let tail, let saves): saves.reduce(tail.rows.count) { $0 + $1.rowCount }
        case .follow, .read, .readOn: .max
        }
    }

    /// Whether the rows by their keys are those of the next state afterwards, if they were those of this one.
    var keepsIndex: Bool {
        switch task {
        case .merge, .redraw: true
        case .follow, .read, .readOn, .join: false
        }
    }

    /// Whether the list must be notified of all saves, and of a reset, before the work ends with that outcome: what was read may
    /// be newer than the last notice. Saves that a read has met are not merged any more, but whose relationships they have changed
    /// is still to be reported.
    package func mayBeAhead(_ outcome: Outcome) -> Bool {
        switch (task, outcome) {
        case (.follow, _), (.read, _), (_, .hasRead): true
        default: false
        }
    }
}

/// A list that has too few rows after changes, until more are read.
package struct ShortList: Sendable {
    /// The remaining rows.
    package let head: ListState
    /// The changes before it.
    package let net: NetChanges
    package var reason: ListReason

    package init(head: ListState, net: NetChanges, reason: ListReason) {
        (self.head, self.net, self.reason) = (head, net, reason)
    }
}
