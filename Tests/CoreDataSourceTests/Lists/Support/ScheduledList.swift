import CoreDataSource
import RowStore
import TestSupport

/// A schedule that follows a world, and an observer that has on the screen what it was notified of.
///
/// It does what the schedule says, at moments that are drawn at random: notices come late, and work takes its time. Whatever
/// breaks a promise of the schedule is a problem. As in the hub, the schedule is not notified of saves that the index does not find it
/// for.
struct ScheduledList {
    private var world = ListWorld()
    private let plan: ListWorld.Plan
    private var schedule: ListSchedule
    private var index = ListIndex()
    private let rowsByKey = RowsByKey()
    private let isEverySaveWanted: Bool
    private let pendingByteLimit: Int
    /// What the schedule was not notified of yet, and the moment that each is of.
    private var notices: [(event: ListSchedule.Event, moment: Int)] = []
    /// What the list had to show at each moment, one after the other.
    private var moments: [ShownList] = []
    /// The notices that the schedule does not count as settled yet, by their numbers, and the moment that each is of.
    private var unsettled: [(notice: Int, moment: Int)] = []
    private var running: Running?
    private var screen: ShownList
    /// What the list had to show after each save. Before and after a reset it is the same save.
    private var past: [SaveNumber: [ShownList]] = [:]
    /// Whether the observer waits for the rows after a reset.
    private var owesReset = false
    private var isFinished = false
    private(set) var problems: [String] = []
    /// Decides about saves during reports.
    private var reporting: SeededRandom

    /// Work off the main actor.
    private struct Running {
        let work: ListWork
        /// What comes of it, as soon as it is done.
        var outcome: ListWork.Outcome?
        /// Whether there was a notice of a reset since it began.
        var isBeforeReset = false
    }

    init(_ random: inout SeededRandom) {
        var plan = ListWorld.Plan(&random)
        if random.next(below: 3) == 0 { plan.followRelatedRows() }
        self.plan = plan
        for _ in 0..<random.next(below: 12) { _ = world.save(&random) }
        let state = random.next(below: 2) == 0 ? world.state(plan) : nil
        isEverySaveWanted = random.next(below: 3) == 0
        pendingByteLimit = random.next(below: 4) == 0 ? 1000 : .max
        schedule = ListSchedule(plan.query, state, pendingByteLimit: pendingByteLimit, maxRowsOnMain: 4)
        screen = ShownList(schedule.state)
        index.add(0, plan.query)
        reporting = SeededRandom(seed: UInt64(random.next(below: 1_000_000)))
        notePast()
    }

    private mutating func notePast() {
        moments.append(world.shown(plan))
        past[world.lastSave, default: []].append(world.shown(plan))
    }

    // MARK: Events

    /// Something happens.
    mutating func performRandomEvent(_ random: inout SeededRandom) throws {
        switch random.next(below: 40) {
        case 0..<10: save(&random)
        case 10..<16: notify()
        case 16..<26: try turn()
        case 26..<31: try work(fails: random.next(below: 6) == 0)
        case 31..<36: try endWork()
        case 36: reset()
        case 37:
            notices.removeAll { if case .saves = $0.event { true } else { false } }
            notices.append((.reload(.backlog), moments.count - 1))
        case 38 where running == nil: try perform(schedule.handle(.workEnded(.mustRead)))
        case 39 where random.next(below: 20) == 0: finish()
        default: break
        }
        checkSettled()
    }

    /// Whoever waits for a notice goes on when it counts as settled, and has to see on the screen what it is of, or something newer.
    private mutating func checkSettled() {
        if isFinished { return unsettled = [] }
        // The next work begins before anybody looks.
        if schedule.isReady { return }
        while let first = unsettled.first, schedule.isSettled(first.notice) {
            unsettled.removeFirst()
            // Rows that were read one by one may be newer than others.
            if plan.query.followsRelatedRows { continue }
            if !moments[first.moment...].contains(screen) {
                recordProblem("notice \(first.notice) is settled, but not shown")
            }
        }
    }

