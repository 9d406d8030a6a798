internal import RowStore

/// Keeps the aggregates of one query up to date. Small saves are applied on the main actor. Large saves are applied off the main
/// actor, and rows are read off the main actor. The engine keeps no rows, with one exception. For groups of a to-many
/// relationship, the engine keeps the aggregated values of each row and the keys of the related objects, and reads the changed
/// rows and their links after each save.
@MainActor
final class AggregateEngine: HubEngine {
    /// The functions that show changes of the aggregates.
    @MainActor
    final class Subscriber {
        /// Whether the last change could not be shown. If true, the engine handles each save of its entities, so that the
        /// subscriber can try again.
        var hasFailed = false
        /// Gets the new state, and the groups that may have changed; nil for all groups.
        var onChange: (AggregateState, _ changed: Set<GroupIdentity>?, ListReason) -> Void = { _, _, _ in }
        var onFailure: (DataSourceError) -> Void = { _ in }
        /// No more changes follow.
        var onEnd: () -> Void = {}
    }

    private let worker: AggregateWorker
    private let hub: ListHub
    var number = 0
    weak var subscriber: Subscriber?
    private(set) var state: AggregateState
    /// The number of the newest save that the state includes.
    private var asOf: SaveNumber
    private var pending: [(save: ChangeSet, notice: Int, byteCount: Int)] = []
    /// The reason for the next read of all rows; nil if no read is needed.
    private var nextReadReason: ListReason?
    private var firstNoticeToRead: Int?
    private(set) var isWorking = false
    /// Whether the rows could not be read. They are read again after the next save that concerns the query, or the next reload.
    private var hasReadFailed = false
    private var isFinished = false
    private(set) var noticeCount = 0
    private var settledCount = 0

    private static let maxRowsOnMain = 256

    /// Reads all rows at once.
    init(_ query: ListQuery, _ plan: AggregateState.Plan, hub: ListHub) throws(DataSourceError) {
        self.hub = hub
        let requeriesStore =
            query.objectPredicate != nil || !query.joined.isEmpty || query.limit != nil || query.start != nil
        worker = AggregateWorker(
            query: query, plan: plan, requeriesStore: requeriesStore, root: hub.stack.root, layout: hub.stack.layout)
        (state, asOf) = try worker.reading(hub.pinned).read()
    }

    var query: ListQuery { worker.query }
    var isBehind: Bool { isWorking || nextReadReason != nil || !pending.isEmpty }
    var needsEverySave: Bool { isBehind || subscriber?.hasFailed ?? false }
    var usesValues: Bool { !worker.requeriesStore }
    var isReady: Bool { !isWorking && !hasReadFailed && !isFinished && isBehind }
    var pendingByteCount: Int { isWorking ? pending.reduce(0) { $0 + $1.byteCount } : 0 }

    func isSettled(_ notices: Int) -> Bool {
        isFinished || settledCount >= notices || !isBehind || hasReadFailed && !isWorking
    }

    // MARK: Notices

    func enqueue(_ changes: [ChangeSet], together: Bool) {
        let concerning = changes.filter { $0.saveNumber > asOf && worker.query.concerns($0) }
        if concerning.isEmpty { return }
        defer { hub.update(self) }
        noticeCount += 1
        hasReadFailed = false
        if worker.requeriesStore || nextReadReason != nil {
            var reason = nextReadReason ?? newReason(.save)
            if reason.kind == .save { reason.record(concerning, ofEntities: worker.query.watched, hub.names) }
            return mustRead(reason)
        }
        pending += concerning.map { ($0, noticeCount, $0.byteCount) }
        if pendingByteCount > hub.stack.root.unmergedByteLimit { mustRead(newReason(.backlog)) }
    }

    func reload(_ kind: ListReason.Kind) {
        defer { hub.update(self) }
        noticeCount += 1
        hasReadFailed = false
        mustRead(nextReadReason?.kind == .reset ? nextReadReason ?? newReason(kind) : newReason(kind))
    }

    func finish() {
        isFinished = true
        (pending, nextReadReason) = ([], nil)
        subscriber?.onEnd()
    }

    private func newReason(_ kind: ListReason.Kind) -> ListReason {
        ListReason(kind, requeriesStore: worker.requeriesStore)
    }

    /// Discards the pending saves: the read of all rows will include them.
    private func mustRead(_ reason: ListReason) {
        nextReadReason = reason
        firstNoticeToRead = min(firstNoticeToRead ?? noticeCount, pending.first?.notice ?? noticeCount)
        pending = []
    }

    // MARK: Work

