package import RowStore

/// Admits calls in the order in which they arrive. Calls wait while too many bytes or values are waiting.
///
/// Values of a running batch and bytes of the running commit do not count, because they no longer wait. Otherwise, all calls
/// would wait until a single large save has ended, and a small save could wait for two large saves.
///
/// A call waits before its batch begins, and it does not wait on the queue of a private context. So a waiting call does not
/// block admitted batches.
package final class Admission: Sendable {
    private let limits: RootLimits
    private let scheduling: WorkScheduling
    private let state = Guarded(State())

    private typealias Waiter = @Sendable (Result<Void, DataSourceError>) -> Void

    /// Calls that wait, in the order of their IDs. Each operation takes the same time, however many calls wait.
    private struct WaitingCalls {
        private var calls: [Int: (values: Int, waiter: Waiter)] = [:]
        /// No waiting call has a lower ID.
        private var lowestID = 0

        var isEmpty: Bool { calls.isEmpty }
        var count: Int { calls.count }
        var waiters: [Waiter] { calls.values.map(\.waiter) }

        mutating func add(_ id: Int, _ values: Int, _ waiter: @escaping Waiter) {
            calls[id] = (values, waiter)
            lowestID = min(lowestID, id)
        }

        mutating func remove(_ id: Int) -> Waiter? { calls.removeValue(forKey: id)?.waiter }

        mutating func removeFirst() -> (values: Int, waiter: Waiter)? {
            if calls.isEmpty { return nil }
            while true {
                if let first = calls.removeValue(forKey: lowestID) { return first }
                lowestID += 1
            }
        }
    }

    private struct State {
        var waitingBytes = 0
        var queuedValues = 0
        /// The number of queued values whose batch is running.
        var runningValues = 0
        /// The number of admitted calls whose batch has not ended.
        var callCount = 0
        var isClosing = false
        var waiting = WaitingCalls()
        var lastID = 0
        var whenEmpty: [@Sendable () -> Void] = []
    }

    init(_ limits: RootLimits, _ scheduling: WorkScheduling) {
        self.limits = limits
        self.scheduling = scheduling
    }

    /// The number of waiting calls.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The number of values in the admitted calls whose batch has not ended.
    package var queuedValueCount: Int { state.withLock { $0.queuedValues } }

    // MARK: Entering

    /// Admits a call without waiting.
    ///
    /// - Parameter values: The number of values of the call; 0 for a call that only reads. A call that only reads never waits.
    /// - Throws: `storeClosed`; `storeUnavailable` if the limits are reached.
    package func enterNow(_ values: Int) throws(DataSourceError) {
        if try !enterIfRoom(values) { throw Admission.unavailable }
    }

    /// Admits a call as soon as the limits allow.
    ///
    /// - Throws: `storeClosed`; `storeUnavailable` if the limits do not allow the call within ``RootLimits/patience``;
    ///   `CancellationError`.
    package func enter(_ values: Int) async throws {
        if try enterIfRoom(values) { return }
        let id = nextID()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                hold(id, values) { continuation.resume(returning: $0) }
                if Task.isCancelled { end(id, Admission.unavailable) }
            }
        } onCancel: {
            end(id, Admission.unavailable)
        }
        if case .failure = outcome { try Task.checkCancellation() }
        try outcome.get()
    }

    /// Blocks until the call is admitted.
    package func enterAndWait(_ values: Int) throws(DataSourceError) {
        if try enterIfRoom(values) { return }
        let outcome = Guarded<Result<Void, DataSourceError>>(.success(()))
        let isDone = scheduling.makeSignal()
        hold(nextID(), values) { result in
            outcome.withLock { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        try outcome.withLock { $0 }.get()
    }

    /// Records that the batch of an admitted call begins, so that its values no longer wait.
    func beginBatch(_ values: Int) { changeRunning(by: values) }

    /// Takes back ``beginBatch(_:)``, because the batch did not begin.
    func takeBackBatch(_ values: Int) { changeRunning(by: -values) }

    private func changeRunning(by values: Int) {
        if values != 0 { admit { $0.runningValues += values } }
    }

    /// Records that the batch of an admitted call has ended.
    ///
    /// - Parameter hasBegun: Whether ``beginBatch(_:)`` was called.
    package func leave(_ values: Int, hasBegun: Bool = false) {
        admit { state in
            state.queuedValues -= values
            if hasBegun { state.runningValues -= values }
        }
        endBatch()
    }

    /// Records that a batch has ended. The callback of the call has not run yet, so the values of the call still count.
    func endBatch() {
        let ended = state.withLock { state in
            state.callCount -= 1
            return takeWhenEmpty(&state)
        }
        for body in ended { body() }
    }

    /// Stops counting this number of values of admitted calls. If there is room now, admits waiting calls.
    func forgetValues(_ values: Int) {
        admit { $0.queuedValues -= values }
    }

    /// Updates the number of bytes of saves that wait for a commit.
    ///
    /// - Parameter bytes: Returns the current number. The closure runs under the lock, so that the later of two calls records
    ///   the newer number.
    func recordWaiting(_ bytes: () -> Int) {
        admit { $0.waitingBytes = bytes() }
    }

    /// Refuses all further calls, and returns after the batches of all admitted calls have ended.
    package func close() async {
        await withCheckedContinuation { continuation in
            let (refused, ended) = state.withLock { state in
                state.isClosing = true
                state.whenEmpty.append { continuation.resume() }
                defer { state.waiting = WaitingCalls() }
                return (state.waiting.waiters, takeWhenEmpty(&state))
            }
            for waiter in refused { waiter(.failure(RootTier.closed)) }
            for body in ended { body() }
        }
    }

    // MARK: Parts

    private func enterIfRoom(_ values: Int) throws(DataSourceError) -> Bool {
        try state.withLock { (state) throws(DataSourceError) in
            if state.isClosing { throw RootTier.closed }
            if values > 0, !state.waiting.isEmpty || isFull(state) { return false }
            admit(values, &state)
            return true
        }
    }

    /// Changes the state, and then admits the waiting calls for which there is room.
    private func admit(after change: (inout State) -> Void) {
        let admitted = state.withLock { state in
            change(&state)
            return takeAdmitted(&state)
        }
        for waiter in admitted { waiter(.success(())) }
    }

    private func admit(_ values: Int, _ state: inout State) {
        state.queuedValues += values
        state.callCount += 1
    }

    private func isFull(_ state: State) -> Bool {
        state.waitingBytes >= limits.pendingBytes
            || state.queuedValues - state.runningValues >= limits.queuedValues
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func hold(_ id: Int, _ values: Int, _ waiter: @escaping Waiter) {
        let outcome = state.withLock { state -> Result<Void, DataSourceError>? in
            if state.isClosing { return .failure(RootTier.closed) }
            if state.waiting.isEmpty && !isFull(state) {
                admit(values, &state)
                return .success(())
            }
            state.waiting.add(id, values, waiter)
            return nil
        }
        if let outcome { return waiter(outcome) }
        scheduling.after(limits.patience) { [weak self] in self?.end(id, Admission.unavailable) }
    }

    /// Refuses a waiting call.
    private func end(_ id: Int, _ error: DataSourceError) {
        let waiter = state.withLock { $0.waiting.remove(id) }
        waiter?(.failure(error))
    }

    private func takeAdmitted(_ state: inout State) -> [Waiter] {
        var admitted: [Waiter] = []
        while !isFull(state), let first = state.waiting.removeFirst() {
            admit(first.values, &state)
            admitted.append(first.waiter)
        }
        return admitted
    }

    private func takeWhenEmpty(_ state: inout State) -> [@Sendable () -> Void] {
        guard state.callCount == 0, state.isClosing else { return [] }
        defer { state.whenEmpty = [] }
        return state.whenEmpty
    }

    private static let unavailable = DataSourceError(
        .storeUnavailable,
        "Too many saves are waiting to be written, so the container accepts no more for now. Wait for earlier calls to return, or try again later."
    )
}
