internal import Synchronization

/// The work that a query may do, and whether the query ends if its task is canceled.
///
/// A query without an index must read each row once, and each character of the row once. So this work is free. Additional
/// work for patterns is taken from the budget, for all rows of the query together. A query that exceeds its budget ends with
/// an error. Only one thread at a time uses a budget.
package final class QueryBudget: Sendable {
    /// The default budget in steps, which lasts for some tenths of a second. For each string, some steps are free, in
    /// proportion to the length of the string.
    package static let stepLimit = 50_000_000

    /// Whether the query ends if its task is canceled.
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

    /// Spends steps. Returns whether enough steps were left.
    func spend(_ count: Int) -> Bool {
        let spent = stepsSpent + count
        steps.store(spent, ordering: .relaxed)
        return spent <= limit
    }

    /// Counts a row that the query reads. Checks for cancellation at every 64th row.
    ///
    /// - Throws: `cancelled` if the query must end.
    @inline(__always)
    package func countRow() throws(DataSourceError) {
        if !isCancellable { return }
        let count = rows.load(ordering: .relaxed) + 1
        rows.store(count, ordering: .relaxed)
        if count & 0x3F == 0 { try checkCancellation() }
    }

    /// Checks for cancellation.
    ///
    /// - Throws: `cancelled` if the query must end.
    package func checkCancellation() throws(DataSourceError) {
        if isCancellable, Task.isCancelled { throw .cancelled }
    }
}

/// All budgets count as equal, because two queries can be equal even if their budgets differ.
extension QueryBudget: Hashable {
    package static func == (lhs: QueryBudget, rhs: QueryBudget) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

extension DataSourceError.Code {
    /// The task that made the query was canceled. Apps get a `CancellationError` instead.
    package static let cancelled = Self(rawValue: "cancelled")
}

extension DataSourceError {
    package static let cancelled = DataSourceError(.cancelled, "The task that made the query was canceled.")
}
