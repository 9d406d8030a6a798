internal import Foundation
internal import RowStore

/// Keeps the rows of one query up to date, for all lists with that query. Its ``ListSchedule`` decides, and the engine acts.
@MainActor
final class ListEngine: HubEngine {
    let key: ListKey
    let query: ListQuery
    private var schedule: ListSchedule
    private let worker: ListWorker
    private let hub: ListHub
    private var subscriptions: [Subscription] = []
    /// The day of the last check; nil if the sections are no days, weeks or months.
    private var day: Int64?

    private final class Subscription {
        weak let subscriber: (any ListSubscriber)?

        init(_ subscriber: any ListSubscriber) { self.subscriber = subscriber }
    }

    /// - Parameter state: Nil to read the rows off the main actor; until then the list is empty.
    init(_ key: ListKey, _ query: ListQuery, state: ListState?, hub: ListHub) {
        self.key = key
        self.query = query
        self.hub = hub
        schedule = ListSchedule(query, state, pendingByteLimit: hub.stack.root.unmergedByteLimit)
        worker = ListWorker(hub.stack.root, hub.stack.layout, hub.names)
        day = query.order.section?.periods?.day(of: hub.stack.root.scheduling.now().timeIntervalSinceReferenceDate)
    }

    /// The state of the last report, or a newer one that looks the same.
    var state: ListState { schedule.reportedState }

    var lastUpdateReason: ListReason { schedule.lastUpdateReason }

    /// Whether the rows have been read.
    var isFilled: Bool { schedule.isFilled }

    /// Whether the rows could not be read. The next notice reads them again.
    var isRefused: Bool { schedule.isRefused }

    /// Whether work is being done.
    var isWorking: Bool { schedule.isWorking }

    /// Whether ``step()`` has something to do.
    var isReady: Bool { schedule.isReady }

    /// Whether the state lacks saves or a reload.
    var isBehind: Bool { schedule.isBehind }

    /// The memory of the waiting saves, in bytes.
    var pendingByteCount: Int { schedule.pendingByteCount }

    /// The number of notices so far.
    var noticeCount: Int { schedule.noticeCount }

    /// Whether each of the first `notices` notices was reported or has failed.
    func isSettled(_ notices: Int) -> Bool { schedule.isSettled(notices) }

    func subscribe(_ subscriber: any ListSubscriber) {
        subscriptions.removeAll { $0.subscriber == nil }
        subscriptions.append(Subscription(subscriber))
    }

    func unsubscribe(_ subscriber: any ListSubscriber) {
        subscriptions.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
    }

    // MARK: Notices

    /// Enqueues saves for ``step()``.
    func enqueue(_ changes: [ChangeSet]) { take(.saves(changes)) }

    /// Enqueues a reload of the rows for ``step()``.
    func reload(_ kind: ListReason.Kind) { take(.reload(kind)) }

    /// Stops following saves, and notifies the subscribers.
    func finish() { take(.finish) }

    // MARK: Days

    /// The end of the present day; nil if the sections are no days, weeks or months.
    var endOfDay: Date? { query.order.section?.periods?.endOfDay(of: hub.stack.root.scheduling.now()) }

    /// Whether another day has begun since the last check.
    func isNewDay(_ now: Date) -> Bool {
        guard let day, let new = query.order.section?.periods?.day(of: now.timeIntervalSinceReferenceDate) else {
            return false
        }
        self.day = new
        return new != day
    }

    /// Notifies the subscribers that another day has begun.
    func recordDayChange() { take(.dayChange) }

    // MARK: Work

    /// Does the next piece of work, or starts it off the main actor.
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
            // The previous state and the changes may be large, so release them off the main actor too.
            let done = ReleasedOffMain((work: work, outcome: worker.run(work, isOnMain: false)))
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

    /// A subscriber that unsubscribes meanwhile is not notified. A new subscriber is not notified either, because it begins
    /// with the reported state.
    private func notifySubscribers(_ body: (any ListSubscriber) -> Void) {
        for subscription in subscriptions where subscriptions.contains(where: { $0 === subscription }) {
            if let subscriber = subscription.subscriber { body(subscriber) }
        }
    }
}

@MainActor
final class FirstRows: ListSubscriber {
    private let engine: ListEngine
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<Void, any Error>?

    init(of engine: ListEngine) {
        self.engine = engine
        engine.subscribe(self)
    }

    /// Waits for the first rows. May be called once.
    ///
    /// - Throws: The error of the read; `CancellationError` as soon as the task is cancelled.
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
