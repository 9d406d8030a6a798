package import ManagedModel

/// Converts dates to and from ISO 8601 strings, such as `2026-11-26T12:00:00Z`. All dates use the Gregorian calendar.
///
/// This type does not use Foundation. Foundation uses the Julian calendar before 15 October 1582, and reads 30 February as a
/// day in March.
package enum DateText {
    // MARK: Writing

    /// Returns a date as a string for people, with a precision of a second. A year with more than four digits has a sign.
    package static func display(_ seconds: Double) -> String {
        guard seconds.magnitude < 1e15 else { return "\(seconds)" }
        return whole(Int64(seconds.rounded(.down))) + "Z"
    }

    /// Returns a string that ``seconds(_:)`` reads as exactly the same date; nil if there is no such string.
    ///
    /// - Parameters:
    ///   - seconds: The seconds since 2001.
    ///   - digits: The number of digits for the fraction of a second; a fraction of 0 is left out. Nil for as many digits as
    ///     needed, at least one.
    package static func exact(_ seconds: Double, digits: Int? = nil) -> String? {
        let second = seconds.rounded(.down)
        guard (firstSecond...lastSecond).contains(second) else { return nil }
        let text = whole(Int64(second)) + fraction(seconds - second, digits) + "Z"
        return self.seconds(text)?.bitPattern == seconds.bitPattern ? text : nil
    }

    private static func fraction(_ fraction: Double, _ digits: Int?) -> Substring {
        guard let digits else { return "\(fraction)".dropFirst() }
        if fraction == 0 { return "" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        return "." + padded(Int64((fraction * scale).rounded()), Int64(digits))[...]
    }

    /// Returns a date without its time zone.
    private static func whole(_ seconds: Int64) -> String {
        let second = seconds.floorModulo(86400)
        let (year, month, day) = civil((seconds - second) / 86400 + referenceDay)
        let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
        return "\(sign)\(padded(abs(year), 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    }

    private static func padded(_ number: Int64, _ digits: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, Int(digits) - text.utf8.count)) + text
    }

    // MARK: Reading

    /// Reads a string as a date.
    ///
    /// - Returns: The seconds since 2001; nil for a string in another format, or if the day or time does not exist.
    package static func seconds(_ text: String) -> Double? {
        var rest = text.utf8[...]
        func number(_ digits: Int, _ range: ClosedRange<Int64>) -> Int64? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy(isDigit) else { return nil }
            rest = rest.dropFirst(digits)
            let value = part.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            return range.contains(value) ? value : nil
        }
        func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = number(4, 0...9999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...length(ofMonth: month, year)), take("T"), let hour = number(2, 0...23), take(":"),
            let minute = number(2, 0...59), take(":"), let second = number(2, 0...59)
        else { return nil }
        var fraction = 0.0
        if take(".") {
            let digits = rest.prefix(while: isDigit)
            guard let value = Double("0." + String(decoding: digits, as: UTF8.self)), !digits.isEmpty else {
                return nil
            }
            fraction = value
            rest = rest.dropFirst(digits.count)
        }
        var time = (days(year, month, day) - referenceDay) * 86400 + hour * 3600 + minute * 60 + second
        if !take("Z") {
            let isAhead = take("+")
            guard isAhead || take("-"), let hours = number(2, 0...23) else { return nil }
            _ = take(":")
            guard let minutes = number(2, 0...59) else { return nil }
            time += (isAhead ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        return rest.isEmpty ? Double(time) + fraction : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    // MARK: The calendar

    /// 1 January 2001, in days since 1 March of the year 0.
    private static let referenceDay: Int64 = 730_791
    /// The first second and the last second of the years 0 to 9999.
    private static let firstSecond = -63_145_526_400.0
    private static let lastSecond = 252_423_993_599.0

    private static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Returns the days since 1 March of the year 0. Here a year begins in March, so that a leap day is its last day.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year.floorDivided(400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let era = days.floorDivided(146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func floorDivided(_ divisor: Int64) -> Int64 { (self - floorModulo(divisor)) / divisor }

    fileprivate func floorModulo(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

extension AttributeType {
    /// The JSON form of a value, as text for messages.
    package var jsonKind: String {
        switch self {
        case .boolean: "true or false"
        case .integer16: "a whole number from \(Int16.min) to \(Int16.max)"
        case .integer32: "a whole number from \(Int32.min) to \(Int32.max)"
        case .integer64, .objectID: "a whole number of 64 bits"
        case .double: "a number, \"inf\" or \"-inf\""
        case .float: "a number of 32 bits, \"inf\" or \"-inf\""
        case .date:
            "a date and time that exist, such as \"2026-11-26T12:00:00Z\" (ISO 8601), or a number of seconds since 2001"
        case .string: "a string"
        case .uri: "a URL in a string"
        case .decimal: "a decimal number of at most 38 digits"
        case .uuid: "a UUID in a string"
        case .binary, .undefined, .composite: "a string in Base64"
        case .transformable: "JSON, or a string in Base64"
        }
    }
}

extension String {
    /// The string, or the beginning of a string that is too long for a message.
    package var shortened: String { count <= 80 ? self : prefix(79) + "…" }
}
