#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Saves of a group that are written with one statement do what they would do one after the other.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct SaveRunTests {
    private func item(_ key: Int64, _ code: String) -> StoredRow { StoredRow(key: key, row: TestModel.row(code: code)) }

    private func update(_ key: Int64, _ old: String, _ new: String) -> UpdatedRow {
        .of(key, TestModel.row(code: old), TestModel.row(code: new), TestModel.layout.entities[TestModel.item])
    }

    /// The saves, each of another data source.
    private func group(_ saves: ChangeSet...) -> [ChangeSet] {
        saves.enumerated().map { place, save in
            var save = save
            save.origin = place + 1
            return save
        }
    }

    @Test func theRowsOfATableTakeOneStatement() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        let traces = Traces()
        options.tracing = traces.tracing
        let store = try PostgreSQLStore.open(options)
        traces.forget()
        try store.write((1...64).map { FailurePlace.save($0, number: $0) })
        #expect(traces.all("INSERT INTO \"store 1\".\"Item\"").map(\.rowCount) == [64])
        #expect(traces.all("INSERT INTO \"store 1\".\"_changes\"").map(\.rowCount) == [64])
        #expect(try store.position() == 64)
        store.close()
    }

    @Test func aSaveMakesNoRoomForAnEarlierOne() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([.of(insert: [item(1, "a"), item(2, "b")])])
        let outcome = try store.commit(
            group(
                .of(insert: [item(3, "a")]), .of(delete: [item(1, "a")]), .of(insert: [item(4, "b")]),
                .of(update: [update(2, "b", "c")])))
        #expect(outcome.refused.mapValues(\.code) == [0: .uniquenessViolated, 2: .uniquenessViolated])
        #expect(try place.keys() == [2])
        store.close()
    }

    @Test func aSaveMakesRoomForALaterOne() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([.of(insert: [item(1, "a")])])
        #expect(try store.commit(group(.of(delete: [item(1, "a")]), .of(insert: [item(2, "a")]))).refused.isEmpty)
        #expect(try place.keys() == [2])
        store.close()
    }

    @Test func aRowOfSeveralSavesIsAsTheLastOneLeftIt() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([
            .of(insert: [item(1, "a"), item(2, "x")]), .of(update: [update(1, "a", "b")]),
            .of(update: [update(1, "b", "c")]), .of(delete: [item(2, "x")]), .of(insert: [item(2, "y")]),
        ])
        #expect(try place.run("SELECT _key, code FROM \"Item\" ORDER BY 1") == [["1", "c"], ["2", "y"]])
        store.close()
    }

    @Test func aGroupMayHaveMoreRowsThanOneStatement() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write((1...2500).map { FailurePlace.save($0, number: $0) })
        #expect(try place.keys() == Array(1...2500))
        #expect(try store.readFeed(after: 0).position > 0)
        store.close()
    }
}
#endif
