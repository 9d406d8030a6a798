internal import QueryLanguage
internal import RowStore
internal import Synchronization

/// The running loads. There is at most one load for each key, and any number of callers can wait for it.
final class CoalescedLoads: Sendable {
    /// Identifies what to load: an object, by an attribute and a value, or the list of a scope. A key also has the number of
    /// resets of the store, because a load that began before a reset is useless after the reset.
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

    /// How long a caller waits for the load of another caller. With each request of the load, this time begins again.
    struct Patience: Sendable {
        /// At most ``ScopeTurn/longestWait``.
        let limit: Duration
        let scheduling: WorkScheduling
        /// The error for a caller whose wait has reached the limit.
        let error: DataSourceError

        init(_ limit: Duration, _ scheduling: WorkScheduling, _ what: String, of entity: String) {
            self.limit = min(max(limit, .zero), ScopeTurn.longestWait)
            self.scheduling = scheduling
            error = DataSourceError(
                .loadTimedOut,
                "Another caller is loading \(what), and its request was not answered within \(limit), the time limit of this call. The load goes on. This call has changed no objects. Try again later, or pass a longer timeLimit.",
                entityName: entity)
        }
    }

    private struct Caller {
        let waiter: Waiter
        /// Nil for the caller that has started the load, because the load itself has the time limit of this caller.
        let patience: Patience?
        var waitEnd: ContinuousClock.Instant?

        mutating func restartWait() { waitEnd = patience.map { $0.scheduling.instant() + $0.limit } }
    }

    private struct Load {
        let number: Int
        let task: Task<Void, Never>
        var waiting: [Int: Caller] = [:]
        /// Whether the load goes on without waiters.
        var isKept = false
        /// When the next timer runs; nil if there is none.
        var timer: ContinuousClock.Instant?

        /// Returns the time at which a new timer must run. Returns nil if no wait has an end, or if the next timer runs early
        /// enough.
        mutating func nextTimer() -> ContinuousClock.Instant? {
            guard let end = waiting.values.compactMap(\.waitEnd).min(), timer.map({ end < $0 }) ?? true else {
                return nil
            }
            timer = end
            return end
        }
    }

    private struct State {
        var loads: [Key: Load] = [:]
        var lastNumber = 0
        /// Callers that were canceled before they began to wait.
        var cancelled: Set<Int> = []
    }

    private let state = Guarded(State())
    /// The number of running loads. It is atomic, because each load of a fresh scope reads it without locking `state`.
    private let runningCount = Atomic<Int>(0)
    /// Called after the load of a scope has begun, and after it has ended. The callers of the load still wait at that time.
    private let didChange: @Sendable (ScopeID) -> Void

    init(didChange: @escaping @Sendable (ScopeID) -> Void) {
        self.didChange = didChange
    }

    /// Changes the running loads.
    private func change<R: Sendable>(_ body: (inout State) -> R) -> R {
        state.withLock { state in
            defer { runningCount.store(state.loads.count, ordering: .sequentiallyConsistent) }
            return body(&state)
        }
    }

    private func notify(_ key: Key) {
        if case .scope(let id, _) = key { didChange(id) }
    }

