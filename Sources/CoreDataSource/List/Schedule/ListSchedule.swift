package import RowStore

/// What a list does next, and what it reports. It is a value that decides, and does nothing.
///
/// It takes saves in their order, and hands out at most one piece of work at a time. A few rows are merged on the main actor;
/// many are prepared off it, and so is everything that has to be read. Meanwhile the list shows its previous state as a whole,
/// and later saves wait.
///
/// When deletions leave fewer rows than a window shows, the rows after the last one are read. They may belong to a later save
/// than the remaining rows, which are brought up to that save first.
package struct ListSchedule {
    package enum Event {
        /// Saves were made, in this order.
        case saves([ChangeSet])
        /// The rows must be read again.
        case reload(ListReason.Kind)
        /// The next piece of work can begin. If every save is wanted, each makes a report of its own.
        case turn(isEverySaveWanted: Bool)
        /// The work that was handed out has ended.
        case workEnded(ListWork.Outcome)
        /// The list follows no more saves.
        case finish
    }

    package enum Action {
        case none
        /// Do the work, and send ``Event/workEnded(_:)``; on the main actor at once, without any other event before it.
        case run(ListWork, onMain: Bool)
        /// Send the report to all who show the list.
        case notify(ListReport)
        /// Report that the rows could not be read; the next notice tries again.
        case fail(DataSourceError)
        /// Report that no more reports follow.
        case stop
    }

    let query: ListQuery
    package private(set) var state: ListState
    /// The state of the last report, or a newer one that looks the same: what those show who have taken all reports.
    package private(set) var reportedState: ListState
    /// Why the list last changed.
    package private(set) var lastUpdateReason: ListReason
    /// How many states there have been.
    private var version = 0
    /// Everything up to this save has been handled.
    private var asOf: Int64
    private var pending: [Kept] = []
    /// The work that is being done.
    private var work: ListWork?
    /// Why the rows must be read, if they must.
    private var reading: ListReason?
    /// The rows that count as changed since the last work that read rows, though they may be the same.
    private var touched = TouchedRows()
    /// The number of the state whose rows are indexed by key; -1 for none.
    private var indexedVersion = -1
    /// Whether the rows could not be read from the store; the next notice tries again.
    private(set) var isRefused = false
    /// Whether there was a notice since the last work off the main actor began.
    private var hasNews = false
    /// How many notices there were: groups of saves that concern the list, and demands to read.
    package private(set) var noticeCount = 0
    /// So many notices, from the first on, are reported, or could not be.
    private var settledCount = 0
    /// The first notice that waits until the rows are read.
    private var firstUnread: Int?
    /// Whether nothing is followed any more.
    private var isFinished = false
    /// How many bytes the waiting saves may use before the rows are read instead.
    private let pendingByteLimit: Int
    private let mostRowsOnMain: Int

    /// A save that is not yet part of the state.
    private struct Kept {
        let changes: ChangeSet
        /// The number of its notice, from 1 on.
        let notice: Int
        /// How much memory it uses, if it has to wait for work that is being done.
        let byteCount: Int
    }

    /// - Parameters:
    ///   - state: Nil to have the rows read off the main actor; until then the list is empty.
    ///   - mostRowsOnMain: More rows than this are not merged on the main actor.
    package init(
        _ query: ListQuery, _ state: ListState?, pendingByteLimit: Int = .max, mostRowsOnMain: Int = 256
    ) {
        self.query = query
        self.state = state ?? .unread(query)
        reportedState = self.state
        self.pendingByteLimit = pendingByteLimit
        self.mostRowsOnMain = mostRowsOnMain
        asOf = self.state.asOf
        lastUpdateReason = ListReason(.initial, requeriesStore: query.requeriesStore)
        lastUpdateReason.didReadStore = true
        lastUpdateReason.rowCount = self.state.count
        if state == nil {
            reading = lastUpdateReason
            (noticeCount, firstUnread) = (1, 1)
        }
    }

    /// Whether the rows have been read.
    var isFilled: Bool { asOf >= 0 }

    /// Whether work is being done.
    package var isWorking: Bool { work != nil }

    /// Whether there are saves, or anything else, that are not yet part of the state.
    package var isBehind: Bool { isWorking || reading != nil || !pending.isEmpty }

    /// Whether a turn can begin work.
    package var isReady: Bool { !isWorking && !isRefused && !isFinished && isBehind }

    /// Whether so many notices, from the first on, are reported or could not be. Later ones may still wait.
    package func isSettled(_ notices: Int) -> Bool { work == nil || isFinished || settledCount >= notices }

    /// How much memory the waiting saves use, in bytes.
    package var pendingByteCount: Int { pending.reduce(0) { $0 + $1.byteCount } }

    /// Takes the next event. Nothing but ``Action/none`` follows ``Action/stop``.
    package mutating func take(_ event: Event) -> Action {
        if isFinished {
            if case .workEnded = event { work = nil }
            return .none
        }
        switch event {
        case .saves(let changes): enqueue(changes)
        case .reload(let kind):
            noticeCount += 1
            reload(kind, from: noticeCount)
        case .turn(let isEverySaveWanted): return nextWork(isEverySaveWanted)
        case .workEnded(let outcome): return end(outcome)
        case .finish:
            isFinished = true
            lastUpdateReason = ListReason(.closed, requeriesStore: query.requeriesStore)
            return .stop
        }
        return .none
    }
}

