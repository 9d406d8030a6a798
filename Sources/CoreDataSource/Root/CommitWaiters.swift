package import RowStore

/// The callers that wait for saves.
package struct CommitWaiters {
    package typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void

    package struct Entry {
        package let number: Int64
        package let event: Event
        package let waiter: Waiter
    }

    /// What is waited for.
    package enum Event: Sendable {
        /// The outcome of the save with the number.
        case outcome
        /// Every save up to the number.
        case flush
        /// The end of the commit that is under way.
        case end
    }

    private var waiting: [Entry] = []

    mutating func add(_ number: Int64, _ event: Event, _ waiter: @escaping Waiter) {
        waiting.append(Entry(number: number, event: event, waiter: waiter))
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
