internal import Foundation

/// Decides when a store looks for the records that its history must drop. All kinds of stores use the same times.
///
/// The first save after the opening of the store looks for old records. After a look, the next look is due when one of four limits
/// is reached. For the records that were added since the last look, the limits are a sixteenth of the history's byte limit, and 64
/// records. For the time since the last look, the limits are a sixteenth of the history's time limit, and ``maxPause``. If a look
/// leaves old records, the next save looks again.
package struct TrimmingSchedule: Sendable {
    private static let share: Int64 = 16
    private static let recordLimit = 64
    /// The longest time between two looks, in milliseconds.
    private static let maxPause: Int64 = 60_000

    /// The bytes and the records that were added since the last look.
    private var added = (bytes: Int64(0), records: 0)
    /// The time of the last look, in milliseconds since 1970.
    private var lastLook: Int64 = 0
    /// Whether the last look has left old records, or another member has lowered the limits of the history since.
    private var isBehind = false

    package init() {}

    /// Called for each save.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the added records.
    ///   - records: The number of the added records.
    package mutating func add(bytes: Int64, records: Int) {
        added.bytes += bytes
        added.records += records
    }

    /// Returns whether to look for old records.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    package func isDue(at now: Int64, _ limits: KeptHistory.Limits) -> Bool {
        let pause = min(limits.seconds * 1000 / TrimmingSchedule.share, TrimmingSchedule.maxPause)
        return isBehind || added.bytes >= limits.bytes / TrimmingSchedule.share
            || added.records >= TrimmingSchedule.recordLimit || abs(now - lastLook) >= pause
    }

    /// Called after a look for old records.
    ///
    /// - Parameters:
    ///   - now: The time in milliseconds since 1970.
    ///   - isBehind: Whether the look has left old records, because a save drops only a few records.
    package mutating func didLook(at now: Int64, isBehind: Bool) {
        (added, lastLook, self.isBehind) = ((0, 0), now, isBehind)
    }

    /// Called if another member may have changed the limits of the history. If the new limits are lower, the next save looks
    /// for old records.
    package mutating func limitsChanged(from old: KeptHistory.Limits, to new: KeptHistory.Limits) {
        if new.bytes < old.bytes || new.seconds < old.seconds { isBehind = true }
    }

    /// The time in milliseconds since 1970.
    package static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
