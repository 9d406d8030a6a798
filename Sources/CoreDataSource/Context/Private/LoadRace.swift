internal import RowStore

/// Work that is abandoned when it takes too long, even if the work ignores the cancellation of its task.
final class LoadRace<Value: Sendable>: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Result<Value, any Error>, Never>?
        var task: Task<Void, Never>?
        var outcome: Result<Value, any Error>?
    }

    private let state = Guarded(State())

    /// Runs work for a limited time.
    ///
    /// - Parameters:
    ///   - limit: The longest time. Times above ``ScopeTurn/longestWait`` count as ``ScopeTurn/longestWait``.
    ///   - what: A description of the request, for the message of the error.
    /// - Throws: Errors of the work; `loadTimedOut`; `CancellationError`, even if the work does not notice the cancellation.
    static func limited(
        to limit: Duration, _ what: String, of entity: String, _ scheduling: WorkScheduling,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = LoadRace()
        let late = DataSourceError(
            .loadTimedOut,
            "The server has not answered \(what) within \(limit). This call has changed no objects. Try again later.",
            entityName: entity)
        scheduling.after(min(max(limit, .zero), ScopeTurn.longestWait)) { [weak race] in race?.end(.failure(late)) }
        let value = try await race.run(work)
        try Task.checkCancellation()
        return value
    }

    private func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Result<Value, any Error>, Never>) in
                begin(work, waiter)
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
        return try outcome.get()
    }

    private func begin(
        _ work: @escaping @Sendable () async throws -> Value,
        _ waiter: CheckedContinuation<Result<Value, any Error>, Never>
    ) {
        let early = state.withLock { state -> Result<Value, any Error>? in
            if let outcome = state.outcome { return outcome }
            state.waiter = waiter
            state.task = Task {
                do { self.end(.success(try await work())) } catch { self.end(.failure(error)) }
            }
            return nil
        }
        if let early { waiter.resume(returning: early) }
    }

    /// Ends the race, unless it has already ended.
    private func end(_ outcome: Result<Value, any Error>) {
        let (waiter, task) = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { (state.waiter, state.task) = (nil, nil) }
            return (state.waiter, state.task)
        }
        task?.cancel()
        waiter?.resume(returning: outcome)
    }
}
