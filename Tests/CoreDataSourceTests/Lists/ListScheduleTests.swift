import CoreDataSource
import RowStore
import TestSupport
import Testing

/// The schedule decides when a list merges, reads and reports; here it is asked without a queue, a store or a thread.
struct ListScheduleTests {
    private static let query = ListQuery(ListWorld.base, order: ListOrder(ListWorld.base, sort: []))
    private static let window = ListQuery(
        ListWorld.base, order: ListOrder(ListWorld.base, sort: []), limit: 1, reserve: 0)
    private static let failure = DataSourceError(.storeUnreadable, "a test")

    // MARK: Rows, saves and works

    private func row(_ key: Int64) -> ListedRow {
        let item = ListWorld.Item(entity: ListWorld.entities[0], number: key, text: nil)
        return ListedRow(entity: item.entity, key: key, row: ListWorld.row(key, item))
    }

    private func state(
        _ keys: ClosedRange<Int64>, _ query: ListQuery = query, isComplete: Bool = true, asOf: SaveNumber = 0
    ) -> ListState {
        ListState(query, RowStorage(keys.map(row)), isComplete: isComplete, asOf: asOf)
    }

    private func save(_ number: Int64, inserting keys: ClosedRange<Int64>) -> ChangeSet {
        var changes = EntityChanges(entity: ListWorld.entities[0])
        changes.inserted = keys.map(row).map(\.stored)
        var save = ChangeSet(entities: [changes])
        save.number = number
        return save
    }

    private func report(_ work: ListWork?, _ new: ListState) throws -> ListWork.Outcome {
        let old = try #require(work).state
        return .changed(
            ListReport(
                from: old, to: new, NetChanges.comparing(old.rows, with: new.rows, of: new.query).net, nil,
                try #require(work).reason,
                since: .now))
    }

    // MARK: Which work

    @Test func aNewListReadsItsRowsOffTheMainActor() throws {
        var schedule = ListSchedule(Self.query, nil)
        let work = schedule.turn()
        #expect(work?.name == "read")
        #expect(work?.onMain == false)
        let report = schedule.end(try report(work?.work, state(1...2)))?.report
        #expect(report?.reason.kind == .initial)
        #expect(schedule.state.count == 2)
        #expect(!schedule.isBehind)
    }

    @Test func aFilledListDoesNothing() {
        var schedule = ListSchedule(Self.query, state(1...2))
        #expect(!schedule.isReady)
        let next = schedule.turn()
        #expect(next == nil)
    }

