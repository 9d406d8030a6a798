internal import RowStore

/// One query that is kept up to date, for all lists that show it. It does what its ``ListSchedule`` says.
@MainActor
final class ListEngine {
    let key: ListKey
    let query: ListQuery
    private var schedule: ListSchedule
    private let worker: ListWorker
    private let hub: ListHub
    private var subscriptions: [Subscription] = []

    private final class Subscription {
        weak let subscriber: (any ListSubscriber)?

        init(_ subscriber: any ListSubscriber) { self.subscriber = subscriber }
    }

    /// - Parameter state: Nil to have the rows read off the main actor; until then the list is empty.
    init(_ key: ListKey, _ query: ListQuery, state: ListState?, hub: ListHub) {
        self.key = key
        self.query = query
        self.hub = hub
        schedule = ListSchedule(query, state, pendingByteLimit: hub.stack.root.unmergedByteLimit)
        worker = ListWorker(hub.stack.root, hub.stack.layout, hub.names)
    }

    /// What those show who have taken all reports.
    var state: ListState { schedule.reportedState }

    /// Why the list last changed.
    var lastUpdateReason: ListReason { schedule.lastUpdateReason }

    /// Whether the rows have been read.
    var isFilled: Bool { schedule.isFilled }

    /// Whether the rows could not be read, and are read again with the next notice.
    var isRefused: Bool { schedule.isRefused }

    /// Whether work is being done.
    var isWorking: Bool { schedule.isWorking }

    /// Whether ``step()`` has something to do.
    var isReady: Bool { schedule.isReady }

    /// Whether there are saves, or anything else, that are not yet part of the state.
    var isBehind: Bool { schedule.isBehind }

    /// How much memory the waiting saves use, in bytes.
    var pendingByteCount: Int { schedule.pendingByteCount }

    /// How many notices there were.
    var noticeCount: Int { schedule.noticeCount }

    /// Whether so many notices, from the first on, are reported or could not be.
    func isSettled(_ notices: Int) -> Bool { schedule.isSettled(notices) }

    func subscribe(_ subscriber: any ListSubscriber) {
        subscriptions.removeAll { $0.subscriber == nil }
        subscriptions.append(Subscription(subscriber))
    }

    func unsubscribe(_ subscriber: any ListSubscriber) {
        subscriptions.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
    }

    // MARK: Notices

    /// Notes saves; ``step()`` does the work.
    func enqueue(_ changes: [ChangeSet]) { take(.saves(changes)) }

    /// Notes that the rows must be read again; ``step()`` does the work.
    func reload(_ kind: ListReason.Kind) { take(.reload(kind)) }

    /// Stops following, and reports that.
    func finish() { take(.finish) }

    // MARK: Work

    /// Does the next piece of work, or starts it elsewhere.
    ///
    /// - Returns: Whether there may be more to do now.
    func step() -> Bool {
        guard schedule.isReady else { return false }
        take(.turn(isEverySaveWanted: subscriptions.contains { $0.subscriber?.wantsEverySave ?? false }))
        return !schedule.isWorking
    }

    private func take(_ event: ListSchedule.Event) {
        switch schedule.take(event) {
        case .none: break
        case .run(let work, onMain: true): take(.workEnded(worker.run(work, isOnMain: true)))
        case .run(let work, onMain: false): start(work)
        case .notify(let report): notifySubscribers { $0.notify(report) }
        case .fail(let error): notifySubscribers { $0.notify(error) }
        case .stop: notifySubscribers { $0.notifyEnd() }
        }
    }

    private func start(_ work: ListWork) {
        let (queue, worker) = (hub.queue, worker)
        queue.async {
            // The previous state and the changes may be large, so they are not released on the main actor either.
            let done = ReleasedElsewhere((work: work, outcome: worker.run(work, isOnMain: false)))
            Task { @MainActor in
                done.use { self.end($0.work, $0.outcome) }
                done.release()
            }
        }
    }

    private func end(_ work: ListWork, _ outcome: ListWork.Outcome) {
        hub.perform { [self] in
            if work.mayBeAhead(outcome) { hub.stack.mainWaker.merge() }
            take(.workEnded(outcome))
        }
    }

    /// Whoever unsubscribes meanwhile is notified no more, and whoever subscribes begins with what is reported now.
    private func notifySubscribers(_ body: (any ListSubscriber) -> Void) {
        for subscription in subscriptions where subscriptions.contains(where: { $0 === subscription }) {
            if let subscriber = subscription.subscriber { body(subscriber) }
        }
    }
}

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
    func notifyEnd() { end(.failure(RootTier.closed)) }

    private func end(_ outcome: Result<Void, any Error>) {
        if self.outcome != nil { return }
        engine.unsubscribe(self)
        self.outcome = outcome
        waiting?.resume(with: outcome)
        waiting = nil
    }
}
