#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A server takes connections and bytes, and answers nothing: its machine is halted, or a proxy before it.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct FrozenServerTests {
    /// Far more than what the options of these tests allow, and far less than what the system takes to give up a connection.
    private static let limit = Duration.seconds(60)

    private func options(_ place: FailurePlace) -> PostgreSQLStore.Options {
        var options = place.options(isDirect: true)
        options.responseTimeout = .seconds(2)
        options.silence = .seconds(1)
        options.outcomeTimeout = .seconds(1)
        return options
    }

    /// How long the body takes.
    private func time(_ body: () throws -> Void) rethrows -> Duration {
        let start = ContinuousClock.now
        try body()
        return .now - start
    }

    @Test func everyCallForAFrozenServerEnds() async throws {
        let place = try FailurePlace(PostgreSQLServer())
        let store = try PostgreSQLStore.open(options(place))
        try store.write([FailurePlace.save(1)])
        _ = try (store.count(), store.readFeed(after: 0), store.leases())
        let reports = AsyncStream<DataSourceError>.makeStream()
        store.report { reports.continuation.yield($0) }
        place.server.pause()
        for await error in reports.stream {
            #expect(error.code == .storeUnavailable)
            break
        }
        let calls: [@Sendable () throws -> Void] = [
            { try store.write([FailurePlace.save(2)]) }, { _ = try store.count() },
            { _ = try store.readFeed(after: 0) },
            { _ = try store.leases() }, { _ = try store.reserveKeys(1) },
            { _ = try PostgreSQLStore.open(options(place)) },
        ]
        for (place, call) in calls.enumerated() {
            let taken = time { #expect(code(of: call) == .storeUnavailable, "call \(place)") }
            #expect(taken < FrozenServerTests.limit, "call \(place)")
        }
        #expect(time { store.close() } < FrozenServerTests.limit)
        place.server.resume()
        let next = try PostgreSQLStore.open(options(place))
        #expect(try next.keys() == [1])
        next.close()
    }

    @Test func closingDoesNotWaitForAFrozenServer() throws {
        let place = try FailurePlace(PostgreSQLServer())
        let store = try PostgreSQLStore.open(options(place))
        try store.write([FailurePlace.save(1)])
        place.server.pause()
        #expect(time { store.close() } < FrozenServerTests.limit)
        place.server.resume()
    }

    /// Opening may take hours, such as counting rows, but only as long as the server works on it.
    @Test func openingEndsWhenTheServerFreezes() async throws {
        let place = try FailurePlace(PostgreSQLServer())
        try PostgreSQLStore.open(options(place)).close()
        let blocker = try place.server.session(database: place.database)
        try blocker.run("BEGIN; LOCK TABLE coredatasource.stores")
        let opening = runOnOwnThread { code { try PostgreSQLStore.open(options(place)).close() } }
        try waitUntilBlocked(place)
        // Longer than an answer may take elsewhere.
        usleep(2_500_000)
        try waitUntilBlocked(place)
        place.server.pause()
        let start = ContinuousClock.now
        #expect(await opening.value == .storeUnavailable)
        #expect(.now - start < FrozenServerTests.limit)
        place.server.resume()
        try blocker.run("ROLLBACK")
        try PostgreSQLStore.open(options(place)).close()
    }

    private func waitUntilBlocked(_ place: FailurePlace) throws {
        let waits = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        let end = ContinuousClock.now + FrozenServerTests.limit
        while try place.server.session().run(waits) != [["t"]] { try #require(.now < end) }
    }

    /// Such as the error of a lock that was waited for too long, if that takes as long as a server may be silent.
    @Test func aServerThatAnswersDuringTheCheckIsNotFrozen() async throws {
        let place = try FailurePlace(PostgreSQLServer())
        var options = place.options()
        options.responseTimeout = .seconds(600)
        options.silence = .seconds(1)
        try PostgreSQLStore.open(options).close()
        let blocker = try place.server.session(database: place.database)
        try blocker.run("BEGIN; LOCK TABLE coredatasource.stores")
        let question = place.proxy.hold("FROM pg_stat_activity WHERE pid")
        let opening = runOnOwnThread { [options] in code { try PostgreSQLStore.open(options).close() } }
        question.wait()
        try blocker.run("ROLLBACK")
        let works =
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%coredatasource.stores%'"
        while try blocker.run(works) != [["1"]] {}
        question.deliver()
        #expect(await opening.value == nil)
    }

    /// Off main, a call waits longer.
    @MainActor @Test func mainWaitsForAServerNoLongerThanItMay() async throws {
        let place = try FailurePlace(PostgreSQLServer())
        var options = place.options(isDirect: true)
        options.responseTimeout = .seconds(600)
        options.silence = .seconds(600)
        options.mainPatience = .seconds(1)
        let store = try PostgreSQLStore.open(options)
        try store.write([FailurePlace.save(1)])
        _ = try (store.count(), store.readFeed(after: 0), store.leases())
        place.server.pause()
        // It has the connection that main needs.
        let other = runOnOwnThread { code { _ = try store.readFeed(after: 0) } }
        for call in [{ _ = try store.readFeed(after: 0) }, { _ = try store.count() }, { _ = try store.count() }] {
            let taken = time { #expect(code(of: call) == .storeUnavailable) }
            #expect(taken < FrozenServerTests.limit)
        }
        place.server.resume()
        #expect(await other.value == nil)
        #expect(try store.count() == 1)
        store.close()
    }
}
#endif
