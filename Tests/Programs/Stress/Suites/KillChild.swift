import CoreDataSource
import Foundation
import StoreFaults
import Synchronization
import TestSupport

/// What a process is to do until it is killed.
struct KillPlan {
    var folder: URL
    var seed: UInt64
    var key: String
    /// The call for the files before which it kills itself; 0 for none.
    var lastCall: Int
    /// How many operations of each task the store has.
    var done: [Int64]

    static let taskCount = 8

    var arguments: [String] {
        ["kill", folder.path, "\(seed)", key, "\(lastCall)"] + done.map { "\($0)" }
    }

    init(folder: URL, seed: UInt64, key: String, lastCall: Int, done: [Int64]) {
        self.folder = folder
        self.seed = seed
        self.key = key
        self.lastCall = lastCall
        self.done = done
    }

    init?(arguments: [String]) {
        guard arguments.count == 4 + KillPlan.taskCount, let seed = UInt64(arguments[1]),
            let lastCall = Int(arguments[3])
        else { return nil }
        self.init(
            folder: URL(filePath: arguments[0]), seed: seed, key: arguments[2], lastCall: lastCall,
            done: arguments[4...].compactMap { Int64($0) })
    }
}

/// Saves from eight tasks and three data sources, and says of each save that it was acknowledged, until the process ends.
///
/// Its lines: `open REASON`, `main TASK NUMBER`, `store TASK NUMBER`, `failed TASK NUMBER ERROR`.
@MainActor
struct KillChild {
    private let plan: KillPlan

    init(_ arguments: [String]) throws {
        guard let plan = KillPlan(arguments: arguments) else { throw Suite.InvalidArguments(arguments: arguments) }
        self.plan = plan
    }

    func run() async throws {
        let lastCall = plan.lastCall
        let calls = try FaultyCalls { number in
            if number == lastCall { kill(getpid(), SIGKILL) }
            return false
        }
        // Half of the stores keep a history.
        let history: KeptHistory =
            plan.seed.isMultiple(of: 2) ? .kept(for: .seconds(86_400), upTo: 64 << 20) : .unchanged
        let container = try StressStore.open(
            StressStore.url(in: plan.folder), key: plan.key, history: history, calls: calls.calls)
        container.flushOnTermination()
        say("open \(container.startup.reason)")
        let recordSources = try container.recordSources
        let watchdog = Watchdog(limit: .seconds(20))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<KillPlan.taskCount {
                let recordSource = recordSources[task % recordSources.count]
                let ledger = Ledger(seed: plan.seed, task: task)
                let done = plan.done[task]
                group.addTask { await save(ledger, done, recordSource, watchdog) }
            }
            try await group.waitForAll()
        }
        withExtendedLifetime(container) {}
    }
}

private func save(_ ledger: Ledger, _ done: Int64, _ recordSource: any RecordSource, _ watchdog: Watchdog) async {
    var cells = ledger.cells(after: done)
    for number in (done + 1)... {
        let operation = ledger.operation(number, on: cells)
        watchdog.note("task \(ledger.task)", operation.description)
        do {
            try await recordSource.run(operation)
        } catch {
            say("failed \(ledger.task) \(number) \(error)")
            return watchdog.note("task \(ledger.task)", nil)
        }
        say("\(operation.level) \(ledger.task) \(number)")
        cells = operation.applied(to: cells)
    }
}
