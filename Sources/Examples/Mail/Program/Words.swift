import Foundation

// Dates and numbers are always in English, independent of the machine's language.

extension Calendar {
    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// A day as `Today`, `Yesterday` or `Thursday 26 November`.
    func dayName(_ day: Date, now: Date) -> String {
        switch dateComponents([.day], from: startOfDay(for: day), to: startOfDay(for: now)).day {
        case 0: return "Today"
        case 1: return "Yesterday"
        default:
            let parts = dateComponents([.weekday, .day, .month], from: day)
            let weekday = Self.weekdays[((parts.weekday ?? 1) - 1) % 7]
            return "\(weekday) \(parts.day ?? 0) \(Self.months[((parts.month ?? 1) - 1) % 12])"
        }
    }

    /// A time such as `17:05`.
    func time(_ date: Date) -> String {
        let parts = dateComponents([.hour, .minute], from: date)
        return "\(parts.hour ?? 0):" + String(String(100 + (parts.minute ?? 0)).dropFirst())
    }

    /// A day such as `26 Nov`.
    func dayAndMonth(_ date: Date) -> String {
        let parts = dateComponents([.day, .month], from: date)
        return "\(parts.day ?? 0) \(Self.months[((parts.month ?? 1) - 1) % 12].prefix(3))"
    }

    /// The time zone, such as `UTC` or `UTC+9`.
    var zoneName: String {
        let hours = timeZone.secondsFromGMT() / 3600
        return hours == 0 ? "UTC" : "UTC\(hours > 0 ? "+" : "")\(hours)"
    }

    /// Returns a calendar whose time zone is `hours` hours east of Greenwich.
    static func eastOfGreenwich(hours: Int) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: hours * 3600) ?? .gmt
        return calendar
    }
}

extension BinaryInteger {
    /// The number with separators, such as `12,345`.
    var grouped: String {
        let digits = String(self)
        return digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
        }.joined()
    }
}

extension Int64 {
    /// A number of bytes, such as `310 kB` or `1.3 MB`.
    var byteCountText: String {
        if self < 1_000_000 { return "\((self + 500) / 1000) kB" }
        let tenths = (self + 50_000) / 100_000
        return "\((tenths / 10).grouped).\(tenths % 10) MB"
    }
}

extension String {
    /// Breaks a sentence into lines of at most `width` characters. Only a longer word makes a longer line.
    func wrapped(to width: Int) -> [String] {
        var lines = [""]
        for word in split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
