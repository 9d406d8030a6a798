import CoreDataSource
import Foundation
import TestSupport
import Testing

/// The days, weeks and months of dates.
struct CalendarPeriodTests {
    private func calendar(_ zone: String, firstWeekday: Int = 2) throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        (calendar.firstWeekday, calendar.minimumDaysInFirstWeek) = (firstWeekday, 4)
        return calendar
    }

    private func moment(_ text: String) throws -> Double {
        try Date(text, strategy: .iso8601).timeIntervalSinceReferenceDate
    }

    private func name(_ unit: CalendarPeriods.Unit, _ zone: String, _ text: String) throws -> String {
        let periods = CalendarPeriods(unit, try calendar(zone))
        return periods.name(ofPeriod: periods.period(of: try moment(text)))
    }

    @Test(arguments: [
        // The last and the first second of a day in Berlin, in winter and in summer.
        ("Europe/Berlin", "2026-11-27T22:59:59Z", "2026-11-27"),
        ("Europe/Berlin", "2026-11-27T23:00:00Z", "2026-11-28"),
        ("Europe/Berlin", "2026-06-27T21:59:59Z", "2026-06-27"),
        ("Europe/Berlin", "2026-06-27T22:00:00Z", "2026-06-28"),
        // The days with 25 and with 23 hours.
        ("Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25"),
        ("Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-25"),
        ("Europe/Berlin", "2026-10-25T23:00:00Z", "2026-10-26"),
        ("Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29"),
        ("Europe/Berlin", "2026-03-29T21:59:59Z", "2026-03-29"),
        ("Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-30"),
        // A day that begins at one o'clock, and a day that a zone skipped.
        ("America/Sao_Paulo", "2018-11-04T02:59:59Z", "2018-11-03"),
        ("America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-04"),
        ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"), ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"),
        // One minute after midnight it was 23:01 again.
        ("America/St_Johns", "1999-10-31T02:29:59Z", "1999-10-30"),
        ("America/St_Johns", "1999-10-31T02:30:00Z", "1999-10-31"),
        ("America/St_Johns", "1999-10-31T02:31:00Z", "1999-10-31"),
        ("America/St_Johns", "1999-10-31T03:29:59Z", "1999-10-31"),
        // Before the reference date.
        ("GMT", "1969-12-31T23:59:59Z", "1969-12-31"), ("GMT", "2000-12-31T23:59:59Z", "2000-12-31"),
    ])
    func aDayBeginsAtMidnight(zone: String, moment: String, day: String) throws {
        #expect(try name(.day, zone, moment) == day)
    }

    @Test func weeksAndMonthsAreThoseOfTheCalendar() throws {
        #expect(try name(.week, "Europe/Berlin", "2026-11-29T22:59:59Z") == "2026-11-23")
        #expect(try name(.week, "Europe/Berlin", "2026-11-29T23:00:00Z") == "2026-11-30")
        #expect(try name(.month, "Europe/Berlin", "2026-11-30T22:59:59Z") == "2026-11")
        #expect(try name(.month, "Europe/Berlin", "2026-11-30T23:00:00Z") == "2026-12")
        let sundays = CalendarPeriods(.week, try calendar("Europe/Berlin", firstWeekday: 1))
        #expect(sundays.name(ofPeriod: sundays.period(of: try moment("2026-11-29T22:59:59Z"))) == "2026-11-29")
    }

    /// Around every change of every zone, and at random.
    @Test func aLaterMomentNeverBelongsToAnEarlierPeriod() throws {
        var random = SeededRandom(seed: testSeed())
        let zones =
            TimeZone.knownTimeZoneIdentifiers.shuffled(using: &random).prefix(40) + [
                "America/St_Johns", "America/Juneau",
            ]
        for zone in zones {
            let calendar = try calendar(zone)
            let all = [CalendarPeriods.Unit.day, .week, .month].map { CalendarPeriods($0, calendar) }
            var moments = try [moment("1890-01-01T00:00:00Z")]
            while moments.count < 300,
                let change = calendar.timeZone.nextDaylightSavingTimeTransition(
                    after: Date(timeIntervalSinceReferenceDate: moments[moments.count - 1]))
            { moments.append(change.timeIntervalSinceReferenceDate) }
            for moment in moments.shuffled(using: &random).prefix(12) {
                var last = all.map { _ in Int64.min }
                for minute in stride(from: -1600.0, to: 1600, by: 37) {
                    let date = moment + minute * 60
                    for (index, periods) in all.enumerated() {
                        let period = periods.period(of: date)
                        #expect(period >= last[index], "\(zone) \(Date(timeIntervalSinceReferenceDate: date))")
                        last[index] = period
                        let interval = periods.interval(ofPeriod: period)
                        let isInside =
                            interval.start.timeIntervalSinceReferenceDate <= date
                            && date < interval.end.timeIntervalSinceReferenceDate
                        #expect(isInside, "\(zone) \(Date(timeIntervalSinceReferenceDate: date)) \(interval)")
                    }
                }
                // The other order finds the same.
                let fresh = CalendarPeriods(.day, calendar)
                for minute in stride(from: 1600.0, to: -1600, by: -111) {
                    #expect(fresh.day(of: moment + minute * 60) == all[0].day(of: moment + minute * 60))
                }
            }
        }
    }

    /// As the calendar says, unless clocks were set back over midnight.
    @Test func ordinaryMomentsHaveTheDayOfTheCalendar() throws {
        var random = SeededRandom(seed: testSeed())
        for zone in ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Auckland"] {
            let calendar = try calendar(zone)
            let periods = CalendarPeriods(.day, calendar)
            for _ in 0..<500 {
                let moment = Double(Int64.random(in: -900_000_000...900_000_000, using: &random)) + 0.25
                let parts = calendar.dateComponents(
                    [.year, .month, .day], from: Date(timeIntervalSinceReferenceDate: moment))
                let name = periods.name(ofPeriod: periods.period(of: moment)).split(separator: "-").compactMap {
                    Int($0)
                }
                #expect(name == [parts.year, parts.month, parts.day], "\(zone) \(moment)")
            }
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, 1e200, -1e200, 1e15, -1e15]) func endlessMomentsHaveADay(
        moment: Double
    ) throws {
        let periods = CalendarPeriods(.month, try calendar("Europe/Berlin"))
        let period = periods.period(of: moment)
        #expect((period > 0) == (moment > 0))
        #expect(!periods.name(ofPeriod: period).isEmpty)
        #expect(periods.interval(ofPeriod: period).duration >= 0)
    }
}
