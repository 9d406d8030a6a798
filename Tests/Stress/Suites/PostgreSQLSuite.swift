#if PostgreSQL
import CoreDataSource
import Foundation
import PostgreSQLStore
import RowStore
import Synchronization
import TestSupport

/// Several processes share a store on a server, which is killed while they save, and whose connections are cut.
///
/// At the end of each round, every list of every process shows what the server has, and the feed, in which each change begins
/// where the one before it ended, comes to the same. What a process was told is saved is there.
@MainActor
final class PostgreSQLSuite {
    private let rounds: Int
    private let processCount: Int
    private let saveCount: Int
    private let cutCount: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        // The server is killed once a round.
        rounds = size.choose(2, 20)
        processCount = size.choose(3, 8)
        saveCount = size.choose(15, 31)
        cutCount = size.choose(4, 5)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(120), findings: findings)
    }

    func run() async throws {
        guard PostgreSQLServer.isInstalled else { return say("  skipped: \(PostgreSQLServer.comment)") }
        let server = try PostgreSQLServer()
        let proxy = try TCPProxy(to: server.port)
        let database = try server.makeDatabase()
        func place(_ port: Int) -> SharedPlace {
            .server(
                connection: server.connectionString(database: database, port: port), port: server.port,
                database: database)
        }
        var random = SeededRandom(seed: seed)
        let follower = try place(server.port).openStore()
        var replay = FeedReplay(ModelLayout(.stress), after: follower.firstPosition)
        var children: [SharingProcess] = []
        for number in 0..<processCount {
            children.append(try await SharingProcess(place(proxy.port), number, findings))
        }
        for round in 1...rounds where findings.violations.count < 20 {
            let moment = "round \(round), seed \(seed)"
            watchdog.note("postgresql", moment)
            for child in children { child.send("go \(saveCount) \(random.next() >> 20)") }
            try await disturb(server, proxy, random.branch(UInt64(round)))
            for child in children where await child.answer() != "done" {
                findings.violation("process \(child.number) ended, \(moment)", .traps)
            }
            try replay.takeIn(follower) { self.findings.violation("\($0), \(moment)") }
            try await check(place(server.port), children, replay, moment)
        }
        for child in children { child.send("quit") }
        for child in children { _ = await child.answer() }
        follower.close()
        findings.figure("rounds of \(processCount) processes", rounds)
        findings.figure("cuts", rounds * cutCount)
        watchdog.note("postgresql", nil)
    }

    /// Kills the server once, and cuts connections.
    private func disturb(_ server: PostgreSQLServer, _ proxy: TCPProxy, _ random: SeededRandom) async throws {
        var random = random
        let killed = random.next(below: cutCount)
        for step in 0..<cutCount {
            try await Task.sleep(for: .milliseconds(random.next(below: 200)))
            switch random.next(below: 4) {
            case 0: proxy.cutAll()
            case 1: _ = proxy.cutBefore("COMMIT")
            default: _ = proxy.cutReply(to: "COMMIT")
            }
            guard step == killed else { continue }
            server.kill()
            findings.count(.kills)
            try await Task.sleep(for: .milliseconds(random.next(below: 500)))
            try server.start()
        }
    }

    private func check(
        _ place: SharedPlace, _ children: [SharingProcess], _ replay: FeedReplay, _ moment: String
    ) async throws {
        watchdog.note("postgresql", "what all show, \(moment)")
        for child in children { child.send("check") }
        let reader = try place.reader()
        for child in children {
            let answer = await child.answer() ?? "nothing"
            findings.expect(answer == "same", "process \(child.number): \(answer), \(moment)", .stale)
            findings.count(.acknowledged, child.takeAcknowledgedCount())
            let key = SharingChild.ownKey(child.number)
            let found = try reader.records(2).first { $0.key == key }?.revision ?? 0
            findings.expect(
                found == child.acknowledged,
                "process \(child.number) has \(found) of \(child.acknowledged) acknowledged saves, \(moment)", .lost)
        }
        for table in RecordFile.tables.indices {
            let replayed = replay.records(RecordFile.tables[table])
            let isSame = Set(try reader.records(table)) == replayed
            findings.expect(isSame, "the feed of \(RecordFile.tables[table]), \(moment)", .lost)
        }
    }
}
#endif
