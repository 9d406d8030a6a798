/// The form of a moment in JSON: `2026-11-26T12:00:00Z`, with a fraction of a second or another offset if needed.
package enum TimestampText {
    /// Whether the text is of that form, and such a day and time exist.
    package static func isValid(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func number(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy(isDigit) else { return nil }
            rest = rest.dropFirst(digits)
            let value = part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return range.contains(value) ? value : nil
        }
        func take(_ character: Character) -> Bool {
            guard rest.first == character.asciiValue else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = number(4, 0...9999), take("-"), let month = number(2, 1...12), take("-"),
            number(2, 1...days(month, year)) != nil, take("T"), number(2, 0...23) != nil, take(":"),
            number(2, 0...59) != nil, take(":"), number(2, 0...59) != nil
        else { return false }
        if take(".") {
            guard let first = rest.first, isDigit(first) else { return false }
            rest = rest.drop(while: isDigit)
        }
        if take("Z") { return rest.isEmpty }
        guard take("+") || take("-"), number(2, 0...23) != nil else { return false }
        _ = take(":")
        return number(2, 0...59) != nil && rest.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// Before the reform of the calendar every fourth year is a leap year, as in Foundation.
    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year < 1582 || year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
