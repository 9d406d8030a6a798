import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import Testing

/// The power goes at some moments of a row of saves. `Scripts/stress power-cut` tries more of them, up to all.
struct PowerCutTests {
    private let power = PowerCut(saveCount: 20, step: 9, seed: testSeed())

    @Test func withFullDurabilityEveryAcknowledgedSaveIsThere() throws {
        try power.cut(.full)
        #expect(power.findings.violations == [])
    }

    @Test func withNormalDurabilityThereIsNoHoleAndNoHalfSave() throws {
        try power.cut(.normal)
        #expect(power.findings.violations == [])
    }

    /// The disk refuses one sync, forgets what it was about, and agrees to the next as if nothing had been.
    @Test func aFailedFsyncIsNotReportedAsSuccess() throws {
        try power.failSyncs(saves: 12)
        #expect(power.findings.violations == [])
    }
}