    @Test func aSmallSaveIsMergedOnTheMainActor() {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.saves([save(1, inserting: 1000...1255)]))
        let next = schedule.turn()
        #expect(next?.onMain == true)
    }

    @Test func aLargeSaveIsMergedElsewhere() {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.saves([save(1, inserting: 1000...1256)]))
        let next = schedule.turn()
        #expect(next?.onMain == false)
    }

    @Test func savesThatWaitAreMergedTogether() {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.saves([save(1, inserting: 3...3), save(2, inserting: 4...4)]))
        let next = schedule.turn()
        #expect(next?.name == "merge [1, 2]")
    }

    @Test func savesAreMergedOneByOneIfEverySaveIsWanted() {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.saves([save(1, inserting: 3...3), save(2, inserting: 4...4)]))
        let next = schedule.turn(isEverySaveWanted: true)
        #expect(next?.name == "merge [1]")
        _ = schedule.end(.unchanged(state(1...3, asOf: 1)))
        let later = schedule.turn(isEverySaveWanted: true)
        #expect(later?.name == "merge [2]")
    }

    @Test func aSaveOfOtherEntitiesIsIgnored() {
        var schedule = ListSchedule(Self.query, state(1...2))
        var other = ChangeSet(entities: [EntityChanges(entity: ListWorld.base.index + 100)])
        other.number = 1
        schedule.record(.saves([other]))
        #expect(!schedule.isBehind)
    }

    /// Of many lists, most have nothing to do with a save.
    @Test func aSmallSaveOfRowsThatTheListDoesNotShowIsIgnored() {
        let few = ListQuery(
            ListWorld.base, predicate: .compareKey(.less, 10), order: ListOrder(ListWorld.base, sort: []))
        var schedule = ListSchedule(few, state(1...2, few))
        schedule.record(.saves([save(1, inserting: 20...25), save(2, inserting: 30...30)]))
        #expect(!schedule.isBehind && schedule.noticeCount == 0)
        // The list includes these saves.
        schedule.record(.saves([save(2, inserting: 3...3)]))
        #expect(!schedule.isBehind)
        schedule.record(.saves([save(3, inserting: 20...20), save(4, inserting: 9...9)]))
        let next = schedule.turn()
        #expect(next?.name == "merge [3, 4]")
        // Later saves wait for running work.
        schedule.record(.saves([save(5, inserting: 20...20)]))
        #expect(schedule.noticeCount == 2)
    }

    /// After a pin there can be very many small saves. The main actor evaluates none of them: it would take long for each list.
    @Test func manySmallSavesOfRowsThatTheListDoesNotShowAreMergedElsewhere() {
        let few = ListQuery(
            ListWorld.base, predicate: .compareKey(.less, 10), order: ListOrder(ListWorld.base, sort: []))
        var schedule = ListSchedule(few, state(1...2, few))
        schedule.record(.saves((1...1000).map { save($0, inserting: 100 + $0...100 + $0) }))
        #expect(schedule.noticeCount == 1)
        let next = schedule.turn()
        #expect(next?.onMain == false)
    }

    /// The report can show a row that has left the list, and that a save in the report changes.
    @Test func noSaveIsIgnoredDuringAReport() {
        let few = ListQuery(
            ListWorld.base, predicate: .compareKey(.less, 10), order: ListOrder(ListWorld.base, sort: []))
        var schedule = ListSchedule(few, state(1...2, few))
        #expect(!schedule.needsEverySave)
        schedule.isReporting = true
        #expect(schedule.needsEverySave)
        schedule.record(.saves([save(1, inserting: 20...20)]))
        #expect(schedule.isBehind)
    }

    @Test func aSaveThatTheRowsIncludeIsIgnored() {
        var schedule = ListSchedule(Self.query, state(1...2, asOf: 3))
        schedule.record(.saves([save(3, inserting: 2...2)]))
        #expect(!schedule.isBehind)
    }

    @Test func aSecondSaveWaitsForTheFirst() {
        var schedule = ListSchedule(Self.query, state(1...2), maxRowsOnMain: 0)
        schedule.record(.saves([save(1, inserting: 3...3)]))
        let next = schedule.turn()
        #expect(next?.name == "merge [1]")
        schedule.record(.saves([save(2, inserting: 4...4)]))
        let later = schedule.turn()
        #expect(later == nil)
        _ = schedule.end(.unchanged(state(1...3, asOf: 1)))
        let last = schedule.turn()
        #expect(last?.name == "merge [2]")
    }

    @Test func savesThatWaitBeyondTheLimitAreReplacedByARead() {
        var schedule = ListSchedule(Self.query, state(1...2), pendingByteLimit: 100, maxRowsOnMain: 0)
        schedule.record(.saves([save(1, inserting: 3...3)]))
        _ = schedule.turn()
        schedule.record(.saves([save(2, inserting: 4...20)]))
        #expect(schedule.pendingByteCount == 0)
        _ = schedule.end(.unchanged(state(1...3, asOf: 1)))
        let work = schedule.turn()
        #expect(work?.name == "read")
        #expect(work?.work.reason.kind == .backlog)
    }

    // MARK: A window

    @Test func aWindowThatIsTooShortReadsOnAndAppliesTheSavesBetween() throws {
        var schedule = ListSchedule(Self.window, state(1...1, Self.window, isComplete: false))
        let head = ListState(Self.window, RowStorage([]), isComplete: false, asOf: 1)
        schedule.record(.saves([save(1, inserting: 2...2)]))
        let merge = schedule.turn()
        let short = ShortList(head: head, net: NetChanges(), reason: try #require(merge).work.reason)
        let readMore = schedule.end(.isShort(short))?.handed
        #expect(readMore?.name == "readMore")
        #expect(readMore?.onMain == false)
        schedule.record(.saves([save(2, inserting: 3...3), save(3, inserting: 4...4)]))
        let appendTail = schedule.end(.hasRead(short, RowTail([row(2)], isLast: false, asOf: 2)))?.handed
        #expect(appendTail?.name == "appendTail [2]")
        _ = schedule.end(.unchanged(state(2...2, Self.window, isComplete: false, asOf: 2)))
        let next = schedule.turn()
        #expect(next?.name == "merge [3]")
    }

    @Test func aResetDiscardsTheRowsThatAWindowHasLeft() throws {
        var schedule = ListSchedule(Self.window, state(1...1, Self.window, isComplete: false))
        let head = ListState(Self.window, RowStorage([]), isComplete: false, asOf: 1)
        schedule.record(.saves([save(1, inserting: 2...2)]))
        let merge = schedule.turn()
        let short = ShortList(head: head, net: NetChanges(), reason: try #require(merge).work.reason)
        _ = schedule.end(.isShort(short))
        schedule.record(.reload(.reset))
        let ended = schedule.end(.hasRead(short, RowTail([row(2)], isLast: false, asOf: 2)))
        #expect(ended == nil)
        #expect(schedule.state.count == 1)
        let work = schedule.turn()
        #expect(work?.name == "read")
        #expect(work?.work.reason.kind == .reset)
    }

    // MARK: Related rows

    @Test func aResetDiscardsRowsThatWereReadOneByOne() throws {
        let query = ListQuery(
            ListWorld.base, joined: [JoinedColumn(.outerKey, .integer)], order: ListOrder(ListWorld.base, sort: []))
        var schedule = ListSchedule(query, state(1...2, query))
        schedule.record(.saves([save(1, inserting: 3...3)]))
        let work = schedule.turn()
        #expect(work?.name == "follow [1]")
        #expect(work?.onMain == false)
        schedule.record(.reload(.reset))
        let ended = schedule.end(try report(work?.work, state(1...3, query, asOf: 1)))
        #expect(ended == nil)
        #expect(schedule.state.count == 2)
        let next = schedule.turn()
        #expect(next?.work.reason.kind == .reset)
    }

    @Test func aListThatQueriesTheStoreAgainReadsAfterEachSave() {
        let query = ListQuery(
            ListWorld.base, joined: [JoinedColumn(.outerKey, .integer)], order: ListOrder(ListWorld.base, sort: []),
            limit: 3)
        var schedule = ListSchedule(query, state(1...2, query))
        schedule.record(.saves([save(1, inserting: 3...3), save(2, inserting: 4...4)]))
        let work = schedule.turn()
        #expect(work?.name == "read")
        #expect(work?.work.reason.saves == 1...2)
    }

    // MARK: Reasons

    @Test(arguments: [ListReason.Kind.initial, .reset])
    func aReadThatObserversWaitForKeepsItsReason(kind: ListReason.Kind) {
        var schedule = ListSchedule(Self.query, kind == .initial ? nil : state(1...2))
        if kind == .reset { schedule.record(.reload(.reset)) }
        schedule.record(.reload(.backlog))
        let next = schedule.turn()
        #expect(next?.work.reason.kind == kind)
    }

    @Test func aReloadReplacesTheSavesThatWait() throws {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.saves([save(1, inserting: 3...3)]))
        schedule.record(.reload(.outsideWrites))
        let work = schedule.turn()
        #expect(work?.work.reason.kind == .outsideWrites)
        _ = schedule.end(try report(work?.work, state(1...3, asOf: 1)))
        #expect(!schedule.isBehind)
    }

    // MARK: Failures

    @Test func aReadThatFailsIsTriedAgainAfterTheNextSave() throws {
        var schedule = ListSchedule(Self.query, nil)
        _ = schedule.turn()
        let ended = schedule.end(.failed(Self.failure))
        #expect(ended?.failure?.code == .storeUnreadable)
        #expect(schedule.lastUpdateReason.kind == .failure)
        let next = schedule.turn()
        #expect(next == nil)
        schedule.record(.saves([save(1, inserting: 3...3)]))
        let later = schedule.turn()
        #expect(later?.work.reason.kind == .initial)
    }

    @Test func aReadThatFailsIsTriedAtOnceIfThereWasASaveMeanwhile() {
        var schedule = ListSchedule(Self.query, nil)
        _ = schedule.turn()
        schedule.record(.saves([save(1, inserting: 3...3)]))
        _ = schedule.end(.failed(Self.failure))
        let next = schedule.turn()
        #expect(next?.work.reason.kind == .initial)
    }

    @Test func aReadAfterAResetThatFailsKeepsItsReasonWhateverIsNotedMeanwhile() {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.reload(.reset))
        _ = schedule.turn()
        schedule.record(.reload(.backlog))
        _ = schedule.end(.failed(Self.failure))
        let next = schedule.turn()
        #expect(next?.work.reason.kind == .reset)
    }

    @Test func aFailureIsOverOnceAReadFindsTheSameRows() {
        var schedule = ListSchedule(Self.query, state(1...2))
        schedule.record(.reload(.outsideWrites))
        _ = schedule.turn()
        _ = schedule.end(.failed(Self.failure))
        schedule.record(.reload(.outsideWrites))
        _ = schedule.turn()
        _ = schedule.end(.unchanged(state(1...2)))
        #expect(schedule.lastUpdateReason.kind == .outsideWrites)
        #expect(schedule.lastUpdateReason.failure == nil)
    }

    @Test func aClosedStoreIsNotReportedAsAFailure() {
        var schedule = ListSchedule(Self.query, nil)
        _ = schedule.turn()
        let ended = schedule.end(.failed(DataSourceError(.storeClosed, "a test")))
        #expect(ended == nil)
        #expect(schedule.lastUpdateReason.kind == .initial)
    }

    // MARK: The end

    @Test func finishIsFinal() throws {
        var schedule = ListSchedule(Self.query, nil)
        let work = schedule.turn()
        guard case .stop = schedule.handle(.finish) else {
            Issue.record("it did not stop")
            return
        }
        let ended = schedule.end(try report(work?.work, state(1...2)))
        #expect(ended == nil)
        schedule.record(.saves([save(1, inserting: 3...3)]))
        schedule.record(.reload(.reset))
        let next = schedule.turn()
        #expect(next == nil)
        #expect(schedule.state.count == 0)
        #expect(schedule.lastUpdateReason.kind == .closed)
    }

    /// Any order of events, see ``ScheduledList``.
    @Test(arguments: 0..<96)
    func everyOrderOfEventsEndsWithTheNewestSave(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var list = ScheduledList(&random)
        for _ in 0..<400 where list.problems.isEmpty { try list.performRandomEvent(&random) }
        if list.problems.isEmpty { try list.settle(&random) }
        #expect(list.problems == [], "seed \(seed)")
    }
}