    private mutating func save(_ random: inout SeededRandom) {
        let save = world.save(&random)
        notePast()
        notices.append((.saves([save]), moments.count - 1))
    }

    private mutating func reset() {
        world.reset()
        notePast()
        notices = [(.reload(.reset), moments.count - 1)]
    }

    private mutating func notify() {
        for (notice, moment) in notices {
            if case .reload(.reset) = notice {
                owesReset = true
                running?.isBeforeReset = true
            }
            if case .saves(let saves, _) = notice, !schedule.needsEverySave, index.lists(concernedBy: saves).isEmpty {
                continue
            }
            let count = schedule.noticeCount
            guard case .none = schedule.handle(notice) else { return recordProblem("a notice made something happen") }
            if schedule.noticeCount > count { unsettled.append((schedule.noticeCount, moment)) }
        }
        notices = []
        if schedule.pendingByteCount > pendingByteLimit { recordProblem("\(schedule.pendingByteCount) bytes wait") }
    }

    private mutating func turn() throws {
        let isReady = schedule.isReady
        let action = schedule.handle(.beginWork(isEverySaveWanted: isEverySaveWanted))
        if !isReady, case .run = action { recordProblem("it was not ready, and began work") }
        try perform(action)
    }

    private mutating func work(fails: Bool) throws {
        guard let work = running?.work, running?.outcome == nil else { return }
        let failure = DataSourceError(.storeUnavailable, "a test")
        let done: ListWork.Outcome = fails ? .failed(failure) : try outcome(of: work)
        running?.outcome = done
    }

    private mutating func endWork() throws {
        guard let running, let outcome = running.outcome else { return }
        if running.work.mayBeAhead(outcome) { notify() }
        let isBeforeReset = self.running?.isBeforeReset ?? false
        self.running = nil
        try perform(schedule.handle(.workEnded(outcome)), isBeforeReset: isBeforeReset)
    }

    private mutating func finish() {
        let action = schedule.handle(.finish)
        if case .stop = action {} else if !isFinished { recordProblem("it did not stop") }
        isFinished = true
    }

    // MARK: Actions

    private mutating func perform(_ action: ListSchedule.Action, isBeforeReset: Bool = false) throws {
        if case .none = action {} else if isFinished { recordProblem("something happened after the end") }
        switch action {
        case .none: break
        // What could not be read is settled, too.
        case .fail: unsettled = []
        case .run(let work, let onMain):
            check(work)
            if onMain {
                try perform(schedule.handle(.workEnded(try outcome(of: work))), isBeforeReset: isBeforeReset)
            } else {
                running = Running(work: work, isBeforeReset: isBeforeReset)
            }
        case .notify(let report):
            schedule.isReporting = true
            if reporting.next(below: 6) == 0 {
                var random = reporting
                save(&random)
                reporting = random
                notify()
            }
            show(report)
            schedule.isReporting = false
            let isFilled = report.reason.kind == .reset || report.reason.kind == .initial
            if isFilled && !isBeforeReset { owesReset = false }
        case .stop: recordProblem("it stopped")
        }
        if ShownList(schedule.state) != screen {
            recordProblem("it shows \(ShownList(schedule.state)) without a report")
        }
    }

    private mutating func check(_ work: ListWork) {
        if running != nil { recordProblem("a second piece of work began") }
        switch work.task {
        case .merge(let saves), .follow(let saves, _):
            if isEverySaveWanted && saves.count > 1 { recordProblem("saves were taken together") }
            let numbers = [work.state.asOf] + saves.map(\.saveNumber)
            if zip(numbers, numbers.dropFirst()).contains(where: { $0 >= $1 }) {
                recordProblem("\(numbers) are out of order")
            }
        case .read, .readMore, .appendTail, .reportChanged: break
        }
    }

