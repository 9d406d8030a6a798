internal import Foundation

/// The sum of reals, rounded once at the end, so that it does not depend on their order.
package struct ExactSum: Sendable {
    /// The main part of the sum. A value that can be added without rounding changes only this part.
    private var head = 0.0
    private var parts = Expansion()
    /// The sum of numbers that are too large to be added without overflow, each divided by ``scale``.
    private var large = Expansion()
    /// The signs of the infinities among the values.
    private var infinities: (positive: Bool, negative: Bool) = (false, false)

    private static let bound = 0x1p1000
    private static let scale = 0x1p100

    package init() {}

    @inline(__always)
    package mutating func add(_ value: Double) {
        let sum = head + value
        let added = sum - head
        // The exact rounding error of the sum, unless it overflows. (Knuth, The Art of Computer Programming, volume 2, 4.2.2,
        // theorem B)
        let rest = (head - (sum - added)) + (value - added)
        guard rest == 0, abs(sum) < ExactSum.bound else { return addSlowly(value) }
        head = sum
    }

    private mutating func addSlowly(_ value: Double) {
        guard value.isFinite else {
            if value > 0 { infinities.positive = true } else { infinities.negative = true }
            return
        }
        guard abs(value) < ExactSum.bound else { return large.add(value / ExactSum.scale) }
        parts.add(value)
        if let greatest = parts.removeGreatest(from: ExactSum.bound) { large.add(greatest / ExactSum.scale) }
    }

    /// The rounded sum: an infinity if it overflows; nil for infinities of both signs, which have no sum.
    package var value: Double? {
        switch infinities {
        case (true, true): return nil
        case (true, false): return .infinity
        case (false, true): return -.infinity
        case (false, false): break
        }
        var parts = parts
        parts.add(head)
        if large.isZero { return parts.value }
        var all = large
        for part in parts.parts {
            let scaled = part / ExactSum.scale
            // A part that becomes zero still determines the direction of rounding.
            all.add(scaled == 0 && part != 0 ? (part > 0 ? 1 : -1) * .leastNonzeroMagnitude : scaled)
        }
        return all.value * ExactSum.scale
    }
}

/// Finite numbers that do not overlap, the smallest first. Their exact sum is the total.
private struct Expansion: Sendable {
    private(set) var parts: [Double] = []

    var isZero: Bool { parts.allSatisfy { $0 == 0 } }

    mutating func add(_ value: Double) {
        var value = value
        var kept = 0
        for index in parts.indices {
            var part = parts[index]
            if abs(value) < abs(part) { swap(&value, &part) }
            let sum = value + part
            let rest = part - (sum - value)
            if rest != 0 {
                parts[kept] = rest
                kept += 1
            }
            value = sum
        }
        parts.removeLast(parts.count - kept)
        parts.append(value)
    }

    /// Removes the greatest part, if its magnitude is at least the bound.
    mutating func removeGreatest(from bound: Double) -> Double? {
        guard let greatest = parts.last, abs(greatest) >= bound else { return nil }
        return parts.removeLast()
    }

    /// The sum, rounded once.
    var value: Double {
        guard var sum = parts.last else { return 0 }
        var index = parts.count - 1
        var rest = 0.0
        while index > 0 {
            index -= 1
            let before = sum
            sum = before + parts[index]
            rest = parts[index] - (sum - before)
            if rest != 0 { break }
        }
        // The lower parts decide how a half-way case is rounded.
        if index > 0, rest < 0 && parts[index - 1] < 0 || rest > 0 && parts[index - 1] > 0 {
            let twice = rest * 2
            let rounded = sum + twice
            if twice == rounded - sum { sum = rounded }
        }
        return sum
    }
}

/// The exact sum of decimals, which does not depend on their order.
struct DecimalSum: Sendable {
    /// Groups of nine digits, the lowest first. Until the end, each group has its own sign.
    private var groups: [Int64]
    /// Whether a number has a digit beyond the range of decimals.
    private var isBeyond = false

    private static let groupDigits = 9
    /// The digits after the point, and the groups with room to carry. A decimal has at most 128 digits after the point and 166
    /// before.
    private static let fractionDigits = 15 * groupDigits
    private static let groupCount = 36
    private static let powers: [Int64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    ]
    private static let base = powers[groupDigits]

    /// - Parameter isUsed: Whether values will be added.
    init(isUsed: Bool = true) {
        groups = [Int64](repeating: 0, count: isUsed ? DecimalSum.groupCount : 0)
    }

    /// Adds the number in a string. A string that is not a number counts as zero.
    mutating func add(_ text: UnsafeRawBufferPointer) { _ = add(text, sign: 1) }

    /// Subtracts the number in a string.
    ///
    /// - Returns: Whether the string is a number whose digits all count.
    mutating func remove(_ text: UnsafeRawBufferPointer) -> Bool { add(text, sign: -1) && !isBeyond }

    private mutating func add(_ text: UnsafeRawBufferPointer, sign: Int64) -> Bool {
        guard let number = DecimalText(text) else { return false }
        var position = number.magnitude - 1 + DecimalSum.fractionDigits
        for digit in number.digits where digit != UInt8(ascii: ".") {
            let value = Int64(digit - UInt8(ascii: "0"))
            if position >= 0 && position < 34 * DecimalSum.groupDigits {
                let (group, power) = position.quotientAndRemainder(dividingBy: DecimalSum.groupDigits)
                groups[group] += sign * (number.isNegative ? -value : value) * DecimalSum.powers[power]
            } else if value != 0 {
                isBeyond = true
            }
            position -= 1
        }
        return true
    }

    /// The sum of numbers; null if a number is no decimal, or if the sum has too many digits for a decimal.
    static func sum(of values: [RowValue]) -> RowValue {
        var sum = DecimalSum()
        for value in values {
            guard var text = value.asDecimal?.description else { return .null }
            text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        }
        return sum.value.map { .text($0.description) } ?? .null
    }

    /// The sum as a decimal; nil if it has too many digits.
    var value: Decimal? {
        if isBeyond { return nil }
        // A zero needs its own result: its many digits after the point are too many for a Foundation decimal.
        if carried(groups).allSatisfy({ $0 == 0 }) { return 0 }
        let text = text
        guard let sum = Decimal(rowText: text) else { return nil }
        var (one, other) = (text, sum.description)
        let isExact = one.withUTF8 { one in
            other.withUTF8 { orderDecimals(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) == 0 }
        }
        return isExact ? sum : nil
    }

    /// All digits of the sum.
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

    /// The groups with nine digits each and no sign, except that the last group has the sign of the whole number.
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