    func step() {
        guard isReady else { return }
        defer { hub.update(self) }
        if let reason = nextReadReason {
            (nextReadReason, firstNoticeToRead) = (nil, nil)
            return start(.read, reason)
        }
        let saves = pending.map(\.save).filter { $0.saveNumber > asOf }
        pending = []
        var reason = newReason(saves.allSatisfy(\.isRollback) ? .rolledBack : .save)
        reason.record(saves, ofEntities: worker.query.watched, hub.names)
        reason.rowCount = saves.reduce(0) { $0 + worker.rowCount(of: $1) }
        if saves.isEmpty { return updateSettledCount() }
        if worker.followsLinks { return start(.follow(saves, Guarded(takeState())), reason) }
        if reason.rowCount > Self.maxRowsOnMain { return start(.apply(saves, state), reason) }
        let start = ContinuousClock.now
        let outcome = worker.apply(saves, to: takeState())
        reason.addTime(since: start)
        end(outcome, reason)
    }

    /// Returns the state, and leaves no copy of it in the engine. Therefore groups that a save does not change are not copied.
    /// If the save cannot be applied, all rows are read.
    private func takeState() -> AggregateState {
        defer { state = AggregateState(worker.plan) }
        return state
    }

    private func start(_ task: AggregateWorker.Task, _ reason: ListReason) {
        isWorking = true
        let (queue, worker) = (hub.queue, worker.reading(hub.pinned))
        queue.async {
            let start = ContinuousClock.now
            let outcome = worker.run(task)
            let wasPinned = worker.isPinned
            var reason = reason
            reason.addTime(since: start)
            reason.ranOffMain = true
            if task.readsStore { reason.didReadStore = true }
            Task { @MainActor [reason] in
                self.hub.perform {
                    // The rows that were read may be newer than the pinned rows, so read the pinned rows.
                    if task.readsStore, self.hub.pinned != nil, !wasPinned, !self.isFinished {
                        return self.start(.read, reason)
                    }
                    // The rows that were read may be newer than the objects of the main context.
                    if task.readsStore { self.hub.stack.mainNotifier.merge() }
                    self.isWorking = false
                    if !self.isFinished { self.end(outcome, reason) }
                    self.hub.update(self)
                }
            }
        }
    }

    private func end(_ outcome: AggregateWorker.Outcome, _ reason: ListReason) {
        switch outcome {
        case .failed(let error):
            if nextReadReason == nil {
                // If saves came during the failed work, read again at once: they may have removed the cause of the failure.
                hasReadFailed = pending.isEmpty
                mustRead(reason)
            }
            updateSettledCount()
            // A container that is closed notifies its lists itself.
            if error.code != .storeClosed { subscriber?.onFailure(error) }
        case .notApplied:
            if nextReadReason == nil { mustRead(reason) }
        case .applied(var new, let number):
            // All rows must be read again, for example after a reset.
            if nextReadReason != nil { return }
            if new.mustRead { return mustRead(reason) }
            let changed = new.takeChanges()
            show(new, number)
            subscriber?.onChange(new, changed, reason)
        case .read(let new, let number):
            // The rows are out of date, because the store was reset during the read.
            if nextReadReason?.kind == .reset { return }
            show(new, number)
            subscriber?.onChange(new, nil, reason)
        }
    }

    private func show(_ new: AggregateState, _ number: SaveNumber) {
        (state, asOf) = (new, max(asOf, number))
        updateSettledCount()
    }

    /// Settles all notices before the first notice that still waits.
    private func updateSettledCount() {
        settledCount = min(pending.first?.notice ?? .max, firstNoticeToRead ?? .max, noticeCount + 1) - 1
    }
}

/// Does the work of an aggregate, on or off the main actor.
struct AggregateWorker: Sendable {
    let query: ListQuery
    let plan: AggregateState.Plan
    /// Whether all rows are read after each save.
    let requeriesStore: Bool
    let root: RootTier
    let layout: ModelLayout
    /// The rows of a pinned main context; nil for the newest rows.
    var pinned: PinnedRows?

    enum Task: Sendable {
        case apply([ChangeSet], AggregateState)
        /// Read the rows that saves have changed, with the links of these rows. The task takes the state out of the lock, so that
        /// no copy is made.
        case follow([ChangeSet], Guarded<AggregateState?>)
        case read

        var readsStore: Bool {
            switch self {
            case .apply: false
            case .follow, .read: true
            }
        }
    }

