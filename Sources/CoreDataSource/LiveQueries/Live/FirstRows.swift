internal import RowStore

/// Waits until the rows of a list have been read for the first time.
@MainActor
final class FirstRows: ListSubscriber {
    private let engine: ListEngine
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<Void, any Error>?

    init(of engine: ListEngine) {
        self.engine = engine
        engine.subscribe(self)
    }

    /// Returns when they are there. It is called once.
    ///
    /// - Throws: Why they could not be read; `CancellationError` as soon as the task is cancelled.
    func arrive() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let outcome { return continuation.resume(with: outcome) }
                waiting = continuation
            }
        } onCancel: {
            Task { @MainActor in end(.failure(CancellationError())) }
        }
        try Task.checkCancellation()
    }

    var wantsEverySave: Bool { false }

    func notify(_ report: ListReport) { end(.success(())) }
    func notify(_ failure: DataSourceError) { end(.failure(failure)) }
    func notifyEnd() { end(.failure(RootContext.closed)) }

    private func end(_ outcome: Result<Void, any Error>) {
        if self.outcome != nil { return }
        engine.unsubscribe(self)
        self.outcome = outcome
        waiting?.resume(with: outcome)
        waiting = nil
    }
}
