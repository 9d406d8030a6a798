package import RowStore

/// Decides what a list does next and what the list reports. The value has no side effects.
///
/// The schedule takes saves in their order, and returns at most one piece of work at a time. A few changed rows are merged on
/// the main actor. Many changed rows are merged off the main actor, and all reads also run off the main actor. During such work
/// the list shows its whole previous state, and later saves wait.
///
/// If deletions leave fewer rows than the limit, the rows after the last row are read. The read may already include saves that
/// the list has not merged yet. These saves are first applied to the remaining rows. Then the rows that were read are appended.
package struct ListSchedule {
    package enum Event {
        /// Saves were made, in this order. If `together` is true, they make one report, even for a subscriber that wants a report
        /// for each save.
        case saves([ChangeSet], together: Bool = false)
        /// The rows must be read again.
        case reload(ListReason.Kind)
        /// The next piece of work can begin. If a subscriber wants every save, each save makes its own report.
        case beginWork(isEverySaveWanted: Bool)
        /// The last returned work has ended.
        case workEnded(ListWork.Outcome)
        /// A new day has begun, so the titles of sections may have changed.
        case dayChange
        /// No more saves follow.
        case finish
    }

    package enum Action {
        case none
        /// Do the work, and afterwards send ``Event/workEnded(_:)``. Do work on the main actor at once, before any other event.
        case run(ListWork, onMain: Bool)
        /// Send the report to all subscribers.
        case notify(ListReport)
        /// Notify the subscribers that the rows could not be read. The rows are read again after the next save that concerns
        /// the list, or the next reload.
        case fail(DataSourceError)
        /// Notify the subscribers that no more reports follow.
        case stop
    }

    let query: ListQuery
    package private(set) var state: ListState
    /// The state of the last report, or a newer state with the same rows to show. A subscriber that has taken all reports shows
    /// this state.
    package private(set) var reportedState: ListState
    /// The reason for the last change.
    package private(set) var lastUpdateReason: ListReason
    /// The number of ``state``.
    private var version = 0
    /// The number of the newest save that was handled. All earlier saves were handled too.
    private var asOf: SaveNumber
    private var pending: [PendingSave] = []
    private var work: ListWork?
    /// The reason for the next read; nil if no read is needed.
    private var nextReadReason: ListReason?
    /// The rows that the next read counts as changed, even if the read finds them unchanged.
    private var touched = TouchedRows()
    /// The number of the state whose rows are indexed by key; -1 if no state is indexed.
    private var indexedVersion = -1
    /// Whether the rows could not be read. They are read again after the next notice (see ``noticeCount``).
    private(set) var hasReadFailed = false
    /// Whether a notice has come since the last work off the main actor began.
    private var hasNewNotice = false
    /// The number of notices so far. A notice is a group of saves that concern the list, or a reload.
    package private(set) var noticeCount = 0
    /// Every notice up to this number is settled: it was reported or has failed.
    private var settledCount = 0
    /// The number of the first notice that waits for a read.
    private var firstNoticeToRead: Int?
    private var isFinished = false
    /// Whether the subscribers are being notified. During the notification, a subscriber can still show rows that have left the
    /// list. So the schedule must get the saves of all rows, not only of the rows in the list.
    package var isReporting = false
    /// The largest memory of the waiting saves, in bytes. Beyond this limit, the rows are read instead.
    private let pendingByteLimit: Int
    private let maxRowsOnMain: Int

    /// A save that is not part of the state yet.
    private struct PendingSave {
        let changes: ChangeSet
        /// The number of the save's notice, counted from 1.
        let notice: Int
        /// The memory of the save, in bytes, if the save waits for running work; otherwise 0.
        let byteCount: Int
        /// Whether the save belongs to the report of the previous save.
        let isContinuation: Bool
    }

    /// - Parameters:
    ///   - state: The first state. Nil to read the rows off the main actor; the list is empty until the rows were read.
    ///   - maxRowsOnMain: The largest number of rows to merge on the main actor.
    package init(
        _ query: ListQuery, _ state: ListState?, pendingByteLimit: Int = .max, maxRowsOnMain: Int = 256
    ) {
        self.query = query
        self.state = state ?? .unread(query)
        reportedState = self.state
        self.pendingByteLimit = pendingByteLimit
        self.maxRowsOnMain = maxRowsOnMain
        asOf = self.state.asOf
        lastUpdateReason = ListReason(.initial, requeriesStore: query.requeriesStore)
        lastUpdateReason.didReadStore = true
        lastUpdateReason.rowCount = self.state.count
        if state == nil {
            nextReadReason = lastUpdateReason
            (noticeCount, firstNoticeToRead) = (1, 1)
        }
    }

    var isFilled: Bool { asOf >= .beforeFirst }

    package var isWorking: Bool { work != nil }

    /// Whether there are saves, or a reload, that the state does not include yet.
    package var isBehind: Bool { isWorking || nextReadReason != nil || !pending.isEmpty }

    /// Whether the schedule must get all saves of its entities, even those that change no row of the list.
    package var needsEverySave: Bool { isBehind || isReporting }

    /// Whether ``Event/beginWork(isEverySaveWanted:)`` can begin work.
    package var isReady: Bool { !isWorking && !hasReadFailed && !isFinished && isBehind }

    /// Whether each of the first `notices` notices was reported or has failed. Later notices may still wait.
    package func isSettled(_ notices: Int) -> Bool { work == nil || isFinished || settledCount >= notices }

    /// The memory of the waiting saves, in bytes.
    package var pendingByteCount: Int { pending.reduce(0) { $0 + $1.byteCount } }

    /// Takes the next event. After ``Action/stop``, returns only ``Action/none``.
    package mutating func handle(_ event: Event) -> Action {
        if isFinished {
            if case .workEnded = event { work = nil }
            return .none
        }
        switch event {
        case .saves(let changes, let together): enqueue(changes, together)
        case .reload(let kind):
            noticeCount += 1
            reload(kind, from: noticeCount)
        case .beginWork(let isEverySaveWanted): return nextWork(isEverySaveWanted)
        case .workEnded(let outcome): return end(outcome)
        case .dayChange: return isFilled ? .notify(dayReport()) : .none
        case .finish:
            isFinished = true
            lastUpdateReason = ListReason(.closed, requeriesStore: query.requeriesStore)
            return .stop
        }
        return .none
    }
}

