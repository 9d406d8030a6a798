package import Foundation
internal import RowStore

/// Divides time into days, weeks or months.
///
/// The time zone alone decides which day contains a moment. The calendar alone decides which days form a week or a month. A day
/// never begins twice: if clocks are set back from shortly after midnight to before midnight, the time until the second midnight
/// belongs to the day that has already begun. Therefore a later moment never belongs to an earlier period.
package final class CalendarPeriods: Sendable {
    package enum Unit: Sendable, Hashable {
        case day, week, month
    }

    private let unit: Unit
    private let zone: TimeZone
    /// The calendar with the time zone GMT, in which every day has 24 hours.
    private let calendar: Calendar
    /// The days of the period that was calculated last.
    private let last = Guarded<Range<Int64>?>(nil)
    /// A time range in which the clocks of the zone are not changed, in seconds since 2001-01-01 00:00 GMT.
    private let stableOffsetRange = Guarded<Range<Double>?>(nil)

    package init(_ unit: Unit, _ calendar: Calendar) {
        self.unit = unit
        zone = TimeZone(identifier: calendar.timeZone.identifier) ?? calendar.timeZone
        var fixed = Calendar(identifier: calendar.identifier)
        fixed.firstWeekday = calendar.firstWeekday
        fixed.minimumDaysInFirstWeek = calendar.minimumDaysInFirstWeek
        fixed.timeZone = .gmt
        self.calendar = fixed
    }

    private static let daySeconds = 86_400.0
    /// The largest distance of a day from day 0, in days. No calendar calculates days that are farther away.
    private static let maxDays = 1e11
    /// More seconds than any zone has ever set its clocks back. The largest change was in Alaska, which repeated a day in 1867.
    private static let maxSetBack = 26 * 3600.0

    // MARK: Days

    /// Returns the number of the day that contains a moment. Day 0 is 2001-01-01 in the time zone.
    ///
    /// - Parameter moment: Seconds since 2001-01-01 00:00 GMT.
    package func day(of moment: Double) -> Int64 {
        let days = moment / Self.daySeconds
        guard abs(days) < Self.maxDays else { return Int64(days < 0 ? -Self.maxDays : Self.maxDays) }
        let day = clockDay(of: moment)
        let hasStableOffset = stableOffsetRange.withLock {
            $0.map { $0.contains(moment - Self.maxSetBack) && $0.contains(moment) } ?? false
        }
        return hasStableOffset ? day : max(day, lastDay(beforeChangesUntil: moment) ?? day)
    }

    /// If the clocks were changed shortly before a moment, returns the latest day that they showed just before a change;
    /// otherwise nil.
    private func lastDay(beforeChangesUntil moment: Double) -> Int64? {
        var latest: Int64?
        var (start, end) = (moment - 30 * Self.daySeconds, Double.infinity)
        while let change = zone.nextDaylightSavingTimeTransition(after: Date(timeIntervalSinceReferenceDate: start)) {
            let change = change.timeIntervalSinceReferenceDate
            end = change
            guard start < change, change <= moment else { break }
            if moment - change < Self.maxSetBack { latest = max(latest ?? .min, clockDay(of: change - 0.001)) }
            (start, end) = (change, .infinity)
        }
        stableOffsetRange.withLock { [start, end] in $0 = start < end ? start..<end : nil }
        return latest
    }

    /// Returns the day that clocks show at a moment.
    private func clockDay(of moment: Double) -> Int64 {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: moment))
        return Int64(((moment + Double(offset)) / Self.daySeconds).rounded(.down))
    }

    /// Returns the first second of a day.
    private func start(ofDay day: Int64) -> Double {
        // Begin the search within 3 days of the same day in GMT: zones differ from GMT by at most 15 hours, and a zone has once
        // skipped a day.
        var (low, high) = (Double(day) - 3, Double(day) + 3)
        (low, high) = (low * Self.daySeconds, high * Self.daySeconds)
        while high - low > 1 {
            let middle = ((low + high) / 2).rounded(.down)
            if self.day(of: middle) < day { low = middle } else { high = middle }
        }
        return high
    }

    /// Returns the end of the day that contains a date, which is the first moment of the next day.
    package func endOfDay(of date: Date) -> Date {
        Date(timeIntervalSinceReferenceDate: start(ofDay: day(of: date.timeIntervalSinceReferenceDate) + 1))
    }

    // MARK: Periods

    /// Returns the number of the first day in the period that contains a moment.
    package func period(of moment: Double) -> Int64 { days(from: day(of: moment)).lowerBound }

    /// Returns the days of the period that contains a day.
    private func days(from day: Int64) -> Range<Int64> {
        if unit == .day { return day..<day + 1 }
        if let last = last.withLock({ $0 }), last.contains(day) { return last }
        let noon = Date(timeIntervalSinceReferenceDate: (Double(day) + 0.5) * Self.daySeconds)
        guard let interval = calendar.dateInterval(of: unit == .week ? .weekOfYear : .month, for: noon) else {
            return day..<day + 1
        }
        let first = Int64((interval.start.timeIntervalSinceReferenceDate / Self.daySeconds).rounded())
        let end = Int64((interval.end.timeIntervalSinceReferenceDate / Self.daySeconds).rounded())
        guard first <= day, day < end else { return day..<day + 1 }
        last.withLock { $0 = first..<end }
        return first..<end
    }

    /// Returns the time interval of the period that begins with a day.
    package func interval(ofPeriod first: Int64) -> DateInterval {
        let start = start(ofDay: first)
        let end = max(start, self.start(ofDay: days(from: first).upperBound))
        return DateInterval(
            start: Date(timeIntervalSinceReferenceDate: start), end: Date(timeIntervalSinceReferenceDate: end))
    }

    /// Returns the name of the period that begins with a day, for example `2026-11-28`; for a month, `2026-11`.
    package func name(ofPeriod first: Int64) -> String {
        let noon = Date(timeIntervalSinceReferenceDate: (Double(first) + 0.5) * Self.daySeconds)
        let parts = calendar.dateComponents([.year, .month, .day], from: noon)
        guard let year = parts.year, let month = parts.month, let day = parts.day else { return "\(first)" }
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = "\(abs(number))"
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let name = "\(padded(year, 4))-\(padded(month, 2))"
        return unit == .month ? name : "\(name)-\(padded(day, 2))"
    }
}
