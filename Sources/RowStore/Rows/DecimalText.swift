package import Foundation

/// A decimal number in a string, such as `-12.50` or `1E+2`. The string is not converted, so no digit is lost.
struct DecimalText {
    let isNegative: Bool
    /// The digits, beginning with the first digit that is not zero; empty for zero. A decimal point after that digit is
    /// included.
    let digits: UnsafeRawBufferPointer
    /// The exponent. The number is 0.digits times ten to this power.
    let magnitude: Int

    /// Returns nil if the string is not a number.
    init?(_ text: UnsafeRawBufferPointer) {
        var position = 0
        isNegative = text.first == 0x2D
        if isNegative || text.first == 0x2B { position = 1 }
        var first: Int?
        var hasDigits = false
        var hasPoint = false
        var magnitude = 0
        scan: while position < text.count {
            switch text[position] {
            case 0x2E where !hasPoint:
                hasPoint = true
            case 0x30 where first == nil:
                hasDigits = true
                if hasPoint { magnitude -= 1 }
            case 0x30...0x39:
                hasDigits = true
                if first == nil { first = position }
                if !hasPoint { magnitude += 1 }
            default:
                break scan
            }
            position += 1
        }
        guard hasDigits else { return nil }
        digits = UnsafeRawBufferPointer(rebasing: text[(first ?? position)..<position])
        guard position < text.count else {
            self.magnitude = magnitude
            return
        }
        guard text[position] | 0x20 == 0x65, let exponent = DecimalText.exponent(text[(position + 1)...]) else {
            return nil
        }
        self.magnitude = magnitude + exponent
    }

    private static func exponent(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        let isNegative = text.first == 0x2D
        let digits = isNegative || text.first == 0x2B ? text.dropFirst() : text
        guard !digits.isEmpty else { return nil }
        var value = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            // A larger exponent counts as 2^40. No app has such numbers.
            value = min(value * 10 + Int(digit - 0x30), 1 << 40)
        }
        return isNegative ? -value : value
    }

    /// The sign of the number: -1, 0 or 1.
    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    func order(_ other: DecimalText) -> Int {
        guard sign == other.sign else { return sign - other.sign }
        guard sign != 0 else { return 0 }
        guard magnitude == other.magnitude else { return magnitude < other.magnitude ? -sign : sign }
        var one = digits.lazy.filter { $0 != 0x2E }.makeIterator()
        var two = other.digits.lazy.filter { $0 != 0x2E }.makeIterator()
        while true {
            switch (one.next(), two.next()) {
            case (nil, nil): return 0
            case (let left, let right):
                let difference = Int(left ?? 0x30) - Int(right ?? 0x30)
                if difference != 0 { return difference * sign }
            }
        }
    }
}

/// Compares two decimal numbers by value. Strings that are not numbers come first, in the order of their bytes.
///
/// - Returns: Negative, 0 or positive.
package func orderDecimals(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Int {
    switch (DecimalText(lhs), DecimalText(rhs)) {
    case (let lhs?, let rhs?): lhs.order(rhs)
    case (nil, _?): -1
    case (_?, nil): 1
    case (nil, nil): compareBytes(lhs, rhs)
    }
}

extension Decimal {
    /// Returns the same string for equal numbers. A string that is not a number in the range of decimals is returned unchanged.
    package static func canonical(_ text: String) -> String {
        guard let number = Decimal(rowText: text) else { return text }
        return number.description
    }

    /// Reads the number from the string of a decimal column. Returns nil if the string is not a number.
    package init?(rowText text: String) {
        guard let number = Decimal(string: text, locale: posix), !number.isNaN else { return nil }
        self = number
    }
}

private let posix = Locale(identifier: "en_US_POSIX")
