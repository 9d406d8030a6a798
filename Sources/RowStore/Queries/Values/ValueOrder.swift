internal import Foundation

/// How two values are compared, other than a column with a value of its kind.
package enum ValueOrder: Sendable, Hashable {
    /// Integers and reals by exact value, strings and blobs byte by byte.
    case natural
    /// Numbers of any kind as decimals. A real counts as the shortest decimal number that represents it.
    case decimal
    /// Strings in their folded form, or as Swift compares them.
    case folded(StringOptions)

    /// Negative, 0 or positive; nil if the values have no order, such as null or values of different kinds.
    package func compare(_ one: RowValue, _ other: RowValue) -> Int? {
        switch self {
        case .natural: return natural(one, other)
        case .decimal:
            guard var left = one.decimalText, var right = other.decimalText else { return nil }
            return left.withUTF8 { left in
                right.withUTF8 { orderDecimals(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
            }
        case .folded(let options):
            guard case .text(let one) = one, case .text(let other) = other else { return nil }
            if options.isSwift { return order(one, other) }
            if options.contains(.localized) { return dictionaryOrder(one, other, options) }
            return compareBytes(TextFolding.bytes(one, options), TextFolding.bytes(other, options))
        }
    }

    /// By letters, then by marks, then by case: lowercase letters first.
    private func dictionaryOrder(_ one: String, _ other: String, _ options: StringOptions) -> Int {
        for options in [[.caseInsensitive, .diacriticInsensitive], options.union(.caseInsensitive)] {
            let order = compareBytes(TextFolding.bytes(one, options), TextFolding.bytes(other, options))
            if order != 0 { return order }
        }
        return compareBytes(TextFolding.bytes(other, options), TextFolding.bytes(one, options))
    }

    /// A value that is the same for all values that are equal in this order, for look-ups in a set. Only for values that are
    /// compared with values of their own kind.
    package func uniform(_ value: RowValue) -> RowValue {
        switch (self, value) {
        case (_, .null): .null
        case (.natural, _): value
        case (.decimal, _): value.decimalText.map { .text(Decimal.canonical($0)) } ?? value
        case (.folded(let options), .text(let text)): .blob(TextFolding.bytes(text, options))
        case (.folded, _): value
        }
    }

    private func natural(_ one: RowValue, _ other: RowValue) -> Int? {
        switch (one, other) {
        case (.integer(let one), .integer(let other)): return order(one, other)
        case (.real(let one), .real(let other)): return one.isNaN || other.isNaN ? nil : order(one, other)
        case (.integer(let one), .real(let other)): return compareExactly(one, other)
        case (.real(let one), .integer(let other)): return compareExactly(other, one).map { -$0 }
        case (.text(var one), .text(var other)):
            return one.withUTF8 { one in
                other.withUTF8 { compareBytes(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) }
            }
        case (.blob(let one), .blob(let other)): return compareBytes(one, other)
        default: return nil
        }
    }
}

/// The order of an integer and a real, without rounding; nil for NaN.
package func compareExactly(_ integer: Int64, _ real: Double) -> Int? {
    if real.isNaN { return nil }
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let whole = Int64(real)
    if integer != whole { return order(integer, whole) }
    return order(0, real - Double(whole))
}

private func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int {
    one < other ? -1 : one > other ? 1 : 0
}

extension RowValue {
    /// A number as a decimal string; nil for NaN. An infinity becomes a number beyond all other numbers.
    package var decimalText: String? {
        switch self {
        case .integer(let value): String(value)
        case .real(let value) where value.isNaN: nil
        case .real(let value) where value.isInfinite: value > 0 ? "1E+9999" : "-1E+9999"
        case .real(let value): "\(value)"
        case .text(let text): text
        case .null, .blob: nil
        }
    }
}
