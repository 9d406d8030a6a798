package import Foundation
internal import RowStore

/// A constant of a predicate.
package enum FetchValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    /// The object with that key.
    case objectID(entityName: String, key: Int64)
    /// A value in the form in which the store keeps it, for types of the app.
    case stored(StoredValue)
}

extension FetchValue {
    /// The constant for a value that an attribute can have.
    package init<Value: StoredValueConvertible>(_ value: Value) {
        switch value as Any {
        case let value as String: self = .text(value)
        case let value as Bool: self = .boolean(value)
        case let value as Int64: self = .integer(value)
        case let value as Int: self = .integer(Int64(value))
        case let value as Int32: self = .integer(Int64(value))
        case let value as Int16: self = .integer(Int64(value))
        case let value as Double: self = .double(value)
        case let value as Float: self = .double(Double(value))
        case let value as Date: self = .date(value)
        case let value as Decimal: self = .decimal(value)
        case let value as UUID: self = .uuid(value)
        case let value as Data: self = .data(value)
        case let value as URL: self = .url(value.absoluteURL)
        default:
            let stored = value.storedValue
            if let raw = value as? any RawRepresentable, let constant = FetchValue(argument: raw.rawValue),
                constant.rowValue == stored.value
            {
                self = constant
            } else {
                self = stored.value == .null ? .null : .stored(stored)
            }
        }
    }

    /// Strings are equal byte by byte, as in the store.
    package static func == (one: FetchValue, other: FetchValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.double(let one), .double(let other)): one.bitPattern == other.bitPattern
        case (.decimal(let one), .decimal(let other)): one == other
        case (.text(let one), .text(let other)): one.utf8.elementsEqual(other.utf8)
        case (.date(let one), .date(let other)):
            one.timeIntervalSinceReferenceDate.bitPattern == other.timeIntervalSinceReferenceDate.bitPattern
        case (.data(let one), .data(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        case (.url(let one), .url(let other)): one == other
        case (.objectID(let one, let key), .objectID(let other, let otherKey)): one == other && key == otherKey
        case (.stored(let one), .stored(let other)): one == other
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .decimal(let value): hasher.combine(value)
        case .text(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value)
        case .objectID(_, let key): hasher.combine(key)
        case .stored(let value): hasher.combine(value)
        }
    }
}