extension ListSchedule {
    /// Makes a report without changes.
    private mutating func dayReport() -> ListReport {
        let reason = ListReason(.dayChange, requeriesStore: query.requeriesStore)
        if lastUpdateReason.kind != .failure { lastUpdateReason = reason }
        return ListReport(from: reportedState, to: reportedState, NetChanges(), nil, reason, since: .now)
    }
}

// MARK: - Notices

extension ListSchedule {
    private mutating func enqueue(_ changes: [ChangeSet], _ together: Bool) {
        let concerning = changes.filter { $0.saveNumber > asOf && query.concerns($0) }
        guard let last = concerning.last else { return }
        if isUnaffected(by: concerning) { return asOf = last.saveNumber }
        noticeCount += 1
        if query.requeriesStore {
            touch(query.touchedRows(in: concerning))
            reload(.save, from: noticeCount)
            if nextReadReason?.kind == .save { nextReadReason?.record(concerning, ofEntities: query.watched) }
        } else if nextReadReason == nil {
            keep(concerning, together)
        } else {
            // The next read does not show which rows had other values in between, so count all rows of the saves as changed.
            touch(query.touchedRows(in: concerning))
            mustRead(from: noticeCount)
        }
        recordNotice()
    }

    /// Whether the saves change only a few rows, and certainly leave the list as it is. If so, the list needs no work. If there
    /// are many lists, a small save affects few of them, and this check costs much less than a merge of the save. Saves of many
    /// rows, such as all saves after a pin, are not checked, because they are merged off the main actor.
    private func isUnaffected(by saves: [ChangeSet]) -> Bool {
        // A list whose rows could not be read is behind: it reads its rows again after each save.
        guard isFilled, !needsEverySave, !query.requeriesStore, !query.followsRelatedRows else { return false }
        var rowCount = 0
        for save in saves {
            rowCount += save.rowCount
            if rowCount > 16 { return false }
        }
        return !query.mayShowRows(of: saves)
    }

