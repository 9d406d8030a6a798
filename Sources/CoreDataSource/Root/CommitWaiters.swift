package import RowStore

/// The callers that wait for saves.
package struct CommitWaiters {
    package typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void

    package struct Entry {
        package let number: Int64
        /// Whether it waits for every save up to the number, and not for one save of its own.
        package let isFlush: Bool
        package let waiter: Waiter
    }

    private var waiting: [Entry] = []

    mutating func add(_ number: Int64, isFlush: Bool = false, _ waiter: @escaping Waiter) {
        waiting.append(Entry(number: number, isFlush: isFlush, waiter: waiter))
    }

    /// Removes the waiters for whom there is a result.
    mutating func take(
        _ result: (Entry) -> Result<Void, DataSourceError>?
    ) -> [(waiter: Waiter, result: Result<Void, DataSourceError>)] {
        if waiting.isEmpty { return [] }
        var taken: [(waiter: Waiter, result: Result<Void, DataSourceError>)] = []
        waiting.removeAll { entry in
            guard let result = result(entry) else { return false }
            taken.append((entry.waiter, result))
            return true
        }
        return taken
    }
}
