internal import RowStore

/// Notifies listeners of failures, on a queue of its own, because a listener may use the container.
package final class FailureReporter: Sendable {
    private let queue: any WorkQueue
    private let state = Guarded(State())

    private struct State {
        var listeners: [Int: AsyncStream<StoreFailure>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
        /// The attributes of which a value was found that reads as another.
        var damaged: Set<String> = []
    }

    /// The most failures that wait for one listener; the oldest ones beyond that are dropped.
    private static let limit = 128

    init(_ queue: any WorkQueue) {
        self.queue = queue
    }

    /// The failures from now on.
    func stream() -> AsyncStream<StoreFailure> {
        AsyncStream(bufferingPolicy: .bufferingNewest(FailureReporter.limit)) { continuation in
            let id = state.withLock { state -> Int? in
                if state.isFinished { return nil }
                state.lastID += 1
                state.listeners[state.lastID] = continuation
                return state.lastID
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[id] = nil } }
        }
    }

    func report(_ failure: StoreFailure) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(failure) }
    }

    /// Also notifies the data source that made the save.
    func report(_ report: StoreFailure.Report) {
        self.report(report.failure)
        queue.async { report.source.handle(report.failure) }
    }

    /// Reports a stored value that reads as another, once for each attribute. It is found by whoever reads it, in any kind of store.
    func report(damage column: Int, _ layout: EntityLayout) {
        let name = "\(layout.name).\(layout.columns[column].name)"
        guard state.withLock({ $0.damaged.insert(name).inserted }) else { return }
        report(StoreFailure(.store, DataSourceError(damagedColumn: column, layout), dataSourceName: nil))
    }

    /// Ends all streams.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
