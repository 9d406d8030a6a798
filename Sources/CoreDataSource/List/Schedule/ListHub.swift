internal import Foundation
internal import QueryLanguage
internal import RowStore

/// The saves that the main tier merges together.
package struct MergedSaves {
    let saves: [ChangeSet]
    /// Whether the store was reset before the saves.
    let isReset: Bool
    /// The reason why other rows may have changed too; nil if only the saves changed rows.
    let staleness: SaveLog.Staleness?
    let changesLinks: Bool
    /// Whether each list makes one report of all saves, because the main context was pinned.
    var makesOneReport = false
}

/// An object that follows the merges of the main tier, for example the lists or a draft.
@MainActor
package protocol MainFollower: AnyObject {
    /// Handles the saves that the main tier has merged.
    func follow(_ merged: MergedSaves)

    /// Makes later reads use the pinned rows, or the newest rows if there are none.
    func read(from pinned: PinnedRows?)

    /// Ends, because no more saves follow.
    func end()
}

/// Follows the merges of the main tier for a list or an aggregate.
@MainActor
protocol HubEngine: AnyObject {
    /// Whether ``step()`` has work to do.
    var isReady: Bool { get }
    /// Whether work is running.
    var isWorking: Bool { get }
    /// The memory of the waiting saves, in bytes.
    var pendingByteCount: Int { get }
    /// The number of notices so far. A notice is a group of saves that concern the engine, or a reload.
    var noticeCount: Int { get }

    /// Whether each of the first `notices` notices was reported or has failed.
    func isSettled(_ notices: Int) -> Bool

    /// Adds saves, which ``step()`` handles.
    ///
    /// - Parameter together: Whether the saves make one report.
    func enqueue(_ changes: [ChangeSet], together: Bool)

    /// Requests a reload of the rows, which ``step()`` starts.
    func reload(_ kind: ListReason.Kind)

    /// Does the next piece of work, or starts the work off the main actor.
    ///
    /// - Returns: Whether there may be more work to do now.
    func step() -> Bool

    /// Stops following saves, and notifies the subscribers.
    func finish()
}

/// The engines of a container: one for each query of a list, and one for each aggregate.
@MainActor
final class ListHub: MainFollower {
    let stack: PersistentStack
    let names: ListReason.Names
    /// The serial queue for large pieces of work.
    let queue: any WorkQueue
    /// The rows of a pinned main context; nil for the newest rows.
    private(set) var pinned: PinnedRows?
    private var engines: [Entry] = []
    /// The newest engine of each query.
    private var enginesByKey: [ListKey: Entry] = [:]
    /// When there are this many engines, the released ones are removed. So an engine is added in constant time.
    private var sweepThreshold = 16
    private(set) var isFinished = false
    private var isDraining = false
    /// The index of the engine that takes the next step. The engines before it have nothing to do now.
    private var nextEngine = 0
    /// The number of calls of ``HubEngine/step()``. For tests.
    private(set) var stepCount = 0
    /// The actions to perform before the engines continue.
    private var actions: [@MainActor () -> Void] = []
    private var waiting: [Waiter] = []
    private var isDayCheckScheduled = false

    private struct Entry {
        weak var engine: (any HubEngine)?

        var list: ListEngine? { engine as? ListEngine }
    }

    /// A call that waits until each engine has settled the notices that it had when the call began.
    private struct Waiter {
        let lists: [(entry: Entry, notices: Int)]
        let continuation: CheckedContinuation<Void, Never>

        @MainActor var isSettled: Bool { lists.allSatisfy { $0.entry.engine?.isSettled($0.notices) ?? true } }
    }

    init(_ stack: PersistentStack, _ pinned: PinnedRows?) {
        self.stack = stack
        self.pinned = pinned
        queue = stack.root.scheduling.makeQueue("CoreDataSource.lists", false)
        names = ListReason.Names(layout: stack.layout) { [weak stack] entity in
            stack?.owner(ofEntity: entity)
        }
    }

    var count: Int { engines.count { $0.engine != nil } }

    /// The memory, in bytes, of the saves that wait for work off the main actor.
    var keptBytes: Int { engines.reduce(0) { $0 + ($1.engine?.pendingByteCount ?? 0) } }

