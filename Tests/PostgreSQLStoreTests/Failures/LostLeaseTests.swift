#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A member has lost its leases, and does not know it, or cannot do anything about it.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct LostLeaseTests {
    private func rows(_ keys: ClosedRange<Int64>) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: "code \($0)")) }
    }

    /// Takes the lease of the items.
    private func lease(_ store: PostgreSQLStore) throws -> LeaseEpoch {
        let taken = try store.takeLeases([TestModel.item], for: "s")
        #expect(taken.ticket == nil)
        let lease = try #require(taken.table.leases.first { $0.holder.number == store.member.number })
        return LeaseEpoch(entity: TestModel.item, epoch: lease.epoch)
    }

    private func save(_ key: Int64, under lease: LeaseEpoch) -> ChangeSet {
        var save = FailurePlace.save(key, number: key)
        (save.leases, save.origin) = ([lease], Int(key))
        return save
    }

    /// As if the member had ended.
    private func endMember(_ store: PostgreSQLStore, _ place: FailurePlace) throws {
        try place.run("UPDATE _members SET seen = seen - interval '1000 years' WHERE number = \(store.member.number)")
    }

    /// Two saves, of which the server loses the second one, as after a failover.
    private func dropLastSave(_ store: PostgreSQLStore, _ place: FailurePlace, under lease: LeaseEpoch) throws {
        for key in Int64(1)...2 { try store.write([save(key, under: lease)]) }
        try place.run(
            """
            SET coredatasource.member = 'on'; DELETE FROM "Item" WHERE _key = 2; \
            DELETE FROM _changes WHERE position = 2; UPDATE _saves SET number = number - 1
            """)
        place.proxy.cutAll()
    }

    /// The row that it changes is gone because the server has lost it, and not because somebody has deleted it.
    @Test func anUpdateOfALostRowThrowsLeaseLost() throws {
        let place = try FailurePlace()
        let store = try place.open()
        let first = try lease(store)
        try dropLastSave(store, place, under: first)
        let layout = TestModel.layout.entities[TestModel.item]
        let row = TestModel.row(code: "2")
        var update = ChangeSet.of(update: [.of(2, row, TestModel.row(.integer(7)), layout)], number: 3)
        (update.leases, update.origin) = ([first], 3)
        let outcome = try store.commit([update])
        #expect(outcome.refused.mapValues(\.code) == [0: .leaseLost])
        #expect(outcome.foundOutsideWrites)
        #expect(try place.keys() == [1])
        store.close()
    }

    /// What it writes next was made from rows that may be gone.
    @Test func aServerThatHasLostASaveOfAMemberRefusesTheNext() throws {
        let place = try FailurePlace()
        let store = try place.open()
        let first = try lease(store)
        try dropLastSave(store, place, under: first)
        let outcome = try store.commit([save(3, under: first), save(4, under: first)])
        #expect(outcome.refused.mapValues(\.code) == [0: .leaseLost, 1: .leaseLost])
        #expect(outcome.foundOutsideWrites)
        #expect(try place.keys() == [1])
        // The lease is free, and with the next one it goes on.
        let second = try lease(store)
        #expect(second.epoch != first.epoch)
        try store.write([save(3, under: second)])
        #expect(try place.keys() == [1, 3])
        store.close()
    }

    /// Like a standby that did not hear that the lease was handed over, on which its holder goes on. The next handover must not make
    /// valid again what was saved after the one that was lost.
    @Test func aPendingSaveAfterAFailoverOverwritesNothing() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        let theirs = try lease(other)
        try other.write([save(1, under: theirs)])
        let layout = TestModel.layout.entities[TestModel.item]
        let row = TestModel.row(code: "1")
        func update(_ number: Int64, _ value: Int64, under lease: LeaseEpoch) -> ChangeSet {
            var update = ChangeSet.of(update: [.of(1, row, TestModel.row(.integer(value)), layout)], number: number)
            (update.leases, update.origin) = ([lease], 1)
            return update
        }
        _ = try other.releaseLeases([TestModel.item])
        let pending = update(2, 2, under: try lease(store))
        try place.run(
            "UPDATE _leases SET holder = \(other.member.number), epoch = \(theirs.epoch) WHERE entity = 'Item'")
        place.proxy.cutAll()
        try other.write([update(3, 3, under: theirs)])
        let saved = try place.run("SELECT * FROM \"Item\"")
        _ = try other.releaseLeases([TestModel.item])
        _ = try lease(store)
        #expect(try store.commit([pending]).refused.mapValues(\.code) == [0: .leaseLost])
        #expect(try place.run("SELECT * FROM \"Item\"") == saved)
        store.close()
        other.close()
    }

    /// It has landed: it is stored, whatever has become of the lease since then.
    @Test func aSaveThatHasLandedIsNotRefused() throws {
        let place = try FailurePlace()
        var options = place.options()
        options.outcomeTimeout = .milliseconds(200)
        let (store, other) = (try PostgreSQLStore.open(options), try place.open(isDirect: true))
        let first = try lease(store)
        _ = place.proxy.cutReply(to: "COMMIT")
        place.proxy.refuseNewConnections()
        #expect(code { try store.write([save(1, under: first)]) } == .outcomeUnknown)
        try endMember(store, place)
        try other.write([save(5, under: lease(other))])
        place.proxy.goOnline()
        let outcome = try store.commit([save(1, under: first), save(2, under: first)])
        #expect(outcome.refused.mapValues(\.code) == [1: .leaseLost])
        #expect(try place.keys() == [1, 5])
        store.close()
        other.close()
    }

    /// A process that was halted in the middle of a transaction has rows in it that others wait for.
    @Test func theTransactionOfALostMemberIsEnded() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(isDirect: true), try place.open(isDirect: true))
        _ = try lease(store)
        let earlyWrite = EarlyWrite()
        #expect(store.write(NewRows(entity: TestModel.item, rows(1...1_500)), for: earlyWrite))
        let open = """
            SELECT count(DISTINCT pid) FROM pg_locks WHERE relation = '"Item"'::regclass AND pid <> pg_backend_pid()
            """
        #expect(try place.run(open) == [["1"]])
        try endMember(store, place)
        let taken = try lease(other)
        // The server ends the session after the call that asks it to.
        while try place.run(open) != [["0"]] { usleep(5_000) }
        var save = ChangeSet.of(insert: rows(3...3), number: 1)
        save.leases = [taken]
        try other.write([save])
        #expect(try place.keys() == [3])
        store.close()
        other.close()
    }

    /// The others are written all the same, and nobody waits for each of them.
    @Test func aRefusedSaveOfManyTakesFewRoundTrips() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        let lease = try lease(store)
        try store.write([save(1000, under: lease)])
        var group = (Int64(1)...256).map { save($0, under: lease) }
        group[100] = save(1000, under: lease)
        let before = store.counters.roundTrips
        #expect(try store.commit(group).refused.mapValues(\.code) == [100: .uniquenessViolated])
        #expect(store.counters.roundTrips - before < 80)
        #expect(try place.keys().count == 256)
        #expect(try store.position() == 256)
        store.close()
    }
}
#endif
