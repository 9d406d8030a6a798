#if PostgreSQL
import Foundation
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Who lives is decided by what a process sees on its own clock, whatever other clocks say.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct HeartbeatTests {
    @Test func aMemberIsSilentSinceItsReportWasFirstSeen() {
        let (heartbeats, start) = (Heartbeats(), ContinuousClock.now)
        // Far ahead, as after the clock was set back.
        let report = Int64.max / 2
        for second in Int64(0)...8 {
            let seen = heartbeats.record([1: report, 2: second], ["ticket"], at: start + .seconds(second))
            #expect(seen.silence == [1: .seconds(second), 2: .zero])
            #expect(seen.now - (seen.firstSeen["ticket"] ?? -1) == second * 1000)
        }
        #expect(heartbeats.record([:], [], at: start + .seconds(9)).silence.isEmpty)
    }

    /// A process that was halted itself does not know for how long the others have been silent.
    @Test func aMemberRestartsItsTimersAfterItWasHalted() {
        let (heartbeats, start) = (Heartbeats(), ContinuousClock.now)
        _ = heartbeats.record([1: 1], ["ticket"], at: start)
        let later = start + Heartbeats.pause + .seconds(3600)
        let seen = heartbeats.record([1: 1], ["ticket"], at: later)
        #expect(seen.silence == [1: .zero] && seen.firstSeen["ticket"] == seen.now)
        #expect(heartbeats.record([1: 1], [], at: later + .seconds(1)).silence == [1: .seconds(1)])
    }

    /// The member's last report is an hour ahead then, and so are the times of its leases.
    @Test func aClockThatIsSetBackKeepsNoLeasesOfAnEndedMember() throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(), try place.open(isDirect: true))
        #expect(try store.takeLeases([TestModel.item], for: "s").ticket == nil)
        place.proxy.goOffline()
        try place.run(
            """
            UPDATE _members SET seen = seen + interval '1 hour' WHERE number = \(store.member.number); \
            UPDATE _leases SET since = since + 3600000
            """)
        var holder = try other.takeLeases([TestModel.item], for: "s").table.leases.first?.holder
        #expect(holder == store.member)
        let end = ContinuousClock.now + .seconds(1200)
        while holder != other.member, .now < end {
            usleep(100_000)
            holder = try other.settleLeases(answered: [], withdrawn: nil).leases.first?.holder
        }
        #expect(holder == other.member)
        place.proxy.goOnline()
        store.close()
        other.close()
    }

    /// The report changes all the time here, as if the member lived, and no answer is expected. Only the sessions of the member
    /// show that it has ended.
    @Test func theLeasesOfAMemberWithoutSessionsAreFree() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        options.leaseTimes.answer = .seconds(3600)
        let (store, other) = (try place.open(), try PostgreSQLStore.open(options))
        #expect(try store.takeLeases([TestModel.item], for: "s").ticket == nil)
        place.proxy.goOffline()
        var holder = try other.takeLeases([TestModel.item], for: "s").table.leases.first?.holder
        let end = ContinuousClock.now + .seconds(1200)
        while holder != other.member, .now < end {
            usleep(100_000)
            try place.run(
                "UPDATE _members SET seen = seen + interval '1 microsecond' WHERE number = \(store.member.number)")
            holder = try other.settleLeases(answered: [], withdrawn: nil).leases.first?.holder
        }
        #expect(holder == other.member)
        place.proxy.goOnline()
        store.close()
        other.close()
    }

    @Test func sessionsShowWhoHasEnded() {
        #expect(Heartbeats.ended([2, 3], withSessions: [1, 3], besides: 1) == [2])
        // The lock of a session has only the lower bits of the number.
        #expect(Heartbeats.ended([2, 3 + 1 << 31], withSessions: [1, 3], besides: 1 + 1 << 31) == [2])
        // A server that does not show sessions.
        #expect(Heartbeats.ended([2, 3], withSessions: [], besides: 1) == [])
    }

    /// A clock that is set forward does not let a member seem to have ended.
    @Test func aReportingMemberIsAliveWhateverTheClockSays() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try place.run("UPDATE _members SET seen = seen - interval '1 hour'")
        var options = place.options(isDirect: true)
        options.resetPolicy = .discard
        options.identity = TestModel.identity("other")
        #expect(code { try PostgreSQLStore.open(options).close() } == .storeInUse)
        store.close()
        try PostgreSQLStore.open(options).close()
    }

    /// Nobody reads with them any more.
    @Test func connectionsThatReadAreClosedAfterAWhile() async throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        options.idleReaderTime = .milliseconds(200)
        let store = try PostgreSQLStore.open(options)
        let count =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> ''"
        func connections() throws -> Int { try place.run(count)[0][0].flatMap { Int($0) } ?? 0 }
        // The one that writes, and the one that listens.
        let before = 2
        while try connections() != before { try await Task.sleep(for: .milliseconds(5)) }
        var most = 0
        try store.read(.snapshot) { (_) throws(DataSourceError) in
            _ = try store.count()
            most = (try? connections()) ?? 0
        }
        // The one of the count may have been closed before the server was asked for the connections.
        #expect(most > before)
        while try connections() > before { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try store.count() == 0)
        store.close()
    }
}
#endif