    /// Keeps saves until the running work has ended. Beyond the memory limit, drops all kept saves and reads the rows instead.
    private mutating func keep(_ saves: [ChangeSet], _ together: Bool) {
        for (index, changes) in saves.enumerated() {
            pending.append(
                PendingSave(
                    changes: changes, notice: noticeCount, byteCount: isWorking ? changes.byteCount : 0,
                    isContinuation: together && index > 0))
        }
        if pendingByteCount > pendingByteLimit { reload(.backlog, from: pending[0].notice) }
    }

    /// Adds rows that count as changed. If there are many, drops the rows that are not in the list, unless work is
    /// running that may change the list.
    private mutating func touch(_ rows: TouchedRows) {
        touched.formUnion(rows)
        if work == nil, touched.count > 2 * state.rows.count + 4096 { touched = touched.limited(to: state.rows) }
    }

    /// - Parameter notice: The number of the first notice that waits for the read.
    private mutating func mustRead(from notice: Int) { firstNoticeToRead = min(firstNoticeToRead ?? notice, notice) }

    private mutating func reload(_ kind: ListReason.Kind, from notice: Int) {
        // Keep the reasons for the first rows and for a reset, because observers must be notified of both.
        let isKept = nextReadReason.map { $0.kind == .initial || $0.kind == .reset || $0.kind == kind } ?? false
        if !isKept { nextReadReason = ListReason(kind, requeriesStore: query.requeriesStore) }
        // The read will include all pending saves.
        touch(query.touchedRows(in: pending.map(\.changes)))
        mustRead(from: min(pending.first?.notice ?? notice, notice))
        pending = []
        recordNotice()
    }

    private mutating func recordNotice() {
        hasNewNotice = true
        hasReadFailed = false
    }
}

// MARK: - Work

extension ListSchedule {
    private mutating func nextWork(_ isEverySaveWanted: Bool) -> Action {
        guard isReady else { return .none }
        // The last read already includes the waiting saves that were committed before it. If one of these saves changed a row
        // and a later one changed it back, the read finds no change, although the row's cell may show the value in between.
        let covered = pending.filter { $0.changes.saveNumber <= asOf }.map(\.changes)
        pending.removeAll { $0.changes.saveNumber <= asOf }
        var unseen = query.rowsChangedAgain(in: covered)
        unseen.keys.formUnion(query.links.owners(in: covered))
        if let nextReadReason {
            touch(unseen)
            (self.nextReadReason, firstNoticeToRead) = (nil, nil)
            return begin(nextReadReason, .read)
        }
        if !unseen.isEmpty { return begin(ListReason(.save), .reportChanged(unseen, covered)) }
        if pending.isEmpty { return .none }
        let count = isEverySaveWanted ? 1 + pending.dropFirst().prefix(while: \.isContinuation).count : pending.count
        let saves = pending.prefix(count).map(\.changes)
        pending.removeFirst(count)
        let reason = ListReason(saves.allSatisfy(\.isRollback) ? .rolledBack : .save)
        return begin(reason, query.followsRelatedRows ? .follow(saves, version: version) : .merge(saves))
    }

    /// Returns the work, for the main actor if the work is small, and for the queue if the work is large.
    private mutating func begin(_ reason: ListReason, _ task: ListWork.Task) -> Action {
        var (touched, unindexedCount) = (TouchedRows(), 0)
        switch task {
        case .read: swap(&touched, &self.touched)
        case .merge(let saves) where indexedVersion != version && saves.contains(where: query.links.isAny):
            unindexedCount = state.rows.count
        case .reportChanged where indexedVersion != version: unindexedCount = state.rows.count
        default: break
        }
        let next = ListWork(
            state: state, version: version, reason: reason, task: task, touched: touched,
            unindexedCount: unindexedCount)
        let isOnMain = next.rowCount <= maxRowsOnMain
        if !isOnMain { hasNewNotice = false }
        work = next
        return .run(next, onMain: isOnMain)
    }

