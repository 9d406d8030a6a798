import RowStore
import Testing

/// The age of a record, if the clock was wrong or is wrong.
struct HistoryAgesTests {
    private let ages = HistoryAges(now: 100_000, KeptHistory.Limits(seconds: 10, bytes: 1))

    @Test(arguments: [(89_999, true), (90_000, false), (100_000, false), (110_000, false)])
    func aRecordIsOldBeyondTheTime(time: Int64, isOld: Bool) {
        #expect(ages.isOld(time, next: nil) == isOld)
        #expect(ages.isOld(time, next: 0) == isOld)
        #expect(!ages.isFuture(time))
    }

    @Test(arguments: [110_001, Int64.max])
    func aRecordFromTheFutureIsAsOldAsTheNextOne(time: Int64) {
        #expect(ages.isFuture(time))
        #expect(!ages.isOld(time, next: nil))
        #expect(!ages.isOld(time, next: 90_000))
        #expect(ages.isOld(time, next: 89_999))
    }
}