    enum Outcome: Sendable {
        /// The new state, and the number of its newest save.
        case applied(AggregateState, SaveNumber)
        case read(AggregateState, SaveNumber)
        /// The rows could not be read.
        case failed(DataSourceError)
        /// The predicate could not be evaluated for a row of a save, or the changed rows could not be read. All rows are then
        /// read, because a later save may have changed the row.
        case notApplied
    }

    /// Whether the rows and links that a save changes are read after the save.
    var followsLinks: Bool { plan.links != nil && !requeriesStore }

    /// Whether all rows so far were read from a snapshot that has not ended.
    var isPinned: Bool { pinned.map { !$0.hasEnded } ?? false }

    private var source: RowSource { pinned.map { .pinned($0) } ?? root.rows }

    /// Returns a worker that reads the pinned rows, or the newest rows if there are none.
    func reading(_ pinned: PinnedRows?) -> AggregateWorker {
        var worker = self
        worker.pinned = pinned
        return worker
    }

    func run(_ task: Task) -> Outcome {
        do throws(DataSourceError) {
            switch task {
            case .read:
                let (state, asOf) = try read()
                return .read(state, asOf)
            case .apply(let saves, let state): return apply(saves, to: state)
            case .follow(let saves, let state):
                guard let state = state.withLock({ $0.take() }), let links = plan.links else { return .notApplied }
                return follow(saves, state, links)
            }
        } catch { return .failed(error) }
    }

    private func follow(
        _ saves: [ChangeSet], _ state: consuming AggregateState, _ links: GroupLinks
    ) -> Outcome {
        do throws(DataSourceError) {
            try state.follow(saves, of: query, groupedBy: links, source, layout)
            return .applied(state, saves.last?.saveNumber ?? .beforeFirst)
        } catch { return .notApplied }
    }

    func apply(_ saves: [ChangeSet], to state: consuming AggregateState) -> Outcome {
        do throws(DataSourceError) {
            let budget = QueryBudget()
            for save in saves { try state.apply(save, to: query, budget) }
            return .applied(state, saves.last?.saveNumber ?? .beforeFirst)
        } catch { return .notApplied }
    }

    /// The number of changed rows in a save that may match the query.
    func rowCount(of save: ChangeSet) -> Int {
        save.entities.lazy.filter { query.family.contains($0.entity) }
            .reduce(0) { $0 + $1.inserted.count + $1.updated.count + $1.deleted.count }
    }

    /// Calculates the aggregates from all rows, including uncommitted saves. The rows are not kept.
    func read() throws(DataSourceError) -> (AggregateState, asOf: SaveNumber) {
        if let links = plan.links { return try read(links) }
        var state = AggregateState(plan)
        if !requeriesStore, let entity = query.family.first {
            var rows = RowQuery(entity: entity, predicate: query.predicate, columns: plan.columns)
            rows.isOrdered = false
            if query.family.count == 1, let asOf = try source.forEachCommittedRow(rows, { state.add($0) }) {
                _ = state.takeChanges()
                return (state, asOf)
            }
            state = AggregateState(plan)
            // Read the rows with these columns only.
            let (found, asOf) = try source.rows(rows, ofEntities: query.family, layout)
            for (_, rows) in found { for row in rows { state.add(row) } }
            _ = state.takeChanges()
            return (state, asOf)
        }
        let list = try ListState.read(query, source, layout)
        for index in 0..<list.count { state.add(list.rows[index].stored) }
        _ = state.takeChanges()
        return (state, list.asOf)
    }

    /// Calculates the aggregates from all rows and their links, read from one state of the store.
    private func read(_ links: GroupLinks) throws(DataSourceError) -> (AggregateState, asOf: SaveNumber) {
        try source.withOneState { source throws(DataSourceError) in
            var (state, rows, asOf) = (AggregateState(plan), [EntityRow](), SaveNumber.beforeFirst)
            if requeriesStore {
                let list = try ListState.read(query, source, layout)
                rows = (0..<list.count).map { (list.rows[$0].entity, list.rows[$0].stored) }
                asOf = list.asOf
            } else {
                var all = RowQuery(entity: query.entity, predicate: query.predicate, columns: plan.columns)
                all.isOrdered = false
                let found = try source.rows(all, ofEntities: query.family, layout)
                for (entity, stored) in found.rows { rows += stored.map { (entity, $0) } }
                asOf = found.asOf
            }
            try links.forEach(rows, in: SourceView(source: source, layout: layout), QueryBudget()) {
                state.add($0, toGroupsOf: $1, isKept: followsLinks)
            }
            _ = state.takeChanges()
            return (state, asOf)
        }
    }
}
