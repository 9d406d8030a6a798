internal import Foundation

/// Reads the literals of default values and bounds.
extension ValueSource {
    /// Reads a default value for an attribute of the given type. Nil if the attribute cannot have the value.
    package init?(_ expression: SourceExpression, of type: StorageType) {
        switch (type, expression) {
        case (.boolean, .boolean(let flag)): self = .boolean(flag)
        case (.integer16, .number(let text)), (.integer32, .number(let text)), (.integer64, .number(let text)):
            guard let number = ValueSource.integer(text), type.range.contains(number) else { return nil }
            self = .integer(number)
        case (.double, .number(let text)), (.float, .number(let text)):
            guard let number = ValueSource.real(text), type == .double || Float(number).isFinite else { return nil }
            self = .double(number)
        case (.decimal, .number(let text)):
            guard let number = ValueSource.decimal(text) else { return nil }
            self = .decimal(number)
        case (.decimal, .string(let text)):
            guard let number = ValueSource.decimal(text) else { return nil }
            self = .decimal(number)
        case (.string, .string(let text)), (.uri, .string(let text)): self = .string(text)
        case (.uuid, .string(let text)):
            guard let uuid = UUID(uuidString: text) else { return nil }
            self = .uuid(uuid)
        case (.date, .call("Date", let arguments)):
            guard arguments.count == 1, arguments[0].label == "timeIntervalSinceReferenceDate",
                case .number(let text) = arguments[0].value, let seconds = ValueSource.real(text)
            else { return nil }
            self = .date(seconds)
        default: return nil
        }
    }

    /// Reads a bound. Pass `.integer64` as the type of a string's length.
    init?(bound expression: SourceExpression, of type: StorageType) {
        guard [.double, .float, .decimal, .date].contains(type) || type.isWholeNumber else { return nil }
        if type.isWholeNumber, case .number(let text) = expression, let number = ValueSource.integer(text) {
            // As in a model file, a bound can be outside the range of the type.
            self = .integer(number)
        } else if type == .float, case .number(let text) = expression, let number = ValueSource.real(text) {
            self = .double(number)
        } else {
            self.init(expression, of: type)
        }
    }

    /// Whether this bound is greater than another bound of the same attribute.
    func isGreater(than other: ValueSource) -> Bool {
        switch (self, other) {
        case (.integer(let first), .integer(let second)): first > second
        case (.double(let first), .double(let second)), (.date(let first), .date(let second)): first > second
        case (.decimal(let first), .decimal(let second)): first > second
        default: false
        }
    }

    /// Parses a whole number in any notation of Swift.
    package static func integer(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? String(text.dropFirst()) : text
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.hasPrefix(prefix) {
            return Int64((isNegative ? "-" : "") + digits.dropFirst(2), radix: radix)
        }
        return Int64(text)
    }

    /// Parses a finite number.
    static func real(_ text: String) -> Double? {
        if let number = integer(text) { return Double(number) }
        guard let number = Double(text), number.isFinite else { return nil }
        return number
    }

    /// Parses a decimal number of at most 38 digits, without rounding.
    static func decimal(_ text: String) -> Decimal? {
        let mantissa = text.prefix { $0 != "e" && $0 != "E" }
        let digits = mantissa.filter(\.isNumber).drop { $0 == "0" }
        guard text.utf8.count <= 160, Double(text) != nil, !text.hasPrefix("0x"), digits.count <= 38,
            let number = Decimal(string: text), !number.isNaN, number.isZero == digits.isEmpty
        else { return nil }
        return number
    }
}

extension StorageType {
    fileprivate var range: ClosedRange<Int64> {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        default: .min ... .max
        }
    }
}
