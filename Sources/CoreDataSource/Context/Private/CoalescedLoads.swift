internal import QueryLanguage
internal import RowStore

/// The running loads. There is at most one load for each key, and any number of callers can wait for it.
final class CoalescedLoads: Sendable {
    /// Identifies what to load: an object, by an attribute and a value, or the list of a scope. A key also has the number of
    /// resets of the store, because a load from before a reset is of no use after it.
    enum Key: Hashable, Sendable {
        case object(attribute: any AnyKeyPath & Sendable, value: StoredValue, generation: Int)
        case scope(ScopeID, generation: Int)

        static func == (lhs: Key, rhs: Key) -> Bool {
            switch (lhs, rhs) {
            case (.object(let attribute, let value, let generation), .object(let other, let otherValue, let others)):
                generation == others && value == otherValue && (attribute as AnyKeyPath) == (other as AnyKeyPath)
            case (.scope(let scope, let generation), .scope(let other, let otherGeneration)):
                scope == other && generation == otherGeneration
            default: false
            }
        }

        func hash(into hasher: inout Hasher) {
            switch self {
            case .object(let attribute, let value, let generation):
                hasher.combine(attribute as AnyKeyPath)
                hasher.combine(value)
                hasher.combine(generation)
            case .scope(let scope, let generation):
                hasher.combine(scope)
                hasher.combine(generation)
            }
        }
    }

    private typealias Waiter = CheckedContinuation<Result<Bool, any Error>, Never>

    private struct Load {
        let number: Int
        let task: Task<Void, Never>
        var waiting: [Int: Waiter] = [:]
        /// Whether the load goes on without waiters.
        var isKept = false
    }

    private struct State {
        var loads: [Key: Load] = [:]
        var lastNumber = 0
        /// Callers that were canceled before they began to wait.
        var cancelled: Set<Int> = []
    }

    private let state = Guarded(State())

    /// Waits for the running load of a key. Starts a load if none is running.
    ///
    /// A load is canceled when its last waiter is canceled, unless ``start(_:_:)`` was called with its key.
    ///
    /// - Returns: Whether the call has started the load.
    /// - Throws: For every waiter, any error that the load throws; `CancellationError` if the task is canceled.
    @discardableResult
    func run(_ key: Key, _ load: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                if !enter(key, number: number, waiter: waiter, load: load) {
                    waiter.resume(returning: .failure(CancellationError()))
                }
            }
        } onCancel: {
            cancel(key, number)
        }
        return try outcome.get()
    }

    /// Starts a load if none is running, and does not wait for it. From now on, the running load continues even if all its
    /// waiters are canceled.
    func start(_ key: Key, _ load: @escaping @Sendable () async throws -> Void) {
        state.withLock { state in
            if state.loads[key] == nil {
                state.lastNumber += 1
                state.loads[key] = Load(number: state.lastNumber, task: task(key, state.lastNumber, load))
            }
            state.loads[key]?.isKept = true
        }
    }

    /// Whether a load of the key is running.
    func isRunning(_ key: Key) -> Bool { state.withLock { $0.loads[key] != nil } }

    /// - Returns: False if the caller is already canceled.
    private func enter(
        _ key: Key, number: Int, waiter: Waiter, load: @escaping @Sendable () async throws -> Void
    ) -> Bool {
        state.withLock { state in
            if state.cancelled.contains(number) { return false }
            if state.loads[key] == nil {
                state.loads[key] = Load(number: number, task: task(key, number, load))
            }
            state.loads[key]?.waiting[number] = waiter
            return true
        }
    }

    private func task(
        _ key: Key, _ number: Int, _ load: @escaping @Sendable () async throws -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                try await load()
                self.end(key, number, .success(()))
            } catch {
                self.end(key, number, .failure(error))
            }
        }
    }

    private func end(_ key: Key, _ number: Int, _ result: Result<Void, any Error>) {
        let waiting = state.withLock { state -> [Int: Waiter] in
            // Another load of the key may have started after the last waiter of this load left.
            guard state.loads[key]?.number == number else { return [:] }
            return state.loads.removeValue(forKey: key)?.waiting ?? [:]
        }
        for (caller, waiter) in waiting { waiter.resume(returning: result.map { caller == number }) }
    }

    private func cancel(_ key: Key, _ number: Int) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.loads[key]?.waiting.removeValue(forKey: number) else {
                state.cancelled.insert(number)
                return (nil, nil)
            }
            guard let load = state.loads[key], load.waiting.isEmpty, !load.isKept else { return (waiter, nil) }
            return (waiter, state.loads.removeValue(forKey: key)?.task)
        }
        task?.cancel()
        waiter?.resume(returning: .failure(CancellationError()))
    }
}

extension PrivateTier {
    // MARK: For tests

    /// The number of running loads.
    package nonisolated var loadCount: Int { loads.count }
    /// The number of callers that wait for loads.
    package nonisolated var loadWaiterCount: Int { loads.waiterCount }
}

extension CoalescedLoads {
    fileprivate var count: Int { state.withLock { $0.loads.count } }
    fileprivate var waiterCount: Int { state.withLock { $0.loads.values.reduce(0) { $0 + $1.waiting.count } } }
}
