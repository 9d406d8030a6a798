import RowStore
import TestSupport
import Testing

/// Dates against a calendar that counts days one by one.
struct DateTextTests {
    /// The days of each month from January of the year 0 to December 9999, and the days before it since 1 January 0000.
    private static let months: [(year: Int, month: Int, length: Int, before: Int)] = {
        var months: [(year: Int, month: Int, length: Int, before: Int)] = []
        var before = 0
        for year in 0...9999 {
            let isLeap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
            for (index, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                months.append((year, index + 1, length, before))
                before += length
            }
        }
        return months
    }()
    private static let reference = months[2001 * 12].before

    private func padded(_ number: Int, _ digits: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: digits - text.count) + text
    }

    @Test func randomDatesAgreeWithTheCalendar() throws {
        var random = SeededRandom(seed: 1582)
        for number in 0..<20_000 {
            let month = Self.months[number < 2000 ? 12 * 1400 + number * 2 : random.next(below: Self.months.count)]
            let (day, hour) = (random.next(below: 33), random.next(below: 26))
            let (minute, second) = (random.next(below: 62), random.next(below: 62))
            let text =
                "\(padded(month.year, 4))-\(padded(month.month))-\(padded(day))"
                + "T\(padded(hour)):\(padded(minute)):\(padded(second))Z"
            guard (1...month.length).contains(day), hour < 24, minute < 60, second < 60 else {
                #expect(DateText.seconds(text) == nil, "\(text)")
                continue
            }
            let days = month.before + day - 1 - Self.reference
            let seconds = Double(days * 86400 + hour * 3600 + minute * 60 + second)
            #expect(DateText.seconds(text) == seconds, "\(text)")
            #expect(DateText.exact(seconds, digits: 3) == text && DateText.display(seconds) == text)
            let ahead = text.dropLast() + ".5+01:30"
            #expect(DateText.seconds(String(ahead)) == seconds - 5400 + 0.5, "\(ahead)")
        }
    }

    @Test func fractionsComeBackExactlyOrAreRefused() throws {
        var random = SeededRandom(seed: 2001)
        var exact = 0
        for _ in 0..<5000 {
            let milliseconds = Int.random(in: -60_000_000_000_000...250_000_000_000_000, using: &random)
            for seconds in [Double(milliseconds) / 1000, Double.random(in: -6e10...2e11, using: &random)] {
                for digits in [nil, 3] {
                    guard let text = DateText.exact(seconds, digits: digits) else { continue }
                    exact += 1
                    #expect(DateText.seconds(text) == seconds, "\(text)")
                }
            }
        }
        #expect(exact > 9000)
    }

    @Test(arguments: [
        (-63_145_526_400.0, "0000-01-01T00:00:00Z"), (-0.5, "2000-12-31T23:59:59Z"), (0, "2001-01-01T00:00:00Z"),
        (-13_197_600_000, "1582-10-15T00:00:00Z"), (-13_197_686_400, "1582-10-14T00:00:00Z"),
        (252_423_993_600, "+10000-01-01T00:00:00Z"), (-63_145_526_401, "-0001-12-31T23:59:59Z"),
    ])
    func everyDateIsShown(seconds: Double, text: String) {
        #expect(DateText.display(seconds) == text)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, 252_423_993_600, -63_145_526_401])
    func aDateBeyondFourDigitsIsNoString(seconds: Double) {
        #expect(DateText.exact(seconds) == nil && !DateText.display(seconds).isEmpty)
    }
}
