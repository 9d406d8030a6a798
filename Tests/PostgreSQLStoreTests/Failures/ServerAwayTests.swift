#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import Synchronization
import TestSupport
import Testing

/// The server is killed, stopped, paused and comes back.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ServerAwayTests {
    @Test func callsThrowUntilAKilledServerIsRestarted() throws {
        let place = try FailurePlace(PostgreSQLServer())
        let (store, other) = (try place.open(isDirect: true), try place.open(isDirect: true))
        try store.write([FailurePlace.save(1)])
        for (step, stop) in [place.server.kill, place.server.stop].enumerated() {
            stop()
            #expect(code { try store.write([FailurePlace.save(9)]) } == .storeUnavailable)
            #expect(code { _ = try store.count() } == .storeUnavailable)
            #expect(code { _ = try store.readFeed(after: 0) } == .storeUnavailable)
            #expect(code { _ = try store.leases() } == .storeUnavailable)
            #expect(code { _ = try store.reserveKeys(1) } == .storeUnavailable)
            #expect(code { _ = try place.open(isDirect: true) } == .storeUnavailable)
            try place.server.start()
            try store.write([FailurePlace.save(Int64(step) + 2)])
            #expect(try other.keys() == Array(1...Int64(step) + 2))
            #expect(try other.readFeed(after: 0).position == Int64(step) + 2)
        }
        store.close()
        other.close()
    }

    @Test func listenersGetTheLossAndAreCalledAfterTheReturn() async throws {
        let place = try FailurePlace(PostgreSQLServer())
        let (store, other) = (try place.open(isDirect: true), try place.open(isDirect: true))
        let reports = AsyncStream<DataSourceError>.makeStream()
        let calls = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        other.report { reports.continuation.yield($0) }
        other.listen { calls.continuation.yield() }
        place.server.kill()
        for await error in reports.stream {
            #expect(error.code == .storeUnavailable)
            break
        }
        try place.server.start()
        // The first save may find that its connection is gone.
        while code(of: { try store.write([FailurePlace.save(1)]) }) == .storeUnavailable {}
        for await _ in calls.stream {
            if (try? other.readFeed(after: 0).events.count) == 1 { break }
        }
        store.close()
        other.close()
    }

    @Test func aServerThatDoesNotAnswerIsUnavailable() throws {
        let place = try FailurePlace()
        var options = place.options()
        options.responseTimeout = .seconds(3)
        let store = try PostgreSQLStore.open(options)
        place.proxy.stall()
        #expect(code { try store.write([FailurePlace.save(1)]) } == .storeUnavailable)
        place.proxy.resume()
        #expect(try place.keys() == [])
        try store.write([FailurePlace.save(1)])
        #expect(try store.keys() == [1])
        store.close()
    }

    @Test func closingDoesNotWaitForAServerThatIsAway() throws {
        let place = try FailurePlace(PostgreSQLServer())
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(1)])
        place.server.kill()
        store.close()
        try place.server.start()
        let next = try place.open(isDirect: true)
        #expect(try next.keys() == [1])
        next.close()
    }

    @Test func leasesOfAMemberThatIsGoneAreFreeAfterAWhile() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        _ = try store.takeLeases([TestModel.item], for: "s")
        place.proxy.goOffline()
        // As if the time had passed after which it counts as ended.
        try place.run("UPDATE _members SET seen = seen - interval '1000 years' WHERE number = \(store.member.number)")
        let taken = try other.takeLeases([TestModel.item], for: "s")
        #expect(taken.ticket == nil)
        #expect(taken.table.leases.first?.holder == other.member)
        place.proxy.goOnline()
        store.close()
        other.close()
    }
}
#endif
