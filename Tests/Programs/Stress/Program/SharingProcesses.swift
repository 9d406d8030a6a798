import CoreDataSource
import Foundation
import RowStore
import TestSupport

/// The processes of a suite that share a store, and a follower that replays the store's feed.
@MainActor
final class SharingProcesses {
    private(set) var children: [SharingProcess] = []
    private let suite: String
    private let place: (Int) -> SharedPlace
    private var follower: (any PersistentStore & StoreSharing)?
    private var replay = FeedReplay(ModelLayout(.stress), after: 0)
    private let findings: Findings
    private let watchdog: Watchdog
    /// What was reported to processes that have ended.
    private var reported: (saved: [String], refused: [String]) = ([], [])
    private var requestedSaves = 0
    /// Of processes that have ended.
    private var endedCheckpoints = 0

    /// - Parameters:
    ///   - suite: The name of the suite, for the watchdog.
    ///   - place: Where each process opens the store, by its number.
    init(
        _ suite: String, _ count: Int, findings: Findings, watchdog: Watchdog, _ place: @escaping (Int) -> SharedPlace
    ) async throws {
        (self.suite, self.place) = (suite, place)
        (self.findings, self.watchdog) = (findings, watchdog)
        for number in 0..<count { children.append(try await start(number)) }
    }

    private func start(_ number: Int) async throws -> SharingProcess {
        // On a busy machine a round may take long, but nobody is stuck while saves come.
        try await SharingProcess(place(number), number, findings) { [watchdog, suite] in watchdog.renew(suite) }
    }

    /// Replays the feed of a store.
    func follow(_ follower: any PersistentStore & StoreSharing, after position: Int64) {
        self.follower = follower
        replay = FeedReplay(ModelLayout(.stress), after: position)
    }

    /// What was reported as saved so far may be lost, but not what was refused be there.
    func forgetSaved() {
        for child in children { reported.refused += child.takeAttempts().refused }
    }

    /// Makes each process save so often.
    func begin(_ saveCount: Int, _ random: inout SeededRandom, _ moment: String) {
        watchdog.note(suite, moment)
        // Random ones of three tasks, and those of its own record.
        requestedSaves += children.count * (3 * saveCount + max(1, saveCount / 4))
        for child in children { child.send("go \(saveCount) \(random.next() >> 20)") }
    }

    /// - Parameter killed: The place of a process that was killed.
    func waitUntilDone(but killed: Int? = nil, _ moment: String) async {
        for (index, child) in children.enumerated() where index != killed {
            if await child.answer() != "done" {
                findings.recordViolation("process \(child.number) ended, \(moment)", .traps)
            }
        }
    }

    /// Starts a process in the place of one that has ended.
    func replace(_ index: Int, by number: Int) async throws {
        let attempts = children[index].takeAttempts()
        reported = (reported.saved + attempts.saved, reported.refused + attempts.refused)
        endedCheckpoints += children[index].checkpointCount
        children[index] = try await start(number)
    }

    /// Stops a process for longer than others wait for a lease that it has, in every fifth round.
    ///
    /// - Parameter killed: The place of a process that is killed.
    func stopSome(_ round: Int, but killed: Int? = nil, _ random: inout SeededRandom) async throws {
        let index = random.next(below: children.count)
        guard round % 5 == 2, index != killed else { return }
        try await children[index].stop(for: .seconds(8))
        findings.count(.stops)
    }

    /// Compares what all processes show with the rows of the store, and these with the replayed feed.
    ///
    /// - Parameters:
    ///   - makeReader: Called once the processes have answered.
    ///   - expectSaves: Checks the saves that were reported to a process.
    func check(
        _ moment: String, _ makeReader: () throws -> any RecordReader, _ expectSaves: (SharingProcess) throws -> Void
    ) async throws {
        guard let follower else { return }
        watchdog.note(suite, "what all show, \(moment)")
        for child in children { child.send("check") }
        for child in children {
            let answer = await child.answer() ?? "nothing"
            findings.expect(answer == "same", "process \(child.number): \(answer), \(moment)", .stale)
            findings.count(.acknowledged, child.takeAcknowledgedCount())
            try expectSaves(child)
            let attempts = child.takeAttempts()
            reported = (reported.saved + attempts.saved, reported.refused + attempts.refused)
        }
        // A save that a process has shown on main may be in the store only now.
        try replay.catchUp(follower) { self.findings.recordViolation("\($0), \(moment)", .lost) }
        replay.check(reported) { self.findings.recordViolation("\($0), \(moment)", .lost) }
        reported = ([], [])
        let reader = try makeReader()
        for (index, table) in RecordFile.tables.enumerated() {
            let isSame = Set(try reader.records(index)) == replay.records(table)
            findings.expect(isSame, "the feed of \(table), \(moment)", .lost)
        }
    }

    /// Ends the processes and the follower.
    func end(_ rounds: Int) async {
        for child in children { child.send("quit") }
        for child in children { _ = await child.answer() }
        follower?.close()
        findings.recordMaximum("longest wait of main, ms", children.map(\.longestWait).max() ?? 0)
        // Where processes are halted, too, it contains that.
        if let recovery = children.compactMap(\.recovery).max() {
            findings.recordMaximum("longest recovery in \(suite), ms", recovery)
        }
        findings.sum("saves asked for", requestedSaves)
        findings.sum("commits", Int(replay.commits))
        let checkpoints = children.reduce(endedCheckpoints) { $0 + $1.checkpointCount }
        if checkpoints > 0 { findings.recordFigure("checkpoints", checkpoints) }
        findings.sum("rounds of \(children.count) processes", rounds)
        watchdog.note(suite, nil)
    }
}

extension RecordReader {
    /// How many saves the record counts that a process alone writes.
    func savedCount(of process: Int) throws -> Int64 {
        let key = SharingChild.ownKey(process)
        return try records(2).first { $0.key == key }?.revision ?? 0
    }
}
