internal import RowStore

/// Buffers the reports of a list for a reader on any thread.
///
/// The number of buffered reports is bounded. If the buffer is full, a new report is joined to the last report: the reader gets
/// one difference, from the state before the last report to the state after the new report. Only intermediate states are lost.
nonisolated final class ListMailbox: ListSubscriber, Sendable {
    /// A report that waits for the reader, or several reports joined into one.
    struct PendingUpdate: Sendable {
        /// The state before the report. Nil for the first report, and if the rows could not be read before.
        let old: ListState?
        var new: ListState
        var net = NetChanges()
        /// Nil if several reports were joined: the reader must calculate the difference.
        var difference: RowDifference?
        var reason: ListReason
        /// The freshness of the list's scope; nil if the list has no scope.
        var freshness: ScopeFreshness?
    }

    private struct State {
        var pending: [PendingUpdate] = []
        /// The continuation of the reader that waits for the next report.
        var waiter: CheckedContinuation<Void, Never>?
        var isEnded = false
        /// The engine that fills the mailbox, retained until the mailbox ends.
        var engine: ListEngine?
        /// The freshness of the list's scope, retained until the mailbox ends.
        var followedFreshness: ListFreshness?
        var freshness: ScopeFreshness?
    }

    private let capacity: Int
    private let state = Guarded(State())

    /// - Parameter capacity: The largest number of waiting reports; at least 1.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var wantsEverySave: Bool { capacity > 1 }

    // MARK: Filling

    /// Subscribes to an engine, and adds the engine's current state as the first report.
    ///
    /// - Parameter freshness: The freshness of the list's scope; nil if the list has no scope.
    @MainActor
    func follow(_ engine: ListEngine, _ freshness: ListFreshness?) {
        let value = freshness?.value
        state.withLock { state in
            if state.isEnded { return }
            (state.engine, state.followedFreshness, state.freshness) = (engine, freshness, value)
        }
        freshness?.onChange = { [weak self] in self?.notifyFreshness() }
        engine.subscribe(self)
        guard engine.isFilled else { return }
        var reason = engine.lastUpdateReason
        reason.kind = .initial
        put(PendingUpdate(old: nil, new: engine.state, reason: reason))
    }

    func notify(_ report: ListReport) {
        put(
            PendingUpdate(
                old: report.old.isRead ? report.old : nil, new: report.new, net: report.net,
                difference: report.difference, reason: report.reason))
    }

    @MainActor
    func notify(_ failure: DataSourceError) {
        guard let engine = state.withLock({ $0.engine }) else { return }
        let state = engine.state
        put(
            PendingUpdate(
                old: state.isRead ? state : nil, new: state, difference: RowDifference(),
                reason: engine.lastUpdateReason))
    }

    /// Adds a report with the new freshness. If the rows have not been read yet, adds nothing: the first report will have the
    /// freshness.
    @MainActor
    private func notifyFreshness() {
        let (engine, freshness) = state.withLock { ($0.engine, $0.followedFreshness) }
        guard let engine, let value = freshness?.value else { return }
        state.withLock { $0.freshness = value }
        guard engine.isFilled, engine.state.isRead else { return }
        put(
            PendingUpdate(
                old: engine.state, new: engine.state, difference: RowDifference(), reason: ListReason(.freshness)))
    }

    func notifyEnd() { end() }

    /// Adds a report with the failure, and ends the mailbox.
    func end(with failure: DataSourceError, _ query: ListQuery) {
        var reason = ListReason(.failure)
        reason.failure = failure
        let empty = ListState.unread(query)
        put(PendingUpdate(old: nil, new: empty, reason: reason))
        end()
    }

    private func put(_ pending: PendingUpdate) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.isEnded { return nil }
            var pending = pending
            pending.freshness = state.freshness
            if state.pending.count < capacity {
                state.pending.append(pending)
            } else {
                state.pending[state.pending.count - 1].join(pending)
            }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Ends the mailbox: no more reports are added, but the waiting reports can still be taken.
    func end() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isEnded = true
            (state.engine, state.followedFreshness) = (nil, nil)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: Taking

    /// Waits for the next report and returns it; nil if the mailbox has ended or the task is canceled.
    func next() async -> PendingUpdate? {
        await withTaskCancellationHandler {
            while true {
                let (pending, isEnded) = state.withLock { state -> (PendingUpdate?, Bool) in
                    if state.pending.isEmpty { return (nil, state.isEnded) }
                    return (state.pending.removeFirst(), false)
                }
                if let pending { return pending }
                if isEnded || Task.isCancelled { return nil }
                await withCheckedContinuation { continuation in
                    let isNow = state.withLock { state in
                        if !state.pending.isEmpty || state.isEnded { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isNow { continuation.resume() }
                }
            }
        } onCancel: {
            end()
        }
    }
}

extension ListMailbox.PendingUpdate {
    fileprivate mutating func join(_ later: Self) {
        new = later.new
        if let old { net.add(later.net, from: old, to: new.query) }
        // A report of the freshness changes no rows, so keep the difference of the other report.
        if later.reason.kind != .freshness { difference = reason.kind == .freshness ? later.difference : nil }
        reason = reason.followed(by: later.reason)
        freshness = later.freshness
    }
}