    var isEmpty: Bool { !engines.contains { $0.engine != nil } }

    // MARK: Engines

    /// Returns a filled engine for a query: an existing engine that is up to date, or a new engine whose rows are read now.
    func engine(_ key: ListKey, _ query: ListQuery) throws(DataSourceError) -> ListEngine {
        try stack.root.checkOpen()
        if let engine = find(key), !engine.isBehind { return engine }
        let engine = add(ListEngine(key, query, state: try .read(query, source, stack.layout), hub: self))
        // The rows may include a save that the main tier has not merged. The list will not report that save. Merge now,
        // so that no cell shows relationships from before the save.
        if stack.root.hasUnmergedSaves { stack.mainNotifier.mergeObjects() }
        return engine
    }

    /// Makes an engine for aggregates, which reads all rows now.
    func aggregate(_ query: ListQuery, _ plan: AggregateState.Plan) throws(DataSourceError) -> AggregateEngine {
        try stack.root.checkOpen()
        let engine = add(try AggregateEngine(query, plan, hub: self))
        if stack.root.hasUnmergedSaves { stack.mainNotifier.mergeObjects() }
        return engine
    }

    /// Returns an engine for a query. If the engine is new, its rows are read off the main actor and then reported.
    func engineToBeFilled(_ key: ListKey, _ query: ListQuery) -> ListEngine {
        guard let engine = find(key) else { return add(ListEngine(key, query, state: nil, hub: self)) }
        // A new subscriber must also be notified of a failed read, so read again.
        if engine.hasReadFailed { engine.reload(.initial) }
        return engine
    }

    /// Returns a filled engine for a query: an existing engine that is up to date, or a new engine whose rows are read off the
    /// main actor.
    ///
    /// - Throws: Errors of the store; `storeClosed`; `CancellationError`.
    func filledEngine(_ key: ListKey, _ query: ListQuery) async throws -> ListEngine {
        try stack.root.checkOpen()
        if let engine = find(key), engine.isFilled, !engine.isBehind { return engine }
        let engine = add(ListEngine(key, query, state: nil, hub: self))
        let first = FirstRowsWaiter(of: engine)
        drainSoon()
        try await first.wait()
        return engine
    }

    private var source: RowSource { pinned.map { .pinned($0) } ?? stack.root.rows }

    private func find(_ key: ListKey) -> ListEngine? {
        enginesByKey[key]?.list
    }

    private func add<Engine: HubEngine>(_ engine: Engine) -> Engine {
        if engines.count >= sweepThreshold { removeReleasedEngines() }
        let entry = Entry(engine: engine)
        engines.append(entry)
        guard let list = entry.list else { return engine }
        enginesByKey[list.key] = entry
        if list.endOfDay != nil { scheduleDayCheck() }
        return engine
    }

    private func removeReleasedEngines() {
        engines.removeAll { $0.engine == nil }
        enginesByKey = enginesByKey.filter { $0.value.engine != nil }
        sweepThreshold = max(16, 2 * engines.count)
        nextEngine = 0
    }

    // MARK: Days

    /// Sets a timer for the earliest end of a list's day. The timer waits for at most a minute, because a user or a
    /// server may set the clock in the meantime.
    private func scheduleDayCheck() {
        guard !isDayCheckScheduled, let end = engines.compactMap({ $0.list?.endOfDay }).min() else { return }
        isDayCheckScheduled = true
        let seconds = min(max(end.timeIntervalSince(stack.root.scheduling.now()), 0.01), 60)
        stack.root.scheduling.after(.seconds(seconds)) { [weak self] in
            Task { @MainActor in self?.checkDays() }
        }
    }

    private func checkDays() {
        isDayCheckScheduled = false
        let now = stack.root.scheduling.now()
        let changed = engines.compactMap(\.list).filter { $0.isNewDay(now) }
        if !changed.isEmpty { perform { for engine in changed { engine.recordDayChange() } } }
        scheduleDayCheck()
    }

    // MARK: Following

    func read(from pinned: PinnedRows?) { self.pinned = pinned }

    func follow(_ merged: MergedSaves) {
        if merged.isReset { reload(.reset) }
        nextEngine = 0
        if !merged.saves.isEmpty {
            for entry in engines { entry.engine?.enqueue(merged.saves, together: merged.makesOneReport) }
        }
        if let staleness = merged.staleness { reload(ListReason.Kind(staleness)) }
    }

