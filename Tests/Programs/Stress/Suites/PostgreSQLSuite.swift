#if PostgreSQL
import CoreDataSource
import Foundation
import PostgreSQLStore
import TestSupport

/// Several processes share a store on a server, which is killed and halted while they save, and whose connections are cut.
///
/// At the end of each round, every list of every process shows what the server has, and the feed, in which each change begins
/// where the one before it ended, comes to the same. What was reported as saved is there. The kept history has the saves of all
/// processes in one order: the records, replayed, are the store.
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
        let follower = try place(server.port).openStore(history: HistoryReplay.kept)
        let shared = try await SharingProcesses(
            "postgresql", processCount, findings: findings, watchdog: watchdog
        ) { _ in place(proxy.port) }
        shared.follow(follower, after: follower.firstPosition)
        for round in 1...rounds where findings.violations.count < 20 {
            let moment = "round \(round), seed \(seed)"
            shared.begin(saveCount, &random, moment)
            try await disturb(server, proxy, shared, random.branch(UInt64(round)))
            try await shared.stopSome(round, &random)
            await shared.waitUntilDone(moment)
            let reader = try place(server.port).reader()
            try await shared.check(moment, { reader }) { child in
                let found = try reader.savedCount(of: child.number)
                self.findings.expect(
                    found == child.acknowledged,
                    "process \(child.number) has \(found) of \(child.acknowledged) acknowledged saves, \(moment)", .lost
                )
            }
        }
        await shared.end(rounds)
        let container = try place(server.port).open()
        let difference = try await HistoryReplay(container).difference()
        findings.expect(difference == nil, "\(difference ?? ""), seed \(seed)", .lost)
        try await container.close()
        findings.recordFigure("cuts", rounds * cutCount)
    }

    /// Kills the server once, halts it once, and cuts connections.
    private func disturb(
        _ server: PostgreSQLServer, _ proxy: TCPProxy, _ shared: SharingProcesses, _ random: SeededRandom
    ) async throws {
        var random = random
        let (killed, halted) = (random.next(below: cutCount), random.next(below: cutCount))
        for step in 0..<cutCount {
            try await Task.sleep(for: .milliseconds(random.next(below: 200)))
            switch random.next(below: 4) {
            case 0: proxy.cutAll()
            case 1: _ = proxy.cutBefore("COMMIT")
            default: _ = proxy.cutReply(to: "COMMIT")
            }
            if step == halted {
                server.pause()
                findings.count(.stops)
                try await Task.sleep(for: .milliseconds(random.next(below: 3000)))
                server.resume()
            }
            guard step == killed else { continue }
            server.kill()
            findings.count(.kills)
            try await Task.sleep(for: .milliseconds(random.next(below: 500)))
            try server.start()
            for child in shared.children { child.beginRecovery() }
        }
    }
}
#endif