    /// Waits for the running load of a key. Starts a load if none is running.
    ///
    /// A load is canceled when its last waiter is canceled, unless ``start(_:_:)`` was called with its key.
    ///
    /// - Parameter patience: How long to wait for the load of another caller.
    /// - Returns: Whether the call has started the load.
    /// - Throws: For every waiter, any error that the load throws; `CancellationError` if the task is canceled; `loadTimedOut` if
    ///   the load of another caller takes too long.
    @discardableResult
    func run(
        _ key: Key, _ patience: Patience, _ load: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                if !enter(key, number: number, waiter: waiter, patience, load) {
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
        let isStarted = change { state in
            let isFirst = state.loads[key] == nil
            if isFirst {
                state.lastNumber += 1
                state.loads[key] = Load(number: state.lastNumber, task: task(key, state.lastNumber, load))
            }
            state.loads[key]?.isKept = true
            return isFirst
        }
        if isStarted { notify(key) }
    }

    /// Records that the load of a key makes another request. Starts the wait of each caller again.
    func willRequest(_ key: Key) {
        state.withLock { state in
            guard let callers = state.loads[key]?.waiting.keys else { return }
            for caller in callers { state.loads[key]?.waiting[caller]?.restartWait() }
        }
    }

    func isRunning(_ key: @autoclosure () -> Key) -> Bool {
        if runningCount.load(ordering: .sequentiallyConsistent) == 0 { return false }
        let key = key()
        return state.withLock { $0.loads[key] != nil }
    }

    /// - Returns: False if the caller is already canceled.
    private func enter(
        _ key: Key, number: Int, waiter: Waiter, _ patience: Patience,
        _ load: @escaping @Sendable () async throws -> Void
    ) -> Bool {
        var isStarted = false
        let (isWaiting, timer) = change { state -> (Bool, (Int, ContinuousClock.Instant)?) in
            if state.cancelled.contains(number) { return (false, nil) }
            guard var running = state.loads.removeValue(forKey: key) else {
                var started = Load(number: number, task: task(key, number, load))
                started.waiting[number] = Caller(waiter: waiter, patience: nil)
                state.loads[key] = started
                isStarted = true
                return (true, nil)
            }
            var caller = Caller(waiter: waiter, patience: patience)
            caller.restartWait()
            running.waiting[number] = caller
            let timer = running.nextTimer().map { (running.number, $0) }
            state.loads[key] = running
            return (true, timer)
        }
        if isStarted { notify(key) }
        if let (load, end) = timer { setTimer(key, load, at: end, patience.scheduling) }
        return isWaiting
    }

    private func setTimer(
        _ key: Key, _ loadNumber: Int, at end: ContinuousClock.Instant, _ scheduling: WorkScheduling
    ) {
        scheduling.after(max(.zero, end - scheduling.instant())) { [weak self] in
            self?.endWaits(key, loadNumber, at: end, scheduling)
        }
    }

    /// Ends the waits that have taken too long.
    ///
    /// - Parameter end: The time of the timer. Another timer may have replaced it.
    private func endWaits(
        _ key: Key, _ number: Int, at end: ContinuousClock.Instant, _ scheduling: WorkScheduling
    ) {
        let now = scheduling.instant()
        let (late, task, timer) = change { state -> ([Caller], Task<Void, Never>?, ContinuousClock.Instant?) in
            guard var load = state.loads[key], load.number == number, load.timer == end else { return ([], nil, nil) }
            let late = load.waiting.filter { $0.value.waitEnd.map { $0 <= now } ?? false }
            for caller in late.keys { load.waiting[caller] = nil }
            load.timer = nil
            let timer = load.nextTimer()
            let isLeft = !late.isEmpty && load.waiting.isEmpty && !load.isKept
            state.loads[key] = isLeft ? nil : load
            return (Array(late.values), isLeft ? load.task : nil, timer)
        }
        if let timer { setTimer(key, number, at: timer, scheduling) }
        if let task {
            task.cancel()
            notify(key)
        }
        for caller in late {
            if let error = caller.patience?.error { caller.waiter.resume(returning: .failure(error)) }
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

    /// - Parameter started: The number of the load. The caller that has started the load has the same number.
    private func end(_ key: Key, _ started: Int, _ result: Result<Void, any Error>) {
        let ended = change { state -> Load? in
            // Another load of the key may have started after the last waiter of this load left.
            state.loads[key]?.number == started ? state.loads.removeValue(forKey: key) : nil
        }
        guard let ended else { return }
        notify(key)
        for (number, caller) in ended.waiting { caller.waiter.resume(returning: result.map { number == started }) }
    }

    private func cancel(_ key: Key, _ number: Int) {
        let (waiter, task) = change { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.loads[key]?.waiting.removeValue(forKey: number)?.waiter else {
                state.cancelled.insert(number)
                return (nil, nil)
            }
            guard let load = state.loads[key], load.waiting.isEmpty, !load.isKept else { return (waiter, nil) }
            return (waiter, state.loads.removeValue(forKey: key)?.task)
        }
        if let task {
            task.cancel()
            notify(key)
        }
        waiter?.resume(returning: .failure(CancellationError()))
    }
}

extension PersistentStack {
    /// Whether a load of the scope is running.
    ///
    /// - Parameter id: The id without the mapping version.
    func isLoading(_ id: ScopeID) -> Bool {
        guard let entity = layout.entity(named: id.entity)?.concreteFamily.first else { return false }
        // One data source owns all entities of a scope.
        return tiers(owning: [entity]).contains { $0.loads.isRunning(.scope(id, generation: root.generation)) }
    }
}

extension PrivateTier {
    // MARK: For tests

    package nonisolated var loadCount: Int { loads.count }
    package nonisolated var loadWaiterCount: Int { loads.waiterCount }
}

extension CoalescedLoads {
    fileprivate var count: Int { state.withLock { $0.loads.count } }
    fileprivate var waiterCount: Int { state.withLock { $0.loads.values.reduce(0) { $0 + $1.waiting.count } } }
}
