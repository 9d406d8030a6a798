package import RowStore

/// Who waits for which save.
package struct CommitWaiters {
    package typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void
    private var waiting: [(number: Int64, waiter: Waiter)] = []

    mutating func add(_ number: Int64, _ waiter: @escaping Waiter) {
        waiting.append((number, waiter))
    }

    mutating func take(through number: Int64) -> [Waiter] {
        if waiting.isEmpty { return [] }
        let taken = waiting.filter { $0.number <= number }
        waiting.removeAll { $0.number <= number }
        return taken.map(\.waiter)
    }
}
