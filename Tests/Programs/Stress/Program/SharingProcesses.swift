import CoreDataSource
import Foundation
import RowStore
import TestSupport

/// The processes of a suite that share a store, and a follower that replays the store's feed.
@MainActor
final class SharingProcesses {
    private(set) var children: [SharingProcess] = []
    private let suite: String
    private let place: SharedPlace
    private let follower: any PersistentStore & StoreSharing
    private var replay: FeedReplay
    private let findings: Findings
    private let watchdog: Watchdog
    /// What was reported to processes that have ended.
    private var reported: (saved: [String], refused: [String]) = ([], [])
    private var askedSaves = 0
    /// Of processes that have ended.
    private var endedCheckpoints = 0

    /// - Parameter suite: The name of the suite, for the watchdog.
    init(
        _ suite: String, _ count: Int, _ place: SharedPlace, _ follower: any PersistentStore & StoreSharing,
        findings: Findings, watchdog: Watchdog
    ) async throws {
        (self.suite, self.place, self.follower) = (suite, place, follower)
        (self.findings, self.watchdog) = (findings, watchdog)
        replay = FeedReplay(ModelLayout(.stress), after: follower.firstPosition)
        for number in 0..<count { children.append(try await SharingProcess(place, number, findings)) }
    }

    /// Makes each process save so often.
    func begin(_ saveCount: Int, _ random: inout SeededRandom, _ moment: String) {
        watchdog.note(suite, moment)
        // Random ones of three tasks, and those of its own record.
        askedSaves += children.count * (3 * saveCount + max(1, saveCount / 4))
        for child in children { child.send("go \(saveCount) \(random.next() >> 20)") }
    }

    /// - Parameter killed: The place of a process that was killed.
    func waitUntilDone(but killed: Int? = nil, _ moment: String) async {
        for (index, child) in children.enumerated() where index != killed {
            if await child.answer() != "done" {
                findings.violation("process \(child.number) ended, \(moment)", .traps)
            }
        }
    }

    /// Starts a process in the place of one that has ended.
    func replace(_ index: Int, by number: Int) async throws {
        let attempts = children[index].takeAttempts()
        reported = (reported.saved + attempts.saved, reported.refused + attempts.refused)
        endedCheckpoints += children[index].checkpointCount
        children[index] = try await SharingProcess(place, number, findings)
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
        try replay.takeIn(follower) { self.findings.violation("\($0), \(moment)") }
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
        replay.check(reported) { self.findings.violation("\($0), \(moment)", .lost) }
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
        follower.close()
        findings.figure("saves asked for", askedSaves)
        findings.figure("commits", replay.commits)
        let checkpoints = children.reduce(endedCheckpoints) { $0 + $1.checkpointCount }
        if checkpoints > 0 { findings.figure("checkpoints", checkpoints) }
        findings.figure("rounds of \(children.count) processes", rounds)
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
