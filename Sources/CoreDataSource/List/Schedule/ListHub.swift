internal import QueryLanguage
internal import RowStore

/// What main has merged at once.
package struct MergedSaves {
    /// In their order.
    let saves: [ChangeSet]
    /// Whether the store was reset before.
    let isReset: Bool
    /// Why there were other changes, of which nothing is known; nil if there were none.
    let staleness: SaveLog.Staleness?
    /// Whether one of the saves changes links.
    let changesLinks: Bool
}

/// What follows main: the lists and the drafts.
@MainActor
package protocol MainFollower: AnyObject {
    /// Main has merged saves.
    func follow(_ merged: MergedSaves)

    /// No more saves are followed.
    func end()
}

/// The engines of all lists of a container: one for each query that is shown.
@MainActor
final class ListHub: MainFollower {
    let stack: PersistentStack
    let names: ListReason.Names
    /// Where large pieces of work are done, one after the other.
    let queue: any WorkQueue
    private var engines: [Entry] = []
    /// Whether lists follow no more saves.
    private(set) var isFinished = false
    private var isDraining = false
    /// What is done next, before any list continues.
    private var actions: [@MainActor () -> Void] = []
    private var waiting: [Waiter] = []

    private struct Entry {
        weak var engine: ListEngine?
    }

    /// A call that waits for what each list was notified of before it.
    private struct Waiter {
        let lists: [(entry: Entry, notices: Int)]
        let continuation: CheckedContinuation<Void, Never>

        @MainActor var isSettled: Bool { lists.allSatisfy { $0.entry.engine?.isSettled($0.notices) ?? true } }
    }

    init(_ stack: PersistentStack) {
        self.stack = stack
        queue = stack.root.scheduling.makeQueue("CoreDataSource.lists", false)
        names = ListReason.Names(layout: stack.layout) { [weak stack] entity in
            stack?.owner(ofEntity: entity)
        }
    }

    /// How many queries are followed.
    var count: Int { engines.count { $0.engine != nil } }

    /// How much memory the saves use that wait for work off the main actor, in bytes.
    var keptBytes: Int { engines.reduce(0) { $0 + ($1.engine?.pendingByteCount ?? 0) } }

    /// Whether no list needs to be notified of saves.
    var isEmpty: Bool { !engines.contains { $0.engine != nil } }

    // MARK: Engines

    /// The engine of a query, filled: an existing one that is up to date, or a new one whose rows are read now.
    func engine(_ key: ListKey, _ query: ListQuery) throws(DataSourceError) -> ListEngine {
        try stack.root.checkOpen()
        if let engine = find(key), !engine.isBehind { return engine }
        let engine = add(ListEngine(key, query, state: try .read(query, stack.root, stack.layout), hub: self))
        // The rows may be of a save that was made since main was prepared. The list has met it, and reports nothing of it, so no cell
        // may be drawn with relationships from before.
        if stack.root.hasUnmergedSaves { stack.mainWaker.mergeObjects() }
        return engine
    }

    /// The engine of a query; the rows of a new one are read off the main actor, and reported then.
    func engineToBeFilled(_ key: ListKey, _ query: ListQuery) -> ListEngine {
        guard let engine = find(key) else { return add(ListEngine(key, query, state: nil, hub: self)) }
        // Whoever begins to follow a list is told that it cannot be read, too.
        if engine.isRefused { engine.reload(.initial) }
        return engine
    }

    /// The engine of a query, filled: an existing one that is up to date, or a new one whose rows are read off the main actor.
    ///
    /// - Throws: What the store throws; `storeClosed`; `CancellationError`.
    func filledEngine(_ key: ListKey, _ query: ListQuery) async throws -> ListEngine {
        try stack.root.checkOpen()
        if let engine = find(key), engine.isFilled, !engine.isBehind { return engine }
        let engine = add(ListEngine(key, query, state: nil, hub: self))
        let first = FirstRows(of: engine)
        drainSoon()
        try await first.arrive()
        return engine
    }

    private func find(_ key: ListKey) -> ListEngine? {
        // The newest engine of a query is the last.
        engines.last { $0.engine?.key == key }?.engine
    }

    private func add(_ engine: ListEngine) -> ListEngine {
        engines.removeAll { $0.engine == nil }
        engines.append(Entry(engine: engine))
        return engine
    }

    // MARK: Following

    func follow(_ merged: MergedSaves) {
        if merged.isReset { reload(.reset) }
        if !merged.saves.isEmpty { for entry in engines { entry.engine?.enqueue(merged.saves) } }
        if let staleness = merged.staleness { reload(ListReason.Kind(staleness)) }
    }

    /// Reloads the rows of all lists.
    func reload(_ kind: ListReason.Kind) {
        for entry in engines { entry.engine?.reload(kind) }
    }

    /// Brings all lists up to date.
    ///
    /// All reports are made here, one after the other: what is noticed during a report, or done in one, is handled after it.
    func drain() {
        if isDraining { return }
        isDraining = true
        while takeTurn() {}
        isDraining = false
        let settled = waiting.map(\.isSettled)
        let done = zip(waiting, settled).filter(\.1)
        waiting = zip(waiting, settled).filter { !$0.1 }.map(\.0)
        for (waiter, _) in done { waiter.continuation.resume() }
    }

    /// The same, as soon as main is free.
    func drainSoon() { Task { @MainActor [weak self] in self?.drain() } }

    /// - Returns: Whether there may be more to do now.
    private func takeTurn() -> Bool {
        if !actions.isEmpty {
            actions.removeFirst()()
            return true
        }
        return engines.compactMap(\.engine).contains { $0.step() }
    }

    /// Does what may make a report: now, or after the report that is being made.
    func perform(_ action: @escaping @MainActor () -> Void) {
        actions.append(action)
        drain()
    }

    /// Ends all lists; they get no more notices.
    func end() {
        isFinished = true
        let ended = engines.compactMap(\.engine)
        engines = []
        perform { for engine in ended { engine.finish() } }
    }

    /// Whether a list has something to do that nobody has begun.
    var isWaiting: Bool { !isDraining && (!actions.isEmpty || engines.contains { $0.engine?.isReady ?? false }) }

    /// Whether all lists have reported everything.
    var isIdle: Bool { !isDraining && !isWaiting && !engines.contains { $0.engine?.isWorking ?? false } }

    /// Returns once all lists show, or have failed to show, what they were notified of so far. Later notices are not waited
    /// for.
    func settle() async {
        let lists = engines.map { ($0, $0.engine?.noticeCount ?? 0) }
        if lists.allSatisfy({ $0.engine?.isSettled($1) ?? true }) { return }
        await withCheckedContinuation { waiting.append(Waiter(lists: lists, continuation: $0)) }
    }
}

/// The identity of a list: two lists with the same value share an engine.
struct ListKey: Hashable {
    let entity: Int
    let family: [Int]
    let predicate: RowPredicate
    let joined: [JoinedColumn]
    let sort: [SortKey]
    /// The key path that divides the rows into sections.
    let section: AnyKeyPath?
    let limit: Int?
    /// Where it begins.
    var start: RowCursor?
    /// The test of the objects.
    let test: PredicateTree?
    /// Whether its rows lack large values.
    let defersValues: Bool

    init(_ query: ListQuery, section: AnyKeyPath?, test: PredicateTree?) {
        (entity, family, predicate, joined) = (query.entity, query.family, query.predicate, query.joined)
        (sort, limit) = (query.order.sort, query.limit)
        start = query.start.map(query.order.place)
        self.section = section
        self.test = test
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
