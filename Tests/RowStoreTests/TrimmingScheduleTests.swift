import RowStore
import Testing

/// When a store looks for old records of its history.
struct TrimmingScheduleTests {
    /// A sixteenth of the bytes is 1,000, and a sixteenth of the time is a second.
    private let limits = KeptHistory.Limits(seconds: 16, bytes: 16_000)
    private let now: Int64 = 1_000_000_000

    private func looked(isBehind: Bool = false) -> TrimmingSchedule {
        var schedule = TrimmingSchedule()
        schedule.didLook(at: now, isBehind: isBehind)
        return schedule
    }

    /// A program that makes few saves each time would otherwise never look.
    @Test func theFirstSaveLooks() {
        #expect(TrimmingSchedule().isDue(at: now, limits))
        #expect(!looked().isDue(at: now, limits))
    }

    @Test(arguments: [(999, 1, false), (1_000, 1, true), (1, 63, false), (1, 64, true)])
    func manyBytesOrRecordsAreLookedAt(bytes: Int64, records: Int, isDue: Bool) {
        var schedule = looked()
        schedule.add(bytes: bytes, records: records)
        #expect(schedule.isDue(at: now, limits) == isDue)
        schedule.didLook(at: now, isBehind: false)
        #expect(!schedule.isDue(at: now, limits))
    }

    /// The clock may be set back.
    @Test(arguments: [
        (16, 999, false), (16, 1_000, true), (16, -1_000, true), (86_400, 59_999, false), (86_400, 60_000, true),
    ])
    func aSaveLooksAfterSomeTime(seconds: Int64, pause: Int64, isDue: Bool) {
        let limits = KeptHistory.Limits(seconds: seconds, bytes: 16_000)
        #expect(looked().isDue(at: now + pause, limits) == isDue)
    }

    @Test func aLookThatLeavesOldRecordsIsFollowedByAnother() {
        var schedule = looked(isBehind: true)
        #expect(schedule.isDue(at: now, limits))
        schedule.didLook(at: now, isBehind: false)
        #expect(!schedule.isDue(at: now, limits))
        // Another member has raised the limits, and then another has lowered them.
        let higher = KeptHistory.Limits(seconds: limits.seconds, bytes: limits.bytes + 1)
        schedule.limitsChanged(from: limits, to: higher)
        #expect(!schedule.isDue(at: now, higher))
        schedule.limitsChanged(from: higher, to: limits)
        #expect(schedule.isDue(at: now, limits))
    }
}
