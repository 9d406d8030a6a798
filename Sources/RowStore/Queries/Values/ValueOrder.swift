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
    package func compare(_ lhs: RowValue, _ rhs: RowValue) -> Int? {
        switch self {
        case .natural: return natural(lhs, rhs)
        case .decimal:
            guard var left = lhs.decimalText, var right = rhs.decimalText else { return nil }
            return left.withUTF8 { left in
                right.withUTF8 { orderDecimals(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
            }
        case .folded(let options):
            guard case .text(let lhs) = lhs, case .text(let rhs) = rhs else { return nil }
            if options.isSwift { return order(lhs, rhs) }
            if options.contains(.localized) { return dictionaryOrder(lhs, rhs, options) }
            return compareBytes(TextFolding.bytes(lhs, options), TextFolding.bytes(rhs, options))
        }
    }

    /// By letters, then by marks, then by case: lowercase letters first.
    private func dictionaryOrder(_ lhs: String, _ rhs: String, _ options: StringOptions) -> Int {
        for options in [[.caseInsensitive, .diacriticInsensitive], options.union(.caseInsensitive)] {
            let order = compareBytes(TextFolding.bytes(lhs, options), TextFolding.bytes(rhs, options))
            if order != 0 { return order }
        }
        return compareBytes(TextFolding.bytes(rhs, options), TextFolding.bytes(lhs, options))
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

    private func natural(_ lhs: RowValue, _ rhs: RowValue) -> Int? {
        switch (lhs, rhs) {
        case (.integer(let lhs), .integer(let rhs)): return order(lhs, rhs)
        case (.real(let lhs), .real(let rhs)): return lhs.isNaN || rhs.isNaN ? nil : order(lhs, rhs)
        case (.integer(let lhs), .real(let rhs)): return compareExactly(lhs, rhs)
        case (.real(let lhs), .integer(let rhs)): return compareExactly(rhs, lhs).map { -$0 }
        case (.text(var lhs), .text(var rhs)):
            return lhs.withUTF8 { lhs in
                rhs.withUTF8 { compareBytes(UnsafeRawBufferPointer(lhs), UnsafeRawBufferPointer($0)) }
            }
        case (.blob(let lhs), .blob(let rhs)): return compareBytes(lhs, rhs)
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

private func order<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Int {
    lhs < rhs ? -1 : lhs > rhs ? 1 : 0
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
