import Foundation
import TestSupport

/// Seeded orders of saves, cancels, resets, closes and drops of containers, on one thread: the same seed gives the same order.
///
/// The executor of tasks, the main actor, the queues, the clock, what blocked calls wait for and the store are the simulation's.
/// What it cannot order it does not run: the threads of SQLite. Nothing in a schedule depends on the time.
@MainActor
struct ScheduleSuite {
    private let count: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    /// Every so many schedules are run twice, to see that they are the same.
    private static let repeated: UInt64 = 50

    init(_ arguments: Arguments, _ findings: Findings) {
        count = arguments.count ?? arguments.size.choose(300, 10_000)
        seed = arguments.seed
        self.findings = findings
        // No schedule takes a second, but for a real deadlock.
        watchdog = Watchdog(limit: .seconds(60), findings: findings)
    }

    func run() {
        var trace: UInt64 = 0
        var steps = 0
        for number in 0..<UInt64(count) where findings.violations.count < 20 {
            let seed = seed &+ number
            guard case .ended(let own, let ownSteps) = run(seed, findings) else { break }
            findings.count(.schedules)
            trace = trace &* 0x100_0000_01B3 ^ own
            steps += ownSteps
            guard number.isMultiple(of: ScheduleSuite.repeated) else { continue }
            guard case .ended(own, _) = run(seed, Findings()) else {
                findings.recordViolation("the schedule of seed \(seed) is not the same again")
                break
            }
        }
        watchdog.note("schedule", nil)
        findings.recordFigure("steps", steps)
        findings.recordFigure("is the trace of all", String(trace, radix: 16))
    }

    private func run(_ seed: UInt64, _ findings: Findings) -> Schedule.Outcome {
        watchdog.note("schedule", "seed \(seed)")
        Progress.note("schedule seed \(seed)")
        return Schedule(seed: seed, findings).run()
    }
}
