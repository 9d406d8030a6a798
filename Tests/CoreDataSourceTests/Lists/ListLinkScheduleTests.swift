import CoreDataSource
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A read shows rows, and not whose relationships have changed. Whatever the moment of a save, its owners are reported.
struct ListLinkScheduleTests {
    private static let layout = ModelLayout(.graph)

    /// Topics, each with letters.
    private func schedule(
        joined: [JoinedColumn] = [], limit: Int? = nil
    ) throws -> ListSchedule {
        let topic = try #require(Self.layout.entity(named: "Topic"))
        let query = ListQuery(
            topic, joined: joined, order: ListOrder(topic, sort: []), limit: limit,
            links: ChangedLinks(of: [topic.index], Self.layout))
        let rows = (1...3).map {
            ListedRow(entity: topic.index, key: $0, row: RowSnapshot(columnCount: topic.columns.count))
        }
        return ListSchedule(query, ListState(query, RowStorage(rows), isComplete: true, asOf: 0))
    }

    /// A save of a letter of a topic.
    private func save(_ number: Int64, ofTopic key: Int64) throws -> ChangeSet {
        let letter = try #require(Self.layout.entity(named: "Letter"))
        var row = RowSnapshot(columnCount: letter.columns.count)
        row.setValue(.integer(key), try #require(letter.column(named: "topic")))
        var changes = EntityChanges(entity: letter.index)
        changes.inserted = [StoredRow(key: 100 + number, row: row)]
        var save = ChangeSet(entities: [changes])
        save.number = number
        return save
    }

    private func read(of schedule: ListSchedule, asOf: SaveNumber) -> ListWork.Outcome {
        let state = schedule.state
        return .unchanged(ListState(state.query, state.rows, isComplete: true, asOf: asOf))
    }

    @Test func savesBeforeAScheduledReadAreReportedWithIt() throws {
        var schedule = try schedule()
        schedule.record(.saves([try save(1, ofTopic: 1)]))
        schedule.record(.reload(.backlog))
        schedule.record(.saves([try save(2, ofTopic: 2)]))
        let work = schedule.turn()
        #expect(work?.name == "read" && work?.work.touched.keys == [1, 2])
    }

    @Test func aSaveDuringAReadThatIncludesItIsReported() throws {
        var schedule = try schedule()
        schedule.record(.reload(.backlog))
        let first = schedule.turn()
        #expect(first?.name == "read" && first?.work.touched.keys == [])
        schedule.record(.saves([try save(1, ofTopic: 3)]))
        _ = schedule.end(read(of: schedule, asOf: 1))
        let second = schedule.turn()
        #expect(second?.name == "reportChanged [3]")
        // Whoever waits for the lists waits for the report, too, though the list has read the save.
        #expect(schedule.isSettled(1) && !schedule.isSettled(2))
        _ = schedule.end(.unchanged(schedule.state))
        #expect(!schedule.isBehind && schedule.isSettled(2))
    }

    /// Somebody saves again during each read.
    @Test func aCallForASaveDoesNotWaitForLaterSaves() throws {
        var schedule = try schedule(joined: [JoinedColumn(.outerKey, .integer)], limit: 2)
        schedule.record(.saves([try save(1, ofTopic: 1)]))
        let first = schedule.turn()
        #expect(first?.name == "read")
        #expect(!schedule.isSettled(1))
        for number in Int64(2)...20 {
            schedule.record(.saves([try save(number, ofTopic: 1)]))
            _ = schedule.end(read(of: schedule, asOf: SaveNumber(number - 1)))
            let next = schedule.turn()
            #expect(next?.name == "read")
            #expect(schedule.isSettled(Int(number) - 1) && !schedule.isSettled(Int(number)))
        }
    }

    /// What cannot be read while others go on saving keeps no more keys than the list has rows, and a few.
    @Test func theKeysOfAnUnreadableListAreLimited() throws {
        var schedule = try schedule(joined: [JoinedColumn(.outerKey, .integer)], limit: 2)
        schedule.record(.saves([try save(1, ofTopic: 1)]))
        _ = schedule.turn()
        _ = schedule.end(.failed(DataSourceError(.predicateFailed, "It cannot be evaluated.")))
        for number in Int64(2)...12_000 { schedule.record(.saves([try save(number, ofTopic: number)])) }
        let read = schedule.turn()
        #expect(read?.name == "read")
        #expect(try #require(read).work.touched.keys.count <= 4096 + 2 * 3)
        #expect(read?.work.touched.keys.contains(1) == true)
    }

    /// What was read for it may be of the store before a reset.
    @Test func aSaveThatIsFollowedWhenAReadIsWanted() throws {
        var schedule = try schedule(joined: [JoinedColumn(.outerKey, .integer)])
        schedule.record(.saves([try save(1, ofTopic: 2)]))
        let first = schedule.turn()
        #expect(first?.name != "read")
        schedule.record(.reload(.reset))
        _ = schedule.end(read(of: schedule, asOf: 1))
        let second = schedule.turn()
        #expect(second?.name == "read" && second?.work.touched.keys == [2])
    }

    /// The list is notified of the save only after the read has met it.
    @Test func aSaveThatAReadFindsFirstIsReported() throws {
        var schedule = try schedule()
        schedule.record(.reload(.backlog))
        let first = schedule.turn()
        let outcome = read(of: schedule, asOf: 1)
        // As an engine does.
        let isNotified = first?.work.mayBeAhead(outcome) ?? false
        if isNotified { schedule.record(.saves([try save(1, ofTopic: 3)])) }
        _ = schedule.end(outcome)
        if !isNotified { schedule.record(.saves([try save(1, ofTopic: 3)])) }
        let second = schedule.turn()
        #expect(second?.name == "reportChanged [3]")
    }

    @Test func aSaveDuringAReadThatDoesNotMeetItIsMerged() throws {
        var schedule = try schedule()
        schedule.record(.reload(.backlog))
        _ = schedule.turn()
        schedule.record(.saves([try save(2, ofTopic: 3)]))
        _ = schedule.end(read(of: schedule, asOf: 1))
        let second = schedule.turn()
        #expect(second?.name == "merge [2]")
    }

    /// A list that has too few rows after a save that changed a topic's title.
    private func short(_ schedule: inout ListSchedule) throws -> ShortList {
        let topic = try #require(Self.layout.entity(named: "Topic"))
        var row = RowSnapshot(columnCount: topic.columns.count)
        row.setValue(.text("new"), try #require(topic.column(named: "title")))
        var changes = EntityChanges(entity: topic.index)
        changes.updated = [.of(2, RowSnapshot(columnCount: topic.columns.count), row, topic)]
        var save = ChangeSet(entities: [changes])
        save.number = 1
        schedule.record(.saves([save]))
        let merge = schedule.turn()
        #expect(merge?.name == "merge [1]")
        var net = NetChanges()
        try net.add(save, to: schedule.state.query)
        return ShortList(head: schedule.state, net: net, reason: ListReason(.save))
    }

    private let tail = RowTail([], isLast: true, asOf: 1)

    /// What the save has changed may have been changed back when the rows are read instead.
    @Test func rowsThatChangedBeforeAFailureToReadOn() throws {
        var schedule = try schedule()
        let short = try short(&schedule)
        let readMore = schedule.end(.isShort(short))?.handed
        #expect(readMore?.name == "readMore")
        _ = schedule.end(.failed(DataSourceError(.storeBusy, "busy")))
        schedule.record(.reload(.save))
        let read = schedule.turn()
        #expect(read?.work.touched.keys == [2])
    }

    @Test func rowsOfAnAbandonedUpdateAreReportedByTheRead() throws {
        var schedule = try schedule()
        let short = try short(&schedule)
        _ = schedule.end(.isShort(short))
        schedule.record(.reload(.backlog))
        _ = schedule.end(.hasRead(short, tail))
        let read = schedule.turn()
        #expect(read?.work.touched.keys == [2])
    }

    @Test func rowsThatChangedBeforeRowsThatDoNotFit() throws {
        var schedule = try schedule()
        let short = try short(&schedule)
        _ = schedule.end(.isShort(short))
        let appendTail = schedule.end(.hasRead(short, tail))?.handed
        #expect(appendTail?.name.hasPrefix("appendTail") == true)
        _ = schedule.end(.mustRead)
        let read = schedule.turn()
        #expect(read?.work.touched.keys == [2])
    }

    @Test func aRowUpdatedAgainDuringAReadIsReported() throws {
        var schedule = try schedule()
        schedule.record(.reload(.backlog))
        _ = schedule.turn()
        let topic = try #require(Self.layout.entity(named: "Topic"))
        let row = RowSnapshot(columnCount: topic.columns.count)
        for number in Int64(1)...2 {
            var changes = EntityChanges(entity: topic.index)
            changes.updated = [.of(2, row, row, topic)]
            var save = ChangeSet(entities: [changes])
            save.number = number
            schedule.record(.saves([save]))
        }
        _ = schedule.end(read(of: schedule, asOf: 2))
        // All rows are not read again, or a list could not keep up with a row that changes all the time.
        let next = schedule.turn()
        #expect(next?.name == "reportChanged [2]")
    }
}
