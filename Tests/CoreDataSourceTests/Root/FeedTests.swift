import CoreDataSource
import RowStore
import Testing

/// The feed keeps few events, and never passes over one.
struct FeedTests {
    private func feed(of count: Int) -> Feed {
        var feed = Feed()
        for entity in 0..<count { feed.append(.unknown([entity])) }
        return feed
    }

    private func entities(_ events: [FeedEvent]) -> [Set<Int>?] {
        events.map { if case .unknown(let entities) = $0 { entities } else { nil } }
    }

    @Test func aFollowerGetsEveryEventSinceItsPosition() {
        let feed = feed(of: 3 * Feed.limit)
        for count in 0...Feed.limit {
            let events = feed.events(after: feed.position.advanced(by: -count))
            #expect(entities(events) == (3 * Feed.limit - count..<3 * Feed.limit).map { [$0] })
        }
    }

    @Test(arguments: [1, 2, Feed.limit])
    func aFollowerThatMissedAnEventGetsAnUnknownChange(missed: Int) {
        let feed = feed(of: 3 * Feed.limit)
        let events = feed.events(after: feed.position.advanced(by: -Feed.limit - missed))
        #expect(entities(events) == [nil])
    }

    /// Whoever takes nothing in for long must not keep everything.
    @Test func theEventsThatAreKeptAreBoundedInBytes() {
        var feed = Feed()
        var row = RowSnapshot(columnCount: 1)
        row.setValue(.text(String(repeating: "x", count: Feed.byteLimit / 4)), 0)
        for number in 1...20 {
            var changes = EntityChanges(entity: 1)
            changes.inserted = [StoredRow(key: Int64(number), row: row)]
            feed.append(.changes(ChangeSet(entities: [changes])))
            #expect(feed.byteCount <= Feed.byteLimit)
        }
        #expect(feed.events(after: EventNumber(19)).count == 1)
        #expect(entities(feed.events(after: EventNumber(10))) == [nil])
        var large = EntityChanges(entity: 2)
        large.inserted = (1...5).map { StoredRow(key: $0, row: row) }
        feed.append(.changes(ChangeSet(entities: [large])))
        #expect(entities(feed.events(after: EventNumber(20))) == [[2]])
    }

    /// Of too many rows it only says which entities they are of.
    @Test func aLargeRollbackListsItsEntitiesOnly() {
        var feed = Feed()
        var changes = EntityChanges(entity: 1)
        let row = RowSnapshot(columnCount: 3)
        changes.deleted = (0..<Int64(Feed.rowLimit)).map { StoredRow(key: $0, row: row) }
        feed.append(rollback: ChangeSet(entities: [changes]), ofOrigins: [7])
        guard case .changes = feed.events(after: EventNumber(0)).first else {
            return #expect(Bool(false), "few enough for a list of rows")
        }
        changes.deleted.append(StoredRow(key: -1, row: row))
        feed.append(rollback: ChangeSet(entities: [changes]), ofOrigins: [8])
        #expect(entities(feed.events(after: EventNumber(1))) == [[1]])
        #expect(feed.hasRolledBack(7, after: EventNumber(0)) && !feed.hasRolledBack(7, after: EventNumber(1)))
        #expect(feed.hasRolledBack(8, after: EventNumber(1)) && !feed.hasRolledBack(9, after: EventNumber(0)))
    }
}
