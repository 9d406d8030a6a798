#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Others are notified of saves, and no commit waits for a notification.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct NotificationTests {
    /// A commit with a notification locks the whole server until it is on all disks that it waits for.
    @Test func aCommitThatWaitsKeepsNoOtherStoreFromCommitting() async throws {
        let place = try FailurePlace(PostgreSQLServer())
        let waiting = try place.open(isDirect: true)
        var options = place.options(isDirect: true)
        (options.name, options.synchronous) = ("other", .normal)
        let other = try PostgreSQLStore.open(options)
        let session = try place.server.session()
        try session.letCommitsWait(on: place.server)
        let commit = runOnOwnThread { code { try waiting.write([FailurePlace.save(1)]) } }
        // Reports that a member lives may wait, too.
        let waits = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
        while try session.run(waits) != [["t"]] {}
        let done = runOnOwnThread {
            for key in 1...20 { try? other.write([FailurePlace.save(Int64(key))]) }
            return try? other.count()
        }
        let end = ContinuousClock.now + .seconds(600)
        while try session.run("SELECT count(*) FROM \"other 1\".\"Item\"", in: place) != [["20"]], .now < end {}
        #expect(try session.run(waits) == [["t"]])
        #expect(ContinuousClock.now < end)
        try session.run("ALTER SYSTEM RESET synchronous_standby_names")
        try session.run("SELECT pg_reload_conf()")
        #expect(await commit.value == nil)
        #expect(await done.value == 20)
        waiting.close()
        other.close()
    }

    /// Another program's notification has the lock for as long as its commit waits. Nobody may take this process for one that has
    /// ended meanwhile.
    @Test func aMemberLivesWhileItsNotificationsHaveToWait() throws {
        let place = try FailurePlace(PostgreSQLServer())
        var options = place.options(isDirect: true)
        options.synchronous = .normal
        let store = try PostgreSQLStore.open(options)
        let session = try place.server.session()
        try session.letCommitsWait(on: place.server)
        let blocker = try place.server.session(database: place.database)
        blocker.send("BEGIN; CREATE TABLE elsewhere (); NOTIFY elsewhere; COMMIT")
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%NOTIFY elsewhere%'"
        while try session.run(waits) != [["1"]] {}
        var reports: Set<String?> = []
        var key: Int64 = 0
        while reports.count < 4 {
            key += 1
            try store.write([FailurePlace.save(key)])
            let found = try place.run(
                "SELECT seen::text, (clock_timestamp() - seen < interval '6 s')::text FROM _members")
            #expect(found.map { $0[1] } == ["true"])
            reports.insert(found[0][0])
        }
        #expect(try session.run(waits) == [["1"]])
        try session.run("ALTER SYSTEM RESET synchronous_standby_names")
        try session.run("SELECT pg_reload_conf()")
        store.close()
    }

    /// The last save before a store is closed is notified, too.
    @Test func aSaveIsNotifiedAfterItsCommit() async throws {
        let place = try FailurePlace()
        let (store, other) = (try place.open(isDirect: true), try place.open(isDirect: true))
        let calls = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        other.listen { calls.continuation.yield() }
        var iterator = calls.stream.makeAsyncIterator()
        for number in Int64(1)...3 {
            try store.write([FailurePlace.save(number)])
            if number == 3 { store.close() }
            while try other.readFeed(after: 0).position < number { await iterator.next() }
        }
        other.close()
    }
}

extension PostgreSQLSession {
    /// Lets commits wait for a standby that there is not, and returns once they do: a server takes new settings when it comes to it.
    fileprivate func letCommitsWait(on server: PostgreSQLServer) throws {
        try run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try run("SELECT pg_reload_conf()")
        while true {
            let probe = try server.session()
            // It locks nothing that the next one needs.
            probe.send("SELECT pg_logical_emit_message(true, 'probe', '')")
            let state = """
                SELECT CASE WHEN wait_event = 'SyncRep' THEN 'waits' \
                WHEN state = 'idle' AND query LIKE '%probe%' THEN 'has ended' END \
                FROM pg_stat_activity WHERE pid = \(probe.processID)
                """
            var found: String?
            while found == nil { found = try run(state).first.flatMap { $0[0] } }
            guard found == "waits" else { continue }
            try run("SELECT pg_terminate_backend(\(probe.processID))")
            return
        }
    }

    /// Runs SQL in the database of a place.
    fileprivate func run(_ sql: String, in place: FailurePlace) throws -> [[String?]] {
        try place.server.session(database: place.database).run(sql)
    }
}
#endif