    /// Reloads the rows of all lists and aggregates.
    func reload(_ kind: ListReason.Kind) {
        nextEngine = 0
        for entry in engines { entry.engine?.reload(kind) }
    }

    /// Lets all engines work until no engine has work to do now.
    ///
    /// This function makes all reports, one by one. Notices and actions during a report are handled after the report.
    func drain() {
        if isDraining { return }
        isDraining = true
        repeat {
            nextEngine = 0
            // A report can cause work of an engine that had nothing to do before.
        } while takeTurns()
        isDraining = false
        let settled = waiting.map(\.isSettled)
        let done = zip(waiting, settled).filter(\.1)
        waiting = zip(waiting, settled).filter { !$0.1 }.map(\.0)
        for (waiter, _) in done { waiter.continuation.resume() }
    }

    /// Calls ``drain()`` when the main actor is free.
    func drainSoon() { Task { @MainActor [weak self] in self?.drain() } }

    /// Performs the actions, and lets the engines work one after the other.
    ///
    /// **Complexity**: O(n) in the number of engines, and the steps.
    ///
    /// - Returns: Whether anything was done.
    private func takeTurns() -> Bool {
        var hasWorked = false
        while true {
            if !actions.isEmpty {
                nextEngine = 0
                actions.removeFirst()()
                hasWorked = true
                continue
            }
            let index = nextEngine
            guard index < engines.count else { return hasWorked }
            nextEngine += 1
            stepCount += 1
            // If more saves come during the step, the first engine continues.
            guard engines[index].engine?.step() ?? false else { continue }
            hasWorked = true
            nextEngine = min(nextEngine, index)
        }
    }

    /// Performs an action that may make a report, now or after the running report.
    func perform(_ action: @escaping @MainActor () -> Void) {
        actions.append(action)
        drain()
    }

    /// Ends all engines.
    func end() {
        isFinished = true
        let ended = engines.compactMap(\.engine)
        (engines, enginesByKey, nextEngine) = ([], [:], 0)
        perform { for engine in ended { engine.finish() } }
    }

    /// Whether an engine has work to begin and ``drain()`` is not running.
    var isWaiting: Bool { !isDraining && (!actions.isEmpty || engines.contains { $0.engine?.isReady ?? false }) }

    /// Whether all engines have reported everything.
    var isIdle: Bool { !isDraining && !isWaiting && !engines.contains { $0.engine?.isWorking ?? false } }

    /// Waits until each engine has settled the notices that it has now. Does not wait for later notices.
    func waitUntilReported() async {
        let lists = engines.map { ($0, $0.engine?.noticeCount ?? 0) }
        if lists.allSatisfy({ $0.engine?.isSettled($1) ?? true }) { return }
        await withCheckedContinuation { waiting.append(Waiter(lists: lists, continuation: $0)) }
    }
}

/// The identity of a list's query. Lists with equal keys share an engine.
struct ListKey: Hashable {
    let entity: Int
    let family: [Int]
    let predicate: RowPredicate
    let joined: [JoinedColumn]
    let sort: [SortKey]
    /// The sections of the request.
    let section: AnyHashable?
    let limit: Int?
    /// The position after which the list begins.
    var start: RowCursor?
    /// The predicate that needs objects; nil if there is none.
    let objectPredicate: PredicateTree?
    /// Whether large values may be missing from the rows.
    let defersValues: Bool

    init(_ query: ListQuery, section: AnyHashable?, objectPredicate: PredicateTree?) {
        (entity, family, predicate, joined) = (query.entity, query.family, query.predicate, query.joined)
        (sort, limit) = (query.order.sort, query.limit)
        start = query.start.map(query.order.cursor)
        self.section = section
        self.objectPredicate = objectPredicate
        defersValues = !query.deferredColumns.isEmpty
    }
}

extension ListReason.Kind {
    fileprivate init(_ staleness: SaveLog.Staleness) {
        self =
            switch staleness {
            case .backlog: .backlog
            case .outsideWrites: .outsideWrites
            case .bulkChange: .bulkChange
            }
    }
}