// MARK: - Notices

extension ListSchedule {
    private mutating func enqueue(_ changes: [ChangeSet]) {
        let concerning = changes.filter { $0.number > asOf && query.concerns($0) }
        if concerning.isEmpty { return }
        noticeCount += 1
        if query.requeriesStore {
            touch(query.touchedRows(in: concerning))
            reload(.save, from: noticeCount)
            if reading?.kind == .save { reading?.note(concerning, ofEntities: query.watched) }
        } else if reading == nil {
            keep(concerning)
        } else {
            // The rows are about to be read, and will not show which objects were others in between.
            touch(query.touchedRows(in: concerning))
            mustRead(from: noticeCount)
        }
        noteNews()
    }

    /// Keeps saves until the work that is being done has ended. Beyond a bound all of them are forgotten, and the rows are
    /// read.
    private mutating func keep(_ saves: [ChangeSet]) {
        for changes in saves {
            pending.append(
                Kept(changes: changes, notice: noticeCount, byteCount: isWorking ? changes.byteCount : 0))
        }
        if pendingByteCount > pendingByteLimit { reload(.backlog, from: pending[0].notice) }
    }

    /// Notes rows that count as changed. Of many, only those matter that the list holds, once it has no work that changes them.
    private mutating func touch(_ rows: TouchedRows) {
        touched.formUnion(rows)
        if work == nil, touched.count > 2 * state.rows.count + 4096 { touched = touched.limited(to: state.rows) }
    }

    /// - Parameter notice: The first notice that waits until the rows are read.
    private mutating func mustRead(from notice: Int) { firstUnread = min(firstUnread ?? notice, notice) }

    private mutating func reload(_ kind: ListReason.Kind, from notice: Int) {
        // Observers that wait for the first rows, or for those after a reset, must be notified.
        let isKept = reading.map { $0.kind == .initial || $0.kind == .reset || $0.kind == kind } ?? false
        if !isKept { reading = ListReason(kind, requeriesStore: query.requeriesStore) }
        // The rows that are read are newer than all of them.
        touch(query.touchedRows(in: pending.map(\.changes)))
        mustRead(from: min(pending.first?.notice ?? notice, notice))
        pending = []
        noteNews()
    }

    private mutating func noteNews() {
        hasNews = true
        isRefused = false
    }
}

// MARK: - Work

extension ListSchedule {
    private mutating func nextWork(_ isEverySaveWanted: Bool) -> Action {
        guard isReady else { return .none }
        // A read has met some of the saves that came while it was done, but it did not show which objects were others in between.
        let covered = pending.filter { $0.changes.number <= asOf }.map(\.changes)
        pending.removeAll { $0.changes.number <= asOf }
        var unseen = query.rowsChangedAgain(in: covered)
        unseen.keys.formUnion(query.links.owners(in: covered))
        if let reading {
            touch(unseen)
            (self.reading, firstUnread) = (nil, nil)
            return begin(reading, .read)
        }
        if !unseen.isEmpty { return begin(ListReason(.save), .redraw(unseen, covered)) }
        if pending.isEmpty { return .none }
        let saves = isEverySaveWanted ? [pending.removeFirst().changes] : pending.map(\.changes)
        if !isEverySaveWanted { pending = [] }
        let reason = ListReason(saves.allSatisfy(\.isTakeBack) ? .takenBack : .save)
        return begin(reason, query.followsRelatedRows ? .follow(saves, version: version) : .merge(saves))
    }

