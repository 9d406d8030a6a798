internal import Foundation

/// The sum of reals. The sum is rounded only once, at the end, so it does not depend on the order of the values.
package struct ExactSum: Sendable {
    /// The main part of the sum. If a value can be added without rounding, only this part changes.
    private var head = 0.0
    private var parts = Expansion()
    /// The sum of the numbers that are too large to be added without overflow. Each number is divided by ``scale``.
    private var large = Expansion()
    /// Whether the values include a positive infinity, and whether they include a negative infinity.
    private var infinities: (positive: Bool, negative: Bool) = (false, false)

    private static let bound = 0x1p1000
    private static let scale = 0x1p100

    package init() {}

    @inline(__always)
    package mutating func add(_ value: Double) {
        let sum = head + value
        let added = sum - head
        // The exact rounding error of the sum, if the sum does not overflow. (Knuth, The Art of Computer Programming, volume 2,
        // 4.2.2, theorem B)
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

    /// The rounded sum. Infinity if the sum overflows. Nil if there are infinities of both signs, because they have no sum.
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
            // A part that becomes zero still determines the direction of rounding, so keep its sign.
            all.add(scaled == 0 && part != 0 ? (part > 0 ? 1 : -1) * .leastNonzeroMagnitude : scaled)
        }
        return all.value * ExactSum.scale
    }
}

/// An exact sum as a list of finite numbers, smallest first. The bits of the numbers do not overlap.
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

    /// Removes the greatest part if its magnitude is at least the bound.
    mutating func removeGreatest(from bound: Double) -> Double? {
        guard let greatest = parts.last, abs(greatest) >= bound else { return nil }
        return parts.removeLast()
    }

    /// The sum, rounded only once.
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
        // If the sum is half-way between two reals, the lower parts determine the direction of rounding.
        if index > 0, rest < 0 && parts[index - 1] < 0 || rest > 0 && parts[index - 1] > 0 {
            let twice = rest * 2
            let rounded = sum + twice
            if twice == rounded - sum { sum = rounded }
        }
        return sum
    }
}

/// The exact sum of decimals. It does not depend on the order of the values.
struct DecimalSum: Sendable {
    /// Groups of nine digits, lowest group first. Each group has its own sign until the sum is read.
    private var groups: [Int64]
    /// Whether a number has a digit that is out of the range of decimals.
    private var isBeyond = false

    private static let groupDigits = 9
    /// The number of digits after the point, and the number of groups, which includes space for carries. A decimal has at most
    /// 128 digits after the point and 166 digits before it.
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

    /// Adds the number in a string. Ignores a string that is not a number.
    mutating func add(_ text: UnsafeRawBufferPointer) { _ = add(text, sign: 1) }

    /// Subtracts the number in a string.
    ///
    /// - Returns: Whether the string is a number, and all digits so far were in range.
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

    /// Returns the sum of numbers. Returns null if a value is not a decimal, or if the sum has too many digits for a decimal.
    static func sum(of values: [RowValue]) -> RowValue {
        var sum = DecimalSum()
        for value in values {
            guard var text = value.asDecimal?.description else { return .null }
            text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        }
        return sum.value.map { .text($0.description) } ?? .null
    }

    /// The sum as a decimal; nil if the sum has too many digits.
    var value: Decimal? {
        if isBeyond { return nil }
        // Return zero separately, because its string has too many digits after the point for a Foundation decimal.
        if carried(groups).allSatisfy({ $0 == 0 }) { return 0 }
        let text = text
        guard let sum = Decimal(rowText: text) else { return nil }
        var (one, other) = (text, sum.description)
        let isExact = one.withUTF8 { one in
            other.withUTF8 { orderDecimals(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) == 0 }
        }
        return isExact ? sum : nil
    }

    /// All digits of the sum, as a string.
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

    /// Returns the groups after all carries. Each group has nine digits and no sign, except that the last group has the sign of
    /// the sum.
    private func carried(_ groups: [Int64]) -> [Int64] {
        var groups = groups
        var carry: Int64 = 0
        for index in groups.indices.dropLast() {
            let sum = groups[index] + carry
            // Rounded down, also for a negative sum.
            carry = sum / DecimalSum.base - (sum % DecimalSum.base < 0 ? 1 : 0)
            groups[index] = sum - carry * DecimalSum.base
        }
        groups[groups.count - 1] += carry
        return groups
    }
}
