import Dispatch
import RowStore
import StoreFaults
import TestSupport

/// The power goes while a store is written: after a call of many, or of all of them.
///
/// Full is every call of 300 saves, with all five ways in which the disk can be left, at both levels of durability; and each
/// sync of 40 saves fails once, with the power cut after every sixth call of each of those runs. The three run side by side.
struct PowerCutSuite: Sendable {
    private let power: PowerCut
    private let failing: PowerCut
    private let failingSaves: Int
    private let findings: Findings
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        self.findings = findings
        power = PowerCut(saveCount: size.choose(30, 300), step: size.choose(4, 1), seed: seed, findings: findings)
        var failing = power
        failing.step = size.choose(9, 2)
        self.failing = failing
        failingSaves = size.choose(10, 40)
        watchdog = Watchdog(limit: .seconds(size.choose(120, 7200)), findings: findings)
    }

    func run() {
        DispatchQueue.concurrentPerform(iterations: 3) { part in
            let name = ["full durability", "normal durability", "each sync fails once"][part]
            watchdog.note(name, "the power is cut")
            do {
                switch part {
                case 0: try power.cut(.full)
                case 1: try power.cut(.normal)
                default: try failing.failSyncs(saves: failingSaves)
                }
            } catch {
                findings.recordViolation("\(name): \(error)")
            }
            watchdog.note(name, nil)
        }
    }
}
