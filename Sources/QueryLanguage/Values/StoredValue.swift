public import Foundation
package import RowStore

/// A value as the store keeps it.
public struct StoredValue: Sendable, Hashable {
    package let value: RowValue

    package init(_ value: RowValue) {
        self.value = value
    }
}

/// A Swift type whose values the store can compare.
///
/// A type with raw values needs no implementation to conform if the type of the raw values conforms.
nonisolated public protocol StoredValueConvertible: Sendable {
    /// The value as the store keeps and compares it.
    var storedValue: StoredValue { get }
}

// Integers and booleans are stored as INTEGER; dates, floats and doubles as REAL; strings, decimals and URLs as TEXT; data and
// UUIDs as BLOB; enums as their raw values.

extension Int16: StoredValueConvertible {}
extension Int32: StoredValueConvertible {}
extension Int64: StoredValueConvertible {}
extension Int: StoredValueConvertible {}

extension StoredValueConvertible where Self: FixedWidthInteger {
    public var storedValue: StoredValue { StoredValue(.integer(Int64(self))) }
}

extension Bool: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.integer(self ? 1 : 0)) }
}

extension Double: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.real(self)) }
}

extension Float: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.real(Double(self))) }
}

extension Date: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.real(timeIntervalSinceReferenceDate)) }
}

extension String: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.text(self)) }
}

extension Decimal: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.text(canonicalText)) }

    /// The number as a string, which is the same for equal numbers on every machine.
    package var canonicalText: String { description }
}

extension URL: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.text(absoluteString)) }
}

extension Data: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.blob(Array(self))) }
}

extension UUID: StoredValueConvertible {
    public var storedValue: StoredValue { StoredValue(.blob(withUnsafeBytes(of: uuid) { Array($0) })) }
}

extension StoredValueConvertible where Self: RawRepresentable, RawValue: StoredValueConvertible {
    public var storedValue: StoredValue { rawValue.storedValue }
}

extension Optional: StoredValueConvertible where Wrapped: StoredValueConvertible {
    public var storedValue: StoredValue {
        self?.storedValue ?? StoredValue(.null)
    }
}
