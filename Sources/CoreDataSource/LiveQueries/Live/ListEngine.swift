internal import RowStore

/// One query that is kept up to date, for all lists that show it.
///
/// It takes saves in their order. A few rows are merged at once; many are prepared on the lists' own queue, and so is
/// everything that has to be read. Meanwhile the list shows its previous state as a whole, and later saves wait.
///
/// When deletions leave fewer rows than a window shows, the rows after the last one are read. They may belong to a later save
/// than the remaining rows, which are brought up to that save first.
@MainActor
final class ListEngine {
    let key: ListKey
    let query: ListQuery
    private(set) var state: ListState
    /// How many states there have been.
    private var version = 0
    private let rowsByKey = RowsByKey()
    /// Why the list last changed.
    private(set) var lastUpdateReason: ListReason
    private let hub: ListHub
    /// Everything up to this save has been handled.
    private var asOf: Int64
    private var pending: [Kept] = []
    /// Whether work is being done off the main actor.
    private(set) var isWorking = false
    /// Whether that work reads rows, or combines them with rows that were read.
    private var isReading = false
    /// Why the rows must be read, if they must.
    private var reading: ListReason?
    /// Whether the rows could not be read from the store; the next notice tries again.
    private var isRefused = false
    /// Whether there was a notice since the last work began.
    private var hasNews = false
    /// Whether nothing is followed any more.
    private var isFinished = false
    private var subscribers: [Subscriber] = []

    /// A save that is not yet part of the state.
    private struct Kept {
        let changes: ChangeSet
        /// How much memory it uses, if it has to wait for work that is being done.
        let byteCount: Int
    }

    private struct Subscriber {
        weak var object: (any ListSubscriber)?
    }

    /// More rows than this are not merged on the main actor.
    private static let mostRowsOnMain = 256

    /// - Parameter state: Nil to have the rows read off the main actor; until then the list is empty.
    init(_ key: ListKey, _ query: ListQuery, _ state: ListState?, _ hub: ListHub) {
        self.key = key
        self.query = query
        self.hub = hub
        self.state = state ?? .unread(query)
        asOf = self.state.asOf
        lastUpdateReason = ListReason(.initial, requeriesStore: query.requeriesStore)
        lastUpdateReason.didReadStore = true
        lastUpdateReason.rowCount = self.state.count
        if state == nil { reading = lastUpdateReason }
    }

    /// Whether the rows have been read.
    var isFilled: Bool { asOf >= 0 }

    /// Whether the list includes everything up to that save and is not about to be read, or cannot be read.
    func isSettled(_ number: Int64) -> Bool {
        !isWorking || asOf >= number && !isReading && reading == nil
    }

    /// Whether there are saves, or anything else, that are not yet part of the state.
    var isBehind: Bool { isWorking || reading != nil || !pending.isEmpty }

    func subscribe(_ subscriber: any ListSubscriber) {
        subscribers.removeAll { $0.object == nil }
        subscribers.append(Subscriber(object: subscriber))
    }

    func unsubscribe(_ subscriber: any ListSubscriber) {
        subscribers.removeAll { $0.object == nil || $0.object === subscriber }
    }

    // MARK: Hearing

    /// Notes saves; ``step()`` does the work.
    func enqueue(_ changes: [ChangeSet]) {
        let concerning = changes.filter { $0.number > asOf && query.concerns($0) }
        if concerning.isEmpty { return }
        if query.requeriesStore {
            reload(.save)
            if reading?.kind == .save { reading?.note(concerning, ofEntities: query.watched) }
        } else if reading == nil {
            keep(concerning)
        }
        noteNews()
    }

    /// Keeps saves until the work that is being done has ended. Beyond a bound all of them are forgotten, and the rows are
    /// read.
    private func keep(_ saves: [ChangeSet]) {
        for changes in saves {
            pending.append(Kept(changes: changes, byteCount: isWorking ? changes.byteCount : 0))
        }
        if pendingByteCount > hub.stack.root.unmergedByteLimit { reload(.backlog) }
    }

    /// How much memory the waiting saves use, in bytes.
    var pendingByteCount: Int { pending.reduce(0) { $0 + $1.byteCount } }

    /// Reloads the rows.
    func reload(_ kind: ListReason.Kind) {
        // Observers that wait for the first rows, or for those after a reset, must be notified.
        let isKept = reading.map { $0.kind == .initial || $0.kind == .reset || $0.kind == kind } ?? false
        if !isKept { reading = ListReason(kind, requeriesStore: query.requeriesStore) }
        // The rows that are read are newer than all of them.
        pending = []
        noteNews()
    }

    private func noteNews() {
        hasNews = true
        isRefused = false
    }

