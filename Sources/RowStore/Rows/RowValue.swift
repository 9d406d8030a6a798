internal import Foundation
package import ManagedModel

/// A single value of a row.
///
/// The type of an attribute determines the case of its values: see ``ColumnStorage/init(_:)``. A date is the number of seconds
/// since 2001-01-01 UTC. A UUID is a blob of 16 bytes. Decimal numbers and URIs are strings. A link is the key of another row.
public enum RowValue: Sendable, Hashable {
    /// No value. Null fits every column.
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
    /// Compares two values. Compares strings by their bytes, like a store. Swift would compare strings by canonical
    /// equivalence.
    ///
    /// ```swift
    /// let isEqual = RowValue.text("caf\u{E9}") == RowValue.text("cafe\u{301}")
    /// // false
    /// ```
    public static func == (lhs: RowValue, rhs: RowValue) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.integer(let lhs), .integer(let rhs)): lhs == rhs
        case (.real(let lhs), .real(let rhs)): lhs == rhs
        case (.text(let lhs), .text(let rhs)): lhs.utf8.elementsEqual(rhs.utf8)
        case (.blob(let lhs), .blob(let rhs)): lhs == rhs
        default: false
        }
    }

    /// Hashes the value. Hashes a string by its bytes.
    ///
    /// ```swift
    /// let uniqueValues: Set<RowValue> = [.text("guan-yu"), .integer(35)]
    /// ```
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
    /// Returns whether a column with the storage can have the value. Null fits every column. NaN fits no column.
    ///
    /// ```swift
    /// let isIntact = value.fits(column.storage)
    /// ```
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
    /// Returns a copy of the column's value.
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

    /// Returns whether a column has the value. Does not copy the column's bytes.
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

extension RowValue {
    /// The stored form of an attribute's default value; nil if there is no default value.
    package init?(defaultOf attribute: AttributeDescription) {
        guard let value = attribute.defaultValue else { return nil }
        switch (ColumnStorage(attribute.type), value) {
        case (.integer, .boolean(let value)): self = .integer(value ? 1 : 0)
        case (.integer, .integer(let value)): self = .integer(value)
        // Round the default value of a Float attribute: a property of this type also stores the rounded value.
        case (.real, .double(let value)): self = .real(attribute.type == .float ? Double(Float(value)) : value)
        case (.real, .date(let value)): self = .real(value)
        case (.real, .integer(let value)): self = .real(Double(value))
        case (.text, .string(let value)): self = .text(value)
        case (.text, .decimal(let value)): self = .text(value.description)
        case (.text, .integer(let value)): self = .text(String(value))
        case (.blob, .uuid(let value)): self = .blob(withUnsafeBytes(of: value.uuid) { Array($0) })
        default: return nil
        }
    }
}

/// The kind of a value. Values of different kinds can have the same storage.
package enum ValueKind: Sendable, Hashable {
    case boolean, integer, real
    /// A decimal number, stored as a string and ordered by numeric value.
    case decimal
    /// A date, stored as a number of seconds.
    case date
    case text, uri, uuid, data
    /// Bytes that can only be compared for equality.
    case transformable
    case objectID

    package init?(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64: self = .integer
        case .boolean: self = .boolean
        case .double, .float: self = .real
        case .decimal: self = .decimal
        case .date: self = .date
        case .string: self = .text
        case .uri: self = .uri
        case .uuid: self = .uuid
        case .binary: self = .data
        case .transformable, .undefined: self = .transformable
        case .objectID: self = .objectID
        case .composite: return nil
        }
    }

    package var storage: ColumnStorage {
        switch self {
        case .boolean, .integer, .objectID: .integer
        case .real, .date: .real
        case .decimal, .text, .uri: .text
        case .uuid, .data, .transformable: .blob
        }
    }

    /// Whether the values can be used in arithmetic.
    package var isNumber: Bool { self == .integer || self == .real || self == .decimal || self == .boolean }

    /// Whether the values have an order.
    package var isOrdered: Bool { self != .transformable && self != .objectID }

    /// The name of the kind, for messages.
    package var name: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real: "a real number"
        case .decimal: "a decimal number"
        case .date: "a date"
        case .text: "a string"
        case .uri: "a URI"
        case .uuid: "a UUID"
        case .data: "data"
        case .transformable: "a transformable"
        case .objectID: "an object"
        }
    }
}
