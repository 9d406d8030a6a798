internal import Foundation
internal import RowStore

/// Keeps the rows of one query up to date, for all lists with that query. The ``ListSchedule`` makes the decisions.
@MainActor
final class ListEngine: HubEngine {
    let key: ListKey
    let query: ListQuery
    var number = 0
    private var schedule: ListSchedule
    private let worker: ListWorker
    private let hub: ListHub
    private var subscriptions: [Subscription] = []
    /// The number of the day at the last check; nil unless the sections are days, weeks or months.
    private var day: Int64?

    private final class Subscription {
        weak let subscriber: (any ListSubscriber)?

        init(_ subscriber: any ListSubscriber) { self.subscriber = subscriber }
    }

    /// - Parameter state: The first state. Nil to read the rows off the main actor; the list is empty until the rows were read.
    init(_ key: ListKey, _ query: ListQuery, state: ListState?, hub: ListHub) {
        self.key = key
        self.query = query
        self.hub = hub
        schedule = ListSchedule(query, state, pendingByteLimit: hub.stack.root.unmergedByteLimit)
        worker = ListWorker(hub.stack.root, hub.stack.layout, hub.names)
        day = query.order.section?.periods?.day(of: hub.stack.root.scheduling.now().timeIntervalSinceReferenceDate)
    }

    /// The state of the last report, or a newer state with the same rows to show.
    var state: ListState { schedule.reportedState }

    var lastUpdateReason: ListReason { schedule.lastUpdateReason }

    var isFilled: Bool { schedule.isFilled }

    /// Whether the rows could not be read. They are read again after the next save that concerns the list, or the next reload.
    var hasReadFailed: Bool { schedule.hasReadFailed }

    var isWorking: Bool { schedule.isWorking }

    var isReady: Bool { schedule.isReady }

    /// Whether there are saves, or a reload, that the state does not include yet.
    var isBehind: Bool { schedule.isBehind }

    var needsEverySave: Bool { schedule.needsEverySave }

    var usesValues: Bool { true }

    var pendingByteCount: Int { schedule.pendingByteCount }

    var noticeCount: Int { schedule.noticeCount }

    func isSettled(_ notices: Int) -> Bool { schedule.isSettled(notices) }

    func subscribe(_ subscriber: any ListSubscriber) {
        subscriptions.removeAll { $0.subscriber == nil }
        subscriptions.append(Subscription(subscriber))
    }

    func unsubscribe(_ subscriber: any ListSubscriber) {
        subscriptions.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
    }

    // MARK: Notices

    func enqueue(_ changes: [ChangeSet], together: Bool) { handle(.saves(changes, together: together)) }

    func reload(_ kind: ListReason.Kind) { handle(.reload(kind)) }

    func finish() { handle(.finish) }

    // MARK: Days

    /// The end of the current day; nil unless the sections are days, weeks or months.
    var endOfDay: Date? { query.order.section?.periods?.endOfDay(of: hub.stack.root.scheduling.now()) }

    /// Whether a new day has begun since the last check.
    func isNewDay(_ now: Date) -> Bool {
        guard let day, let new = query.order.section?.periods?.day(of: now.timeIntervalSinceReferenceDate) else {
            return false
        }
        self.day = new
        return new != day
    }

    /// Notifies the subscribers that a new day has begun.
    func recordDayChange() { handle(.dayChange) }

    // MARK: Work

    func step() {
        guard schedule.isReady else { return }
        handle(.beginWork(isEverySaveWanted: subscriptions.contains { $0.subscriber?.wantsEverySave ?? false }))
    }

    private func handle(_ event: ListSchedule.Event) {
        let action = schedule.handle(event)
        // Before any subscriber is called, because a subscriber can save.
        hub.update(self)
        switch action {
        case .none: break
        case .run(let work, onMain: true): handle(.workEnded(pinnedWorker.run(work, isOnMain: true)))
        case .run(let work, onMain: false): start(work)
        case .notify(let report): notifySubscribers(of: report)
        case .fail(let error): notifySubscribers { $0.notify(error) }
        case .stop: notifySubscribers { $0.notifyEnd() }
        }
    }

    /// The worker, which reads the rows that the main context shows.
    private var pinnedWorker: ListWorker {
        var worker = worker
        worker.pinned = hub.pinned
        return worker
    }

    private func start(_ work: ListWork) {
        let (queue, worker) = (hub.queue, pinnedWorker)
        queue.async {
            // Release the previous state and the changes off the main actor too, because both may be large.
            let done = ReleasedOffMain((work: work, outcome: worker.run(work, isOnMain: false)))
            let wasPinned = worker.isPinned
            Task { @MainActor in
                done.use { self.end($0.work, $0.outcome, wasPinned: wasPinned) }
                done.release()
            }
        }
    }

    /// - Parameter wasPinned: Whether the work has read only pinned rows.
    private func end(_ work: ListWork, _ outcome: ListWork.Outcome, wasPinned: Bool) {
        hub.perform { [self] in
            if let pinned = hub.pinned, !wasPinned, work.mayBeAhead(outcome) {
                // The rows that were read may be newer than the pinned rows, so read the pinned rows.
                worker.rowsByKey.forgetReads(after: pinned.newestSave)
                return work.isRepeatable ? start(work) : handle(.workEnded(.mustRead))
            }
            if work.mayBeAhead(outcome) { hub.stack.mainNotifier.merge() }
            handle(.workEnded(outcome))
        }
    }

    private func notifySubscribers(of report: ListReport) {
        schedule.isReporting = true
        hub.update(self)
        notifySubscribers { $0.notify(report) }
        schedule.isReporting = false
        hub.update(self)
    }

    /// Notifies the subscribers that are subscribed now. A subscriber that unsubscribes during the loop is not notified. A new
    /// subscriber is not notified either, because it begins with the reported state.
    private func notifySubscribers(_ body: (any ListSubscriber) -> Void) {
        for subscription in subscriptions where subscriptions.contains(where: { $0 === subscription }) {
            if let subscriber = subscription.subscriber { body(subscriber) }
        }
    }
}

@MainActor
final class FirstRowsWaiter: ListSubscriber {
    private let engine: ListEngine
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<Void, any Error>?

    init(of engine: ListEngine) {
        self.engine = engine
        engine.subscribe(self)
    }

    /// Waits for the first rows. Call this function at most once.
    ///
    /// - Throws: The error of the read; `CancellationError` as soon as the task is canceled.
    func wait() async throws {
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
