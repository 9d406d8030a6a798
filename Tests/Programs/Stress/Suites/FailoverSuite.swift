#if PostgreSQL
import CoreDataSource
import Foundation
import PostgreSQLStore
import TestSupport

/// A standby that lacks the newest commits takes the place of the server that had them while several processes save, at any point of
/// their saves. Each process finds it at another time.
///
/// What the lost server had acknowledged last may be gone. In the history that goes on, each change begins where the one before it
/// ended, so that no save has overwritten what its process did not know; nothing that was refused is there; and of what is saved
/// afterwards, nothing is lost. The records of the kept history, replayed, are the store.
@MainActor
final class FailoverSuite {
    private let rounds: Int
    private let processCount: Int
    private let saveCount: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        rounds = size.choose(1, 40)
        processCount = size.choose(3, 5)
        saveCount = size.choose(15, 31)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(120), findings: findings)
    }

    func run() async throws {
        guard PostgreSQLServer.isInstalled else { return }
        for round in 1...rounds where findings.violations.count < 20 { try await failOver(round) }
        findings.recordFigure("failovers", rounds)
    }

    private func failOver(_ round: Int) async throws {
        let moment = "failover \(round), seed \(seed)"
        var random = SeededRandom(seed: seed).branch(UInt64(round))
        let primary = try PostgreSQLServer()
        let database = try primary.makeDatabase()
        let standby = try PostgreSQLServer(standbyOf: primary)
        let proxies = try (0..<processCount).map { _ in try TCPProxy(to: primary.port) }
        func place(_ port: Int) -> SharedPlace {
            .server(
                connection: primary.connectionString(database: database, port: port), port: port, database: database)
        }
        try place(primary.port).openStore(history: HistoryReplay.kept).close()
        let shared = try await SharingProcesses("failovers", processCount, findings: findings, watchdog: watchdog) {
            place(proxies[$0].port)
        }
        shared.begin(saveCount, &random, moment)
        try await Task.sleep(for: .milliseconds(random.next(below: 1000)))
        try standby.stopFollowing(primary)
        try await Task.sleep(for: .milliseconds(random.next(below: 500)))
        primary.kill()
        findings.count(.kills)
        try standby.promote()
        for index in proxies.indices.shuffled(using: &random) {
            if random.next(below: 2) == 0 { try await Task.sleep(for: .milliseconds(random.next(below: 1500))) }
            proxies[index].redirect(to: standby.port)
            shared.children[index].beginRecovery()
        }
        await shared.waitUntilDone(moment)
        shared.forgetSaved()
        shared.begin(saveCount, &random, moment)
        await shared.waitUntilDone(moment)
        let follower = try place(standby.port).openStore()
        shared.follow(follower, after: 0)
        let reader = try place(standby.port).reader()
        try await shared.check(moment, { reader }) { child in
            let found = try reader.savedCount(of: child.number)
            self.findings.expect(
                found == child.acknowledged,
                "process \(child.number) has \(found) of \(child.acknowledged) acknowledged saves, \(moment)", .lost)
        }
        await shared.end(1)
        let container = try place(standby.port).open()
        let difference = try await HistoryReplay(container).difference()
        findings.expect(difference == nil, "\(difference ?? ""), \(moment)", .lost)
        try await container.close()
    }
}
#endif