    private mutating func end(_ outcome: ListWork.Outcome) -> Action {
        guard let ended = work else { return .none }
        work = nil
        switch ended.task {
        case .merge(let saves): asOf = max(asOf, saves.last?.saveNumber ?? asOf)
        case .follow(let saves, _):
            asOf = max(asOf, saves.last?.saveNumber ?? asOf)
            if nextReadReason == nil { break }
            // All rows are read again anyway, so drop the outcome. After a reset, for example, the outcome can contain rows of
            // the new store. The index by key was advanced to a state that was not shown, so skip the number of that state.
            version += 1
            touch(query.touchedRows(in: saves))
            mustRead(from: settledCount + 1)
            return .none
        case .read, .readMore, .appendTail, .reportChanged: break
        }
        switch outcome {
        case .unchanged(let state):
            show(state, after: ended)
            // If the work succeeded after a failure, no report replaces the reason, because no shown row changed.
            if lastUpdateReason.kind == .failure { lastUpdateReason = ended.reason }
            updateSettledCount()
        case .changed(let report):
            show(report.new, after: ended)
            reportedState = report.new
            lastUpdateReason = report.reason
            updateSettledCount()
            return .notify(report)
        case .mustRead:
            // The index by key was advanced to a state that was not shown, so skip the number of that state.
            version += 1
            keepTouched(of: ended)
            reload(.save, from: settledCount + 1)
        case .isShort(let short): return begin(short.reason, .readMore(short))
        case .hasRead(let short, let tail): return appendTail(short, tail)
        case .failed(let error):
            keepTouched(of: ended)
            updateSettledCount()
            return fail(error, ended.reason)
        }
        return .none
    }

    /// Settles all notices before the first notice that still waits.
    private mutating func updateSettledCount() {
        settledCount = min(pending.first?.notice ?? .max, firstNoticeToRead ?? .max, noticeCount + 1) - 1
    }

    private mutating func show(_ state: ListState, after ended: ListWork) {
        self.state = state
        version += 1
        asOf = max(asOf, state.asOf)
        if ended.keepsIndex, ended.unindexedCount > 0 || indexedVersion == ended.version { indexedVersion = version }
    }

    /// Counts the rows of abandoned work as changed, because the next read does not show which rows had other values in
    /// between.
    private mutating func keepTouched(of ended: ListWork) {
        touch(ended.touched)
        switch ended.task {
        case .merge(let saves), .follow(let saves, _): touch(query.touchedRows(in: saves))
        case .readMore(let short): touched.keys.formUnion(short.net.keys)
        case .reportChanged(let rows, _): touch(rows)
        case .appendTail(let short, _, let saves):
            touched.keys.formUnion(short.net.keys)
            touch(query.touchedRows(in: saves))
        case .read: break
        }
    }

    private mutating func appendTail(_ short: ShortList, _ tail: RowTail) -> Action {
        // All rows must be read again. For example, after a reset the remaining rows belong to the old store.
        if nextReadReason != nil {
            touched.keys.formUnion(short.net.keys)
            mustRead(from: settledCount + 1)
            return .none
        }
        let newer = pending.map(\.changes).filter { $0.saveNumber <= tail.asOf }
        pending.removeAll { $0.changes.saveNumber <= tail.asOf }
        return begin(short.reason, .appendTail(short, tail, newer))
    }

    private mutating func fail(_ error: DataSourceError, _ reason: ListReason) -> Action {
        // Saves during the failed work may have removed the cause of the failure, so keep their reason for the next read. The
        // reason for the first rows or for the rows after a reset takes precedence.
        if nextReadReason == nil || reason.kind == .initial || reason.kind == .reset { nextReadReason = reason }
        hasReadFailed = !hasNewNotice
        // A container that is closed notifies its lists itself.
        if error.code == .storeClosed { return .none }
        lastUpdateReason = ListReason(.failure, requeriesStore: query.requeriesStore)
        lastUpdateReason.failure = error
        return .fail(error)
    }
}
