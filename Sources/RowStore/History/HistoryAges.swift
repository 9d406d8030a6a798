/// Determines which records of a history are too old at a given time.
///
/// A record from far in the future was made while the clock was wrong, or the clock is wrong now: a device without a battery
/// for its clock may start in 1970. So the time of such a record says nothing about its age. The time of the first later
/// record that is not from the future is used instead.
package struct HistoryAges: Sendable {
    /// The times of records that are neither too old nor from the future, in milliseconds since 1970.
    package let times: ClosedRange<Int64>

    /// - Parameter now: The time in milliseconds since 1970.
    package init(now: Int64, _ limits: KeptHistory.Limits) {
        times = now - limits.seconds * 1000...now + limits.seconds * 1000
    }

    package func isFuture(_ time: Int64) -> Bool { time > times.upperBound }

    /// Returns whether a record is too old.
    ///
    /// - Parameters:
    ///   - time: The time of the record, in milliseconds since 1970.
    ///   - next: The time of the first later record that is not from the future; nil if there is none. Used only if the record
    ///     itself is from the future.
    package func isOld(_ time: Int64, next: Int64?) -> Bool {
        (isFuture(time) ? next ?? time : time) < times.lowerBound
    }
}
