#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What a member knows of a server is not true any more: the server has gone back, or others have gone on without it.
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed; Scripts/prepare --postgresql installs it.")
)
struct LostHistoryTests {
    /// Each save of its own calls it, too.
    @Test func aMemberBeatsHoweverOftenItIsCalled() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        func seen() throws -> String? {
            try place.run("SELECT seen FROM _members WHERE number = \(store.member.number)").first?[0]
        }
        let first = try seen()
        let end = ContinuousClock.now + .seconds(600)
        var key: Int64 = 0
        var last = first
        while last == first, ContinuousClock.now < end {
            for _ in 0..<20 {
                key += 1
                try store.write([FailurePlace.save(key)])
            }
            last = try seen()
        }
        #expect(last != first)
        store.close()
    }

    @Test func membersReloadAfterTheServerLostSaves() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(isDirect: true), try place.open(isDirect: true))
        for key in Int64(1)...3 { try other.write([FailurePlace.save(key)]) }
        let start = try store.readFeed(after: store.firstPosition)
        // Like a standby that did not get the last save.
        try place.run(
            """
            SET coredatasource.member = 'on'; DELETE FROM "Item" WHERE _key = 3; \
            DELETE FROM _changes WHERE position = \(start.position)
            """)
        for key in Int64(4)...5 { try other.write([FailurePlace.save(key)]) }
        let page = try store.readFeed(after: start.position)
        #expect(page.position == start.position + 1)
        #expect(page.events.count == 1)
        guard case .unknown(nil)? = page.events.first else {
            Issue.record("\(page.events)")
            return
        }
        store.close()
        other.close()
    }

    @Test func aMemberWhoseNumberWasGivenAgainThrowsStoreReset() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(1)])
        try place.run("UPDATE _members SET token = token / 2 + 1; DELETE FROM _writers; DELETE FROM _saves")
        #expect(code { try store.write([FailurePlace.save(2)]) } == .storeReset)
        #expect(try place.keys() == [1])
        store.close()
    }

    @Test func aConnectionThatWasCutWhileIdleIsReplaced() throws {
        let place = try FailurePlace()
        let store = try place.open()
        try store.write([FailurePlace.save(1)])
        place.proxy.cutAll()
        try store.write([FailurePlace.save(2)])
        place.proxy.cutAll()
        #expect(try store.reserveKeys(10).count == 10)
        place.proxy.cutAll()
        #expect(try store.takeLeases([TestModel.item], for: "s").ticket == nil)
        place.proxy.cutAll()
        #expect(try store.keys() == [1, 2])
        store.close()
    }

    /// It was forgotten that the keys were lost, and they were given though somebody else had them.
    @Test func keysWhoseLossIsNotedWithoutAReplyStayLost() throws {
        let place = try FailurePlace()
        let store = try place.open()
        let keys = try store.reserveKeys(100)
        // Like a server that did not get it, and has given some of the keys to other objects since.
        try place.run("UPDATE _writers SET keys = 0; UPDATE _keys SET next = \(keys.lowerBound + 50)")
        _ = place.proxy.cutReply(to: "COMMIT")
        let key = keys.lowerBound + 10
        var refusals: [DataSourceError.Code] = []
        for _ in 0..<5 where refusals.last != .leaseLost {
            do {
                refusals += try store.commit([FailurePlace.save(key)]).refused.values.map(\.code)
            } catch {
                refusals.append(error.code)
            }
        }
        #expect(refusals.last == .leaseLost, "\(refusals)")
        #expect(try place.keys() == [])
        let next = try store.reserveKeys(1)
        #expect(next.lowerBound >= keys.upperBound)
        try store.write([FailurePlace.save(next.lowerBound)])
        store.close()
    }

    /// Like a standby that did not get the save with the names. Without them, nobody could read the records after a migration.
    @Test func theNamesOfAHistoryThatTheServerHasLostAreWrittenAgain() throws {
        let place = try FailurePlace()
        var options = place.options()
        options.history = .kept(for: .seconds(3600), upTo: 64 << 20)
        let store = try PostgreSQLStore.open(options)
        let names = "SELECT count(*) FROM _history_state WHERE starts_with(name, 'names ')"
        try store.write([FailurePlace.save(1)])
        #expect(try place.run(names) == [["1"]])
        try place.run("DELETE FROM _history_state WHERE starts_with(name, 'names ')")
        place.proxy.cutAll()
        try store.write([FailurePlace.save(2)])
        #expect(try place.run(names) == [["1"]])
        store.close()
    }

    // MARK: Resets

    @Test func aMemberThatWasAwayDuringAResetThrowsStoreReset() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        try store.write([FailurePlace.save(1)])
        place.proxy.goOffline()
        // As if the time had passed.
        try place.run("UPDATE _members SET seen = seen - interval '1 hour' WHERE number = \(store.member.number)")
        #expect(try other.reset().rowsDropped == 1)
        place.proxy.goOnline()
        #expect(code { try store.write([FailurePlace.save(2)]) } == .storeReset)
        #expect(code { _ = try store.count() } == .storeReset)
        #expect(code { _ = try store.readFeed(after: 0) } == .storeReset)
        #expect(code { _ = try store.leases() } == .storeReset)
        #expect(code { _ = try store.reserveKeys(1) } == .storeReset)
        #expect(try other.count() == 0)
        store.close()
        other.close()
    }

    @Test func aResetWhoseReplyIsLostHasHappenedOnce() throws {
        let place = try FailurePlace()
        let store = try place.open()
        try store.write([FailurePlace.save(1)])
        _ = place.proxy.cutReply(to: "COMMIT")
        #expect(try store.reset().rowsDropped == 1)
        #expect(try store.count() == 0)
        try store.write([FailurePlace.save(2)])
        let other = try place.open(isDirect: true)
        #expect(try other.keys() == [2])
        store.close()
        other.close()
    }

    @Test func aResetLeavesStoresOfSimilarNames() throws {
        let place = try FailurePlace()
        var similar = place.options(isDirect: true)
        similar.name = "store backup"
        let other = try PostgreSQLStore.open(similar)
        try other.write([FailurePlace.save(7)])
        let store = try place.open(isDirect: true)
        for key in Int64(1)...2 {
            try store.write([FailurePlace.save(key)])
            _ = try store.reset()
        }
        #expect(try other.keys() == [7])
        store.close()
        other.close()
    }
}
#endif