    /// Stops following, and reports that.
    func finish() {
        isFinished = true
        lastUpdateReason = ListReason(.closed, requeriesStore: query.requeriesStore)
        notifySubscribers { $0.notifyEnd() }
    }

    // MARK: Working

    /// Does the next piece of work, or starts it elsewhere.
    ///
    /// - Returns: Whether there may be more to do now.
    func step() -> Bool {
        if isWorking || isRefused || isFinished { return false }
        if let reading {
            self.reading = nil
            start(work(reading, .read(hub.stack.root, hub.stack.layout)))
            return false
        }
        pending.removeAll { $0.changes.number <= asOf }
        if pending.isEmpty { return false }
        let isEverySaveWanted = subscribers.contains { $0.object?.wantsEverySave ?? false }
        let saves = isEverySaveWanted ? [pending.removeFirst().changes] : pending.map(\.changes)
        if !isEverySaveWanted { pending = [] }
        let reason = ListReason(saves.allSatisfy(\.isTakeBack) ? .takenBack : .save)
        if query.followsRelatedRows {
            start(work(reason, .follow(saves, rowsByKey, version: version, hub.stack.root, hub.stack.layout)))
        } else {
            perform(work(reason, .merge(saves)))
        }
        return !isWorking
    }

    /// Does a small piece of work at once, and starts a large one elsewhere.
    private func perform(_ work: ListWork) {
        if work.rowCount > Self.mostRowsOnMain { start(work) } else { end(work, work.run(isOnMain: true)) }
    }

    private func work(_ reason: ListReason, _ task: ListWork.Task) -> ListWork {
        ListWork(state: state, reason: reason, names: hub.names, task: task)
    }

    private func start(_ work: ListWork) {
        (isWorking, hasNews) = (true, false)
        switch work.task {
        case .merge, .follow: isReading = false
        case .read, .readOn, .join: isReading = true
        }
        let queue = hub.queue
        queue.async {
            let outcome = work.run(isOnMain: false)
            Task { @MainActor in
                // What was read may be newer than what was heard. Whether there was a reset has to be known.
                switch (work.task, outcome) {
                case (.follow, _), (_, .hasRead): self.hub.stack.mainWaker.merge()
                default: break
                }
                self.isWorking = false
                self.isReading = false
                self.end(work, outcome)
                self.hub.drain()
                // The previous state may be large, so it is not released on the main actor either.
                queue.async { withExtendedLifetime((work, outcome)) {} }
            }
        }
    }

    private func end(_ work: ListWork, _ outcome: ListWork.Outcome) {
        if isFinished { return }
        switch work.task {
        case .merge(let saves), .follow(let saves, _, _, _, _): asOf = max(asOf, saves.last?.number ?? asOf)
        case .read, .readOn, .join: break
        }
        if case .follow = work.task, reading != nil {
            // All rows are about to be read, as after a reset: then those that were read now are of the new store. What the
            // rows by their keys have gone on to is not shown.
            version += 1
            return
        }
        switch outcome {
        case .unchanged(let state): take(state)
        case .changed(let report):
            take(report.new)
            lastUpdateReason = report.reason
            notifySubscribers { $0.notify(report) }
        case .mustRead:
            // The rows by their keys have been updated to a state that is not shown.
            version += 1
            reload(.save)
        case .isShort(let short): start(self.work(short.reason, .readOn(short, hub.stack.root, hub.stack.layout)))
        case .hasRead(let short, let tail): join(short, tail)
        case .failed(let error):
            // Saves that were noted meanwhile may have repaired it. Keep them, and keep in mind that these are the first rows.
            if reading == nil || work.reason.kind == .initial { reading = work.reason }
            isRefused = !hasNews
            // A container that is closed notifies its lists.
            if error.code == .storeClosed { return }
            lastUpdateReason = ListReason(.failure, requeriesStore: query.requeriesStore)
            lastUpdateReason.failure = error
            notifySubscribers { $0.notify(error) }
        }
    }

    private func join(_ short: ShortList, _ tail: RowTail) {
        // All rows are about to be read, as after a reset: then the rows that were left are of the old store.
        if reading != nil { return }
        let newer = pending.map(\.changes).filter { $0.number <= tail.asOf }
        pending.removeAll { $0.changes.number <= tail.asOf }
        perform(work(short.reason, .join(short, tail, newer)))
    }

    private func take(_ state: ListState) {
        self.state = state
        version += 1
        asOf = max(asOf, state.asOf)
    }

    private func notifySubscribers(_ body: (any ListSubscriber) -> Void) {
        for subscriber in subscribers.compactMap(\.object) { body(subscriber) }
    }
}
