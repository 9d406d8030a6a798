internal import Synchronization

/// The work that a query may do, and whether the query ends when its task is cancelled.
///
/// Reading a row and each of its characters once is free: a query without an index costs that much. The additional cost of a
/// pattern is paid from the budget, for all rows of the query together. A query that exceeds its budget ends with an error.
/// Only one thread at a time uses a budget.
package final class QueryBudget: Sendable {
    /// The default limit of steps beyond those that are proportional to the length of the strings: some tenths of a second.
    package static let stepLimit = 50_000_000

    /// Whether the query ends when its task is cancelled.
    package let isCancellable: Bool
    private let limit: Int
    private let steps = Atomic(0)
    private let rows = Atomic(0)

    package init(steps: Int = QueryBudget.stepLimit, isCancellable: Bool = false) {
        limit = steps
        self.isCancellable = isCancellable
    }

    package var stepsSpent: Int { steps.load(ordering: .relaxed) }

    var stepsLeft: Int { limit - stepsSpent }

    /// Spends steps. Returns whether enough were left.
    func spend(_ count: Int) -> Bool {
        let spent = stepsSpent + count
        steps.store(spent, ordering: .relaxed)
        return spent <= limit
    }

    /// Counts a row that the query reads.
    ///
    /// - Throws: `cancelled` if the query must end. Checked at every 64th row.
    @inline(__always)
    package func countRow() throws(DataSourceError) {
        if !isCancellable { return }
        let count = rows.load(ordering: .relaxed) + 1
        rows.store(count, ordering: .relaxed)
        if count & 0x3F == 0 { try checkCancellation() }
    }

    /// - Throws: `cancelled` if the query must end.
    package func checkCancellation() throws(DataSourceError) {
        if isCancellable, Task.isCancelled { throw .cancelled }
    }
}

/// Two queries are equal regardless of their budgets.
extension QueryBudget: Hashable {
    package static func == (lhs: QueryBudget, rhs: QueryBudget) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

extension DataSourceError.Code {
    /// The task that made the query was cancelled. Apps get a `CancellationError`.
    package static let cancelled = Self(rawValue: "cancelled")
}

extension DataSourceError {
    package static let cancelled = DataSourceError(.cancelled, "The task that made the query was cancelled.")
}
