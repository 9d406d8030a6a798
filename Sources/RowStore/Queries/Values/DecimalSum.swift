internal import Foundation

/// The exact sum of decimals, independent of their order.
struct DecimalSum: Sendable {
    /// Nine digits each, the lowest first, with a sign of their own until the end.
    private var groups: [Int64]
    /// Whether a number could not be a decimal.
    private var isBeyond = false

    private static let groupDigits = 9
    /// The digits after the point, and all digits with room to carry: a decimal has at most 128 after it and 166 before it.
    private static let fractionDigits = 15 * groupDigits
    private static let groupCount = 36
    private static let powers: [Int64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    ]
    private static let base = powers[groupDigits]

    /// - Parameter isUsed: Whether anything will be added.
    init(isUsed: Bool = true) {
        groups = [Int64](repeating: 0, count: isUsed ? DecimalSum.groupCount : 0)
    }

    /// Adds the number in a string; a string that is not a number counts as zero.
    mutating func add(_ text: UnsafeRawBufferPointer) {
        guard let number = DecimalText(text) else { return }
        var place = number.magnitude - 1 + DecimalSum.fractionDigits
        for digit in number.digits where digit != UInt8(ascii: ".") {
            let value = Int64(digit - UInt8(ascii: "0"))
            if place >= 0 && place < 34 * DecimalSum.groupDigits {
                let (group, power) = place.quotientAndRemainder(dividingBy: DecimalSum.groupDigits)
                groups[group] += (number.isNegative ? -value : value) * DecimalSum.powers[power]
            } else if value != 0 {
                isBeyond = true
            }
            place -= 1
        }
    }

    /// The sum of numbers; null if one of them is no decimal, or if the sum cannot be one.
    static func sum(of values: [RowValue]) -> RowValue {
        var sum = DecimalSum()
        for value in values {
            guard var text = value.asDecimal?.description else { return .null }
            text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        }
        return sum.value.map { .text($0.description) } ?? .null
    }

    /// The sum as a decimal; nil if it has more digits than one can have.
    var value: Decimal? {
        if isBeyond { return nil }
        // Foundation counts the digits after the point of a zero, and has no zero with so many.
        if carried(groups).allSatisfy({ $0 == 0 }) { return 0 }
        let text = text
        guard let sum = Decimal(rowText: text) else { return nil }
        var (one, other) = (text, sum.description)
        let isExact = one.withUTF8 { one in
            other.withUTF8 { orderDecimals(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) == 0 }
        }
        return isExact ? sum : nil
    }

    /// All its digits.
    private var text: String {
        var digits = carried(groups)
        let isNegative = digits[DecimalSum.groupCount - 1] < 0
        if isNegative { digits = carried(groups.map { -$0 }) }
        let text = digits.reversed().map { group in
            let text = String(group)
            return String(repeating: "0", count: DecimalSum.groupDigits - text.utf8.count) + text
        }.joined()
        return (isNegative ? "-" : "") + text.dropLast(DecimalSum.fractionDigits) + "."
            + text.suffix(DecimalSum.fractionDigits)
    }

    /// The groups with nine digits each and no sign, except for the last one, whose sign is that of the whole number.
    private func carried(_ groups: [Int64]) -> [Int64] {
        var groups = groups
        var carry: Int64 = 0
        for index in groups.indices.dropLast() {
            let sum = groups[index] + carry
            // Rounded down.
            carry = sum / DecimalSum.base - (sum % DecimalSum.base < 0 ? 1 : 0)
            groups[index] = sum - carry * DecimalSum.base
        }
        groups[groups.count - 1] += carry
        return groups
    }
}
