#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A process is halted in the middle of a message, or somebody else's transaction stays open. Only what it touches waits.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct HaltedMemberTests {
    private static let subItem = 1

    private func large(_ key: Int64, bytes: Int = 3_600_000) -> ChangeSet {
        let row = TestModel.row(
            .null, .null, .null, .blob((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 8) }), .null,
            .text("\(key)"))
        return .of(insert: [StoredRow(key: key, row: row)], number: key)
    }

    /// The server has a part of the message, and will not get the rest.
    @Test(arguments: ["INSERT INTO \"store 1\".\"Item\"", "INSERT INTO \"store 1\".\"_changes\""])
    func aProcessHaltedInALargeSaveDelaysNobody(statement: String) async throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        let hold = place.proxy.holdInside(statement)
        let commit = runOnOwnThread { code { try store.write([large(1)]) } }
        hold.wait()
        for key in Int64(2)...4 { try other.write([FailurePlace.save(key)]) }
        let third = try place.open(isDirect: true)
        #expect(try third.keys() == [2, 3, 4])
        _ = try third.takeLeases([TestModel.item], for: "s")
        third.close()
        hold.deliver()
        #expect(await commit.value == nil)
        #expect(try other.keys() == [1, 2, 3, 4])
        #expect(try other.readFeed(after: 0).position == 4)
        #expect(try place.run("SELECT position FROM _changes ORDER BY 1") == (1...4).map { ["\($0)"] })
        store.close()
        other.close()
    }

    /// The save drops the entity tag of a scope, whose row other saves and other programs change, too.
    @Test func aProcessHaltedInASaveThatDropsATagDelaysNobody() async throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        for key in Int64(1)...2 { try other.write([FailurePlace.save(key, number: key)]) }
        let layout = TestModel.layout.entities[HaltedMemberTests.subItem]
        let sub = StoredRow(key: 9, row: try layout.row(layout.columns.map { _ in .null }))
        try other.write([.of(HaltedMemberTests.subItem, insert: [sub], number: 9)])
        var loaded = ChangeSet(entities: [])
        loaded.scopes = [
            ScopeChange(
                name: "all", entity: "Item", predicate: "", requestedAt: nil,
                .loaded(entityTag: "1", cursor: nil, isComplete: true))
        ]
        try other.write([loaded])
        var deletion = large(20)
        deletion.entities[0].deleted = [StoredRow(key: 1, row: TestModel.row(code: "1"))]
        let halted = deletion
        let hold = place.proxy.holdInside("INSERT INTO \"store 1\".\"_changes\"")
        let commit = runOnOwnThread { code { try store.write([halted]) } }
        hold.wait()
        let psql = try place.server.session(database: place.database)
        try psql.run("SET lock_timeout = '20s'; UPDATE \"store 1\".\"Item\" SET integer = 7 WHERE _key = 2")
        #expect(try place.run("SELECT tag FROM _scopes") == [[nil]])
        try other.write([.of(HaltedMemberTests.subItem, delete: [sub], number: 10)])
        hold.deliver()
        #expect(await commit.value == nil)
        #expect(try place.keys() == [2, 20])
        store.close()
        other.close()
    }

    /// A write of another program drops the tags of the lists that can have its rows.
    @Test func aWriteOfAnotherProgramDropsTheTagsOfItsEntity() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(1, number: 1)])
        func drops(_ entity: String, _ sql: String) throws -> Bool {
            var loaded = ChangeSet(entities: [])
            loaded.scopes = [
                ScopeChange(
                    name: entity, entity: entity, predicate: "", requestedAt: nil,
                    .loaded(entityTag: "1", cursor: nil, isComplete: true))
            ]
            try store.write([loaded])
            try place.run(sql)
            return try place.run("SELECT tag FROM _scopes WHERE name = '\(entity)'") == [[nil]]
        }
        let (item, sub) = ("UPDATE \"Item\" SET integer = 7", "DELETE FROM \"SubItem\"")
        #expect(try drops("Item", item))
        #expect(try drops("Item", sub))
        #expect(try drops("SubItem", sub))
        #expect(try !drops("SubItem", item))
        store.close()
    }

    /// The first save of an app's release writes names into the history, which are the same for all processes.
    @Test func aProcessHaltedInItsFirstRecordDelaysNobody() async throws {
        let place = try FailurePlace()
        func open(isDirect: Bool) throws -> PostgreSQLStore {
            var options = place.options(isDirect: isDirect)
            options.history = .kept(for: .seconds(3600), upTo: 64 << 20)
            return try .open(options)
        }
        let (store, other) = (try open(isDirect: false), try open(isDirect: true))
        let hold = place.proxy.holdInside("INSERT INTO \"store 1\".\"_history\"")
        let commit = runOnOwnThread { code { try store.write([large(1)]) } }
        hold.wait()
        #expect(code { try other.write([FailurePlace.save(2)]) } == nil)
        hold.deliver()
        #expect(await commit.value == nil)
        // The record of the large save needs a page of its own.
        let first = try other.readHistory(after: nil, HistoryFilter())
        let second = try other.readHistory(after: first.position, HistoryFilter())
        #expect((first.records + second.records).map(\.number) == [1, 2])
        store.close()
        other.close()
    }

    /// Taking a lease that a member does not use ends nothing that it does with another one.
    @Test func takingAnIdleLeaseEndsNoCommitOfAnotherLease() async throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        var options = place.options(isDirect: true)
        options.leaseTimes.answer = .milliseconds(1)
        let other = try PostgreSQLStore.open(options)
        #expect(try store.takeLeases([TestModel.item, HaltedMemberTests.subItem], for: "s").ticket == nil)
        try store.write([FailurePlace.save(1)])
        let blocker = try place.server.session(database: place.database)
        try blocker.run("SET coredatasource.member = 'on'; BEGIN; SELECT FROM \"store 1\".\"Item\" FOR UPDATE")
        let (row, layout) = (TestModel.row(code: "1"), TestModel.layout.entities[TestModel.item])
        let update = ChangeSet.of(update: [.of(1, row, TestModel.row(.integer(7)), layout)], number: 2)
        let commit = runOnOwnThread { code { try store.write([update]) } }
        let waits = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%Item%'"
        while try place.run(waits).count != 1 { usleep(5_000) }
        let session = try place.run(waits)
        _ = try other.takeLeases([HaltedMemberTests.subItem], for: "s")
        var taken: Set<Int64> = []
        while !taken.contains(other.member.number) {
            taken = Set(try other.settleLeases(answered: [], withdrawn: nil).leases.map(\.holder.number))
        }
        #expect(try place.run(waits) == session)
        try blocker.run("ROLLBACK")
        #expect(await commit.value == nil)
        store.close()
        other.close()
    }

    @Test func anUncommittedEditOfAnotherProgramDelaysOnlyItsRows() async throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        for key in Int64(1)...2 { try store.write([FailurePlace.save(key)]) }
        let psql = try place.server.session(database: place.database)
        try psql.run("BEGIN; UPDATE \"store 1\".\"Item\" SET integer = 7 WHERE _key = 1")
        try store.write([FailurePlace.save(3)])
        let other = try place.open(isDirect: true)
        try other.write([FailurePlace.save(4)])
        #expect(try store.readFeed(after: 0).position == 4)
        try psql.run("COMMIT")
        let page = try store.readFeed(after: 4)
        #expect(page.position == 5 && page.foundOutsideRows)
        guard case .unknown([TestModel.item])? = page.events.first else {
            Issue.record("\(page.events)")
            return
        }
        store.close()
        other.close()
    }
}
#endif
