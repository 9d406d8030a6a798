/// A value of a row, apart from it.
///
/// ``ColumnStorage/init(_:)`` says which case is used for the values of an attribute. Dates are seconds since 2001-01-01 UTC,
/// UUIDs are blobs of 16 bytes, decimal numbers and URIs are strings; links are the keys of other rows.
public enum RowValue: Sendable, Hashable {
    /// No value. It fits every column.
    case null
    /// A whole number, a Boolean (0 or 1) or the key of another row.
    case integer(Int64)
    /// A floating-point number, never NaN.
    case real(Double)
    /// A string.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

extension RowValue {
    /// Strings are equal byte by byte, as in the store, not by canonical equivalence as in Swift.
    public static func == (one: RowValue, other: RowValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.text(let one), .text(let other)): one.utf8.elementsEqual(other.utf8)
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }

    /// Hashes the bytes of a string.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}

extension RowValue {
    /// Whether a column with that storage can hold the value. Null fits every column; NaN fits none.
    @inlinable
    public func fits(_ storage: ColumnStorage) -> Bool {
        switch (self, storage) {
        case (.null, _), (.integer, .integer), (.text, .text), (.blob, .blob): true
        case (.real(let value), .real): !value.isNaN
        default: false
        }
    }
}

extension RowSnapshot {
    /// The value of a column, copied out.
    package func value(_ column: Int, _ storage: ColumnStorage) -> RowValue {
        if isNull(column) { return .null }
        return switch storage {
        case .integer: .integer(integer(column))
        case .real: .real(real(column))
        case .text: .text(text(column))
        case .blob: .blob(withBytes(column) { Array($0) })
        }
    }

    package mutating func setValue(_ value: RowValue, _ column: Int) {
        switch value {
        case .null: setNull(column)
        case .integer(let value): setInteger(value, column)
        case .real(let value): setReal(value, column)
        case .text(let value): setText(value, column)
        case .blob(let value): value.withUnsafeBytes { setBytes($0, column) }
        }
    }

    /// Whether a column has that value, without copying it.
    package func holds(_ value: RowValue, column: Int) -> Bool {
        switch value {
        case .null: return isNull(column)
        case .integer(let value): return !isNull(column) && integer(column) == value
        case .real(let value): return !isNull(column) && real(column) == value
        case .text(var value): return value.withUTF8 { holds(UnsafeRawBufferPointer($0), column: column) }
        case .blob(let value): return value.withUnsafeBytes { holds($0, column: column) }
        }
    }
}
