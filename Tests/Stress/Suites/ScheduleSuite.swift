import TestSupport

/// Seeded orders of saves, cancels, resets, closes and drops of containers, on one thread: the same seed gives the same order.
@MainActor
struct ScheduleSuite {
    private let count: Int
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    /// Every so many schedules are run twice, to see that they are the same.
    private static let repeated: UInt64 = 50

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        count = size.choose(120, 10_000)
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(60), findings: findings)
    }

    func run() {
        for number in 0..<UInt64(count) where findings.violations.count < 20 {
            let seed = seed &+ number
            watchdog.note("schedule", "seed \(seed)")
            Progress.note("schedule seed \(seed)")
            let digest = Schedule(seed: seed, findings).run()
            findings.count(.schedules)
            guard number.isMultiple(of: ScheduleSuite.repeated) else { continue }
            findings.expect(
                Schedule(seed: seed, Findings()).run() == digest, "the schedule of seed \(seed) is not the same again")
        }
        watchdog.note("schedule", nil)
    }
}
