internal import Foundation

/// How two values are compared. The case `compare` of ``RowPredicate`` does not use this type, but ``ColumnOrder``.
package enum ValueOrder: Sendable, Hashable {
    /// Integers and reals are compared by their exact values, strings and blobs by their bytes.
    case natural
    /// Numbers of all kinds are compared as decimals. A real counts as the shortest decimal number that represents it.
    case decimal
    /// Strings are compared in their folded form, or as Swift compares them.
    case folded(StringOptions)

    /// Compares two values. Returns a negative number, 0 or a positive number. Returns nil if the values have no order, for
    /// example if one is null or their kinds differ.
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

    /// Compares letters first, then diacritics, then case. Lowercase letters come first.
    private func dictionaryOrder(_ lhs: String, _ rhs: String, _ options: StringOptions) -> Int {
        for options in [[.caseInsensitive, .diacriticInsensitive], options.union(.caseInsensitive)] {
            let order = compareBytes(TextFolding.bytes(lhs, options), TextFolding.bytes(rhs, options))
            if order != 0 { return order }
        }
        return compareBytes(TextFolding.bytes(rhs, options), TextFolding.bytes(lhs, options))
    }

    /// Returns a value that is the same for all values that are equal in this order. Used for look-ups in a set. Valid only
    /// among values of the same kind.
    package func equalityKey(_ value: RowValue) -> RowValue {
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

/// Compares an integer with a real, without rounding. Returns nil for NaN.
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
    /// A number as a decimal string; nil for NaN. An infinity becomes a number that is greater in magnitude than all others.
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