    /// Hands out a small piece of work to be done at once, and a large one to be done elsewhere.
    private mutating func begin(_ reason: ListReason, _ task: ListWork.Task) -> Action {
        var (touched, unindexedCount) = (TouchedRows(), 0)
        switch task {
        case .read: swap(&touched, &self.touched)
        case .merge(let saves) where indexedVersion != version && saves.contains(where: query.links.isAny):
            unindexedCount = state.rows.count
        case .redraw where indexedVersion != version: unindexedCount = state.rows.count
        default: break
        }
        let next = ListWork(
            state: state, version: version, reason: reason, task: task, touched: touched,
            unindexedCount: unindexedCount)
        let isOnMain = next.rowCount <= mostRowsOnMain
        if !isOnMain { hasNews = false }
        work = next
        return .run(next, onMain: isOnMain)
    }

    private mutating func end(_ outcome: ListWork.Outcome) -> Action {
        guard let ended = work else { return .none }
        work = nil
        switch ended.task {
        case .merge(let saves): asOf = max(asOf, saves.last?.number ?? asOf)
        case .follow(let saves, _):
            asOf = max(asOf, saves.last?.number ?? asOf)
            if reading == nil { break }
            // All rows are about to be read, as after a reset: then those that were read now are of the new store. What the
            // rows by their keys have gone on to is not shown.
            version += 1
            touch(query.touchedRows(in: saves))
            mustRead(from: settledCount + 1)
            return .none
        case .read, .readOn, .join, .redraw: break
        }
        switch outcome {
        case .unchanged(let state):
            show(state, after: ended)
            // What failed has succeeded now, though the list shows no change.
            if lastUpdateReason.kind == .failure { lastUpdateReason = ended.reason }
            settle()
        case .changed(let report):
            show(report.new, after: ended)
            reportedState = report.new
            lastUpdateReason = report.reason
            settle()
            return .notify(report)
        case .mustRead:
            // The rows by their keys have been updated to a state that is not shown.
            version += 1
            keepTouched(of: ended)
            reload(.save, from: settledCount + 1)
        case .isShort(let short): return begin(short.reason, .readOn(short))
        case .hasRead(let short, let tail): return join(short, tail)
        case .failed(let error):
            keepTouched(of: ended)
            settle()
            return fail(error, ended.reason)
        }
        return .none
    }

    /// All notices are settled up to the first that still waits.
    private mutating func settle() {
        settledCount = min(pending.first?.notice ?? .max, firstUnread ?? .max, noticeCount + 1) - 1
    }

    private mutating func show(_ state: ListState, after ended: ListWork) {
        self.state = state
        version += 1
        asOf = max(asOf, state.asOf)
        if ended.keepsIndex, ended.unindexedCount > 0 || indexedVersion == ended.version { indexedVersion = version }
    }

    /// The rows are read instead. They do not show which objects were others in between.
    private mutating func keepTouched(of ended: ListWork) {
        touch(ended.touched)
        switch ended.task {
        case .merge(let saves), .follow(let saves, _): touch(query.touchedRows(in: saves))
        case .readOn(let short): touched.keys.formUnion(short.net.keys)
        case .redraw(let rows, _): touch(rows)
        case .join(let short, _, let saves):
            touched.keys.formUnion(short.net.keys)
            touch(query.touchedRows(in: saves))
        case .read: break
        }
    }

    private mutating func join(_ short: ShortList, _ tail: RowTail) -> Action {
        // All rows are about to be read, as after a reset: then the rows that were left are of the old store.
        if reading != nil {
            touched.keys.formUnion(short.net.keys)
            mustRead(from: settledCount + 1)
            return .none
        }
        let newer = pending.map(\.changes).filter { $0.number <= tail.asOf }
        pending.removeAll { $0.changes.number <= tail.asOf }
        return begin(short.reason, .join(short, tail, newer))
    }

    private mutating func fail(_ error: DataSourceError, _ reason: ListReason) -> Action {
        // Saves that were noted meanwhile may have repaired it. Keep them, and keep in mind that these are the first rows, or
        // those after a reset.
        if reading == nil || reason.kind == .initial || reason.kind == .reset { reading = reason }
        isRefused = !hasNews
        // A container that is closed notifies its lists.
        if error.code == .storeClosed { return .none }
        lastUpdateReason = ListReason(.failure, requeriesStore: query.requeriesStore)
        lastUpdateReason.failure = error
        return .fail(error)
    }
}
