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
    var query: ListQuery { get }
    /// The number of the engine in its hub. The hub sets the number.
    var number: Int { get set }
    /// Whether the engine can skip a save that changes none of the query's rows. Does not apply while ``needsEverySave`` is
    /// true.
    var usesValues: Bool { get }
    /// Whether ``step()`` has work to do. If this or ``needsEverySave`` changes, the engine calls ``ListHub/update(_:)``.
    var isReady: Bool { get }
    /// Whether the engine must get all saves of its entities, even those that change none of its rows. True while there are saves
    /// or a reload that the engine does not show yet, and if the rows could not be read.
    var needsEverySave: Bool { get }
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
    func step()

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
    /// The engines in the order of their numbers.
    private var engines: [Entry] = []
    private var lastNumber = 0
    /// The newest engine of each query.
    private var enginesByKey: [ListKey: Entry] = [:]
    /// If there are at least this many engines, adding an engine first removes the released engines.
    private var engineLimit = 32
    /// The number of merges since released engines were last removed, plus the number of released engines that these merges
    /// have found.
    private var followCount = 0
    private(set) var isFinished = false
    private var isDraining = false
    /// Finds the engines that a save may concern.
    private var index = ListIndex()
    /// The numbers of the engines that need every save. All engines with work are among them.
    private var busy: Set<Int> = []
    /// The engines that have work to begin.
    private var ready = TurnQueue()
    /// The number of calls of ``HubEngine/step()``. For tests.
    private(set) var stepCount = 0
    /// The number of calls of ``HubEngine/enqueue(_:together:)``. For tests.
    private(set) var visitCount = 0
    /// The actions to perform before the engines continue.
    private var actions: [@MainActor () -> Void] = []
    private var waiting: [Waiter] = []
    private var isDayCheckScheduled = false

    private struct Entry {
        let number: Int
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

    /// The number of engines, including released engines that were not removed yet. For tests.
    var keptCount: Int { engines.count }

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
        // The last read has failed, and the new subscriber was not notified of that. So read again: the subscriber gets the
        // rows or the failure.
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
        if engines.count >= engineLimit { removeReleasedEngines() }
        lastNumber += 1
        engine.number = lastNumber
        let entry = Entry(number: lastNumber, engine: engine)
        engines.append(entry)
        index.add(lastNumber, engine.query, usesValues: engine.usesValues)
        update(engine)
        guard let list = entry.list else { return engine }
        enginesByKey[list.key] = entry
        if list.endOfDay != nil { scheduleDayCheck() }
        return engine
    }

    /// Removes the released engines. The cost of a call is proportional to the number of engines. If n engines are left, the
    /// next call comes after n more engines were added, or after `followCount` has exceeded n / 2. So the calls add, on average,
    /// a constant cost to each addition and each merge.
    private func removeReleasedEngines() {
        let count = engines.count
        engines.removeAll { $0.engine == nil }
        (engineLimit, followCount) = (max(32, engines.count * 2), 0)
        if engines.count == count { return }
        enginesByKey = enginesByKey.filter { $0.value.engine != nil }
        busy = busy.filter { engine($0) != nil }
        index = ListIndex()
        for entry in engines {
            guard let engine = entry.engine else { continue }
            index.add(entry.number, engine.query, usesValues: engine.usesValues)
        }
    }

    /// Returns the engine with a number; nil if the engine was released.
    private func engine(_ number: Int) -> (any HubEngine)? {
        let position = partitioningIndex(engines.count) { engines[$0].number < number }
        guard position < engines.count, engines[position].number == number else { return nil }
        return engines[position].engine
    }

    /// Records whether an engine needs every save, and whether it has work to begin.
    func update(_ engine: any HubEngine) {
        if engine.needsEverySave { busy.insert(engine.number) } else { busy.remove(engine.number) }
        if engine.isReady { ready.insert(engine.number) }
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
        if !merged.saves.isEmpty {
            followCount += 1
            for number in index.lists(concernedBy: merged.saves).union(busy) {
                if let engine = engine(number) {
                    visitCount += 1
                    engine.enqueue(merged.saves, together: merged.makesOneReport)
                } else {
                    followCount += 1
                }
            }
            // Saves find only the released engines that they concern, so remove all released engines from time to time.
            if followCount > max(16, engines.count / 2) { removeReleasedEngines() }
        }
        if let staleness = merged.staleness { reload(ListReason.Kind(staleness)) }
    }

    /// Reloads the rows of all lists and aggregates.
    func reload(_ kind: ListReason.Kind) {
        for entry in engines { entry.engine?.reload(kind) }
    }

    /// Lets all engines work until no engine has work to do now.
    ///
    /// This function makes all reports, one by one. Notices and actions during a report are handled after the report.
    func drain() {
        if isDraining { return }
        isDraining = true
        takeTurns()
        isDraining = false
        let settled = waiting.map(\.isSettled)
        let done = zip(waiting, settled).filter(\.1)
        waiting = zip(waiting, settled).filter { !$0.1 }.map(\.0)
        for (waiter, _) in done { waiter.continuation.resume() }
    }

    /// Calls ``drain()`` when the main actor is free.
    func drainSoon() { Task { @MainActor [weak self] in self?.drain() } }

    /// Performs the actions, and lets the engines that have work take turns. A report can cause more actions and more work.
    private func takeTurns() {
        while true {
            if !actions.isEmpty {
                actions.removeFirst()()
            } else if let number = ready.takeFirst() {
                stepCount += 1
                engine(number)?.step()
            } else {
                return
            }
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
        (engines, enginesByKey) = ([], [:])
        (index, busy, ready) = (ListIndex(), [], TurnQueue())
        perform { for engine in ended { engine.finish() } }
    }

    /// Whether an action waits, or an engine has work to begin, and ``drain()`` is not running.
    var isWaiting: Bool {
        !isDraining && (!actions.isEmpty || ready.numbers.contains { engine($0)?.isReady ?? false })
    }

    /// Whether all engines have reported everything.
    var isIdle: Bool { !isDraining && !isWaiting && !busy.contains { engine($0)?.isWorking ?? false } }

    /// Waits until each engine has settled the notices that it has now. Does not wait for later notices.
    func waitUntilReported() async {
        // The engines that are not busy have settled all of their notices.
        let lists = busy.compactMap { engine($0) }.map { (Entry(number: $0.number, engine: $0), $0.noticeCount) }
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