    private mutating func show(_ report: ListReport) {
        if ShownList(report.old) != screen { recordProblem("a report begins with \(ShownList(report.old))") }
        let new = ShownList(report.new)
        if let problem = screen.replay(report.difference, from: report.old, to: report.new, result: new) {
            recordProblem(problem)
        }
        // Rows that were read one by one may be newer than others.
        if plan.query.followsRelatedRows { return }
        if past[report.new.asOf]?.contains(new) != true { recordProblem("the list never was as in \(report.reason)") }
    }

    private mutating func recordProblem(_ problem: String) { problems.append(problem) }

    // MARK: The end

    /// Nothing fails any more: the list must show the newest save.
    mutating func settle(_ random: inout SeededRandom) throws {
        try work(fails: false)
        try endWork()
        // A list that could not be read waits for a save that concerns it.
        let before = past[world.lastSave]?.last
        while past[world.lastSave]?.last == before { save(&random) }
        notify()
        for _ in 0..<1000 where running != nil || schedule.isReady {
            try turn()
            try work(fails: false)
            try endWork()
        }
        if isFinished { return }
        if schedule.isBehind { recordProblem("it does not come to rest") }
        if screen != world.shown(plan) { recordProblem("it shows \(screen) instead of \(world.shown(plan))") }
        if owesReset { recordProblem("a reset was not reported") }
    }
}

// MARK: - Work

extension ScheduledList {
    private func outcome(of work: ListWork) throws -> ListWork.Outcome {
        switch work.task {
        case .merge(let saves):
            let net = try net(saves)
            if net.isEmpty { return .unchanged(work.state) }
            return outcome(work.state.applying(net, asOf: saves.last?.saveNumber ?? 0), net, work)
        case .follow(let saves, let version):
            let net = rowsByKey.advance(work.state, version: version, to: affectedRows(saves))
            return outcome(work.state.applying(net, asOf: saves.last?.saveNumber ?? 0), net, work)
        // The rows are as they were.
        case .reportChanged: return .unchanged(work.state)
        case .read:
            let new = world.state(plan)
            if !work.state.isRead { return .changed(ListReport(first: new, work.reason, since: .now)) }
            let (net, places) = NetChanges.comparing(work.state.rows, with: new.rows, of: new.query)
            return outcome(.state(new, places), net, work)
        case .readMore(let short): return .hasRead(short, world.tail(of: short.head, plan))
        case .appendTail(let short, let tail, let saves):
            return outcome(short.head.continued(by: tail, try net(saves)), try net(saves, after: short.net), work)
        }
    }

    private func net(_ saves: [ChangeSet], after net: NetChanges = NetChanges()) throws -> NetChanges {
        var net = net
        for save in saves { try net.add(save, to: plan.query) }
        return net
    }

    /// The present rows of those that saves changed.
    private func affectedRows(_ saves: [ChangeSet]) -> [Int64: ListedRow?] {
        var rows: [Int64: ListedRow?] = [:]
        for changes in saves.flatMap(\.entities) {
            for key in (changes.inserted + changes.deleted).map(\.key) + changes.updated.map(\.key) {
                rows[key] = .some(nil)
            }
        }
        for row in world.rows(plan) where rows[row.key] != nil { rows[row.key] = .some(row) }
        return rows
    }

    private func outcome(_ step: ListStep, _ net: NetChanges, _ work: ListWork) -> ListWork.Outcome {
        switch step {
        case .isStale: return .mustRead
        case .isShort(let head): return .isShort(ShortList(head: head, net: net, reason: work.reason))
        case .state(let new, let places):
            let report = ListReport(from: work.state, to: new, net, places, work.reason, since: .now)
            let isFilled = work.reason.kind == .initial || work.reason.kind == .reset
            return isFilled || !report.difference.isEmpty ? .changed(report) : .unchanged(new)
        }
    }
}
