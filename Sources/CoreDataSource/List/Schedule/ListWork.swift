package import RowStore

/// One step of a list's work.
package struct ListWork: Sendable {
    /// The state before the step.
    package let state: ListState
    /// The number of ``state``.
    let version: Int
    package let reason: ListReason
    package let task: Task
    /// The rows that a read counts as changed, even if it finds them unchanged. Empty unless the task is ``Task/read``.
    package let touched: TouchedRows
    /// The number of rows to index by key before the step, in order to find rows whose relationships changed.
    let unindexedCount: Int

    package enum Task: Sendable {
        /// Apply saves in order. All of them are newer than the state.
        case merge([ChangeSet])
        /// Apply saves to a list that depends on related rows. Reads the changed rows. The version is the number of the state.
        case follow([ChangeSet], version: Int)
        /// Report rows of the current state as changed. A read included saves that changed the relationships of these rows, or
        /// that changed the rows and changed them back.
        case reportChanged(TouchedRows, [ChangeSet])
        /// Read all rows again.
        case read
        /// Read the rows that follow the remaining rows.
        case readMore(ShortList)
        /// Apply to the remaining rows the saves that only the read included. Then append the rows that were read.
        case appendTail(ShortList, RowTail, [ChangeSet])
    }

    package enum Outcome: Sendable {
        /// No shown row has changed.
        case unchanged(ListState)
        case changed(ListReport)
        /// All rows must be read again.
        case mustRead
        /// More rows must be read after the remaining rows.
        case isShort(ShortList)
        case hasRead(ShortList, RowTail)
        case failed(DataSourceError)
    }

    /// The number of rows that the work visits; `Int.max` if the work reads from the store.
    var rowCount: Int {
        switch task {
        case .merge(let saves): saves.reduce(unindexedCount) { $0 + $1.rowCount }
        case .reportChanged(let rows, _): rows.related.isEmpty ? unindexedCount + rows.keys.count : .max
        case .appendTail(_, let tail, let saves): saves.reduce(tail.rows.count) { $0 + $1.rowCount }
        case .follow, .read, .readMore: .max
        }
    }

    /// Whether the work advances the index by key to the next state.
    var keepsIndex: Bool {
        switch task {
        case .merge, .reportChanged: true
        case .follow, .read, .readMore, .appendTail: false
        }
    }

    /// Whether the work reads rows, and can be done again if the rows are too new.
    var isRepeatable: Bool {
        switch task {
        case .read, .readMore: true
        case .merge, .follow, .reportChanged, .appendTail: false
        }
    }

    /// Whether the list must be notified of all saves and resets before the outcome is handled.
    ///
    /// The rows that were read may include saves of which the list was not notified yet. These saves are not merged again, but
    /// the rows whose relationships they changed must still be reported.
    package func mayBeAhead(_ outcome: Outcome) -> Bool {
        switch (task, outcome) {
        case (.follow, _), (.read, _), (_, .hasRead): true
        default: false
        }
    }
}

/// A list with too few rows. More rows must be read.
package struct ShortList: Sendable {
    /// The state with the remaining rows.
    package let head: ListState
    /// The changes from the state of the list to ``head``.
    package let net: NetChanges
    package var reason: ListReason

    package init(head: ListState, net: NetChanges, reason: ListReason) {
        (self.head, self.net, self.reason) = (head, net, reason)
    }
}
