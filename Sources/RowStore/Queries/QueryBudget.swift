internal import Synchronization

/// How much work one query may take, and whether it ends when its task is cancelled.
///
/// Reading a row and looking at each character of it once is free: that is what a query without an index costs. What a
/// pattern takes beyond that is paid from the budget, for all rows of the query together. A query whose budget is spent
/// ends with an error. One thread at a time uses a budget.
package final class QueryBudget: Sendable {
    /// The most steps beyond those that grow with the length of the strings: some tenths of a second.
    package static let stepLimit = 50_000_000

    /// Whether the query ends when the task that made it is cancelled.
    package let isCancellable: Bool
    /// The most steps that may be spent.
    private let limit: Int
    private let steps = Atomic(0)
    private let rows = Atomic(0)

    package init(steps: Int = QueryBudget.stepLimit, isCancellable: Bool = false) {
        limit = steps
        self.isCancellable = isCancellable
    }

    /// How many steps have been spent.
    package var stepsSpent: Int { steps.load(ordering: .relaxed) }

    /// How many steps are left.
    var stepsLeft: Int { limit - stepsSpent }

    /// Whether there were so many steps left.
    func spend(_ count: Int) -> Bool {
        let spent = stepsSpent + count
        steps.store(spent, ordering: .relaxed)
        return spent <= limit
    }

    /// Notes that a row is looked at.
    ///
    /// - Throws: `cancelled`, every so many rows, if the query is to end.
    @inline(__always)
    package func countRow() throws(DataSourceError) {
        if !isCancellable { return }
        let count = rows.load(ordering: .relaxed) + 1
        rows.store(count, ordering: .relaxed)
        if count & 0x3F == 0 { try checkCancellation() }
    }

    /// - Throws: `cancelled` if the query is to end.
    package func checkCancellation() throws(DataSourceError) {
        if isCancellable, Task.isCancelled { throw .cancelled }
    }
}

/// What a query asks for does not depend on its budget.
extension QueryBudget: Hashable {
    package static func == (one: QueryBudget, other: QueryBudget) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

extension DataSourceError.Code {
    /// The task that made the query was cancelled. Apps get a `CancellationError`.
    package static let cancelled = Self(rawValue: "cancelled")
}

extension DataSourceError {
    /// The error of a query whose task was cancelled.
    package static let cancelled = DataSourceError(.cancelled, "The task that made the query was cancelled.")
}
