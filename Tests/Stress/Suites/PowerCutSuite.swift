import RowStore
import StoreFaults
import TestSupport

/// The power goes while a store is written: after a call of many, or of all of them.
struct PowerCutSuite {
    private let size: Size
    private let power: PowerCut
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        self.size = size
        power = PowerCut(saveCount: size.choose(30, 300), step: size.choose(4, 1), seed: seed, findings: findings)
        watchdog = Watchdog(limit: .seconds(size.choose(120, 7200)), findings: findings)
    }

    func run() throws {
        for level in [.full, .normal] as [SynchronousLevel] {
            watchdog.note("power cut", "\(level) durability")
            try power.cut(level)
        }
        watchdog.note("power cut", "each sync fails once")
        var failing = power
        failing.step = size.choose(9, 2)
        try failing.failSyncs(saves: size.choose(10, 40))
        watchdog.note("power cut", nil)
    }
}
