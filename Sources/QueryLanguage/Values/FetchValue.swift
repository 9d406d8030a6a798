package import Foundation
internal import RowStore

/// A constant of a predicate.
package enum FetchValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    /// A literal of a format with more digits than a `Double` can hold. Compared with a `Double`, it is the nearest
    /// `Double`; otherwise it is a decimal.
    case digits(String)
    case text(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    /// The id of an object: the name of its entity, and its key.
    case objectID(entityName: String, key: Int64)
    /// A value as the store keeps it, for types that the app defines.
    case stored(StoredValue)
}

extension FetchValue {
    /// A constant for a value of an attribute's type.
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

    /// Strings are compared byte by byte, as in the store.
    package static func == (lhs: FetchValue, rhs: FetchValue) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.boolean(let lhs), .boolean(let rhs)): lhs == rhs
        case (.integer(let lhs), .integer(let rhs)): lhs == rhs
        case (.double(let lhs), .double(let rhs)): lhs.bitPattern == rhs.bitPattern
        case (.decimal(let lhs), .decimal(let rhs)): lhs == rhs
        case (.digits(let lhs), .digits(let rhs)): lhs == rhs
        case (.text(let lhs), .text(let rhs)): lhs.utf8.elementsEqual(rhs.utf8)
        case (.date(let lhs), .date(let rhs)):
            lhs.timeIntervalSinceReferenceDate.bitPattern == rhs.timeIntervalSinceReferenceDate.bitPattern
        case (.data(let lhs), .data(let rhs)): lhs == rhs
        case (.uuid(let lhs), .uuid(let rhs)): lhs == rhs
        case (.url(let lhs), .url(let rhs)): lhs == rhs
        case (.objectID(let lhs, let key), .objectID(let rhs, let otherKey)): lhs == rhs && key == otherKey
        case (.stored(let lhs), .stored(let rhs)): lhs == rhs
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
        case .digits(let value): hasher.combine(value)
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

extension FetchValue {
    /// A constant for an argument; nil if no attribute can have the value.
    init?(argument: Any) {
        switch argument {
        case let text as String: self = .text(text)
        case let flag as Bool: self = .boolean(flag)
        case let number as any BinaryInteger:
            if let integer = Int64(exactly: number) {
                self = .integer(integer)
            } else {
                guard let large = UInt64(exactly: number) else { return nil }
                self = .of(large)
            }
        case let number as any BinaryFloatingPoint: self = .double(Double(number))
        case let number as Decimal: self = .decimal(number)
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        case let url as URL: self = .url(url.absoluteURL)
        case let id as any ObjectReference: self = .objectID(entityName: id.entityName, key: id.key)
        case let text as Substring: self = .text(String(text))
        case let character as Character: self = .text(String(character))
        case let value as any StoredValueConvertible & RawRepresentable: self.init(value)
        case let raw as any RawRepresentable:
            guard let value = FetchValue(argument: raw.rawValue) else { return nil }
            self = value
        default: return nil
        }
    }

    /// An integer; a decimal if it does not fit in 64 bits.
    static func of(_ number: UInt64) -> FetchValue {
        Int64(exactly: number).map(FetchValue.integer) ?? .decimal(Decimal(number))
    }

    /// An integer with a minus sign; a decimal if it does not fit in 64 bits.
    static func negative(_ number: UInt64) -> FetchValue {
        if number == Int64.min.magnitude { return .integer(.min) }
        return Int64(exactly: number).map { .integer(-$0) } ?? .decimal(-Decimal(number))
    }
}

extension FetchValue {
    /// The value as the store keeps it.
    var rowValue: RowValue {
        switch self {
        case .null: .null
        case .boolean(let value): value.storedValue.value
        case .integer(let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): value.isNaN ? .real(.nan) : value.storedValue.value
        case .digits(let text): .text(Decimal.canonical(text))
        case .text(let value): .text(value)
        case .date(let value): value.storedValue.value
        case .data(let value): value.storedValue.value
        case .uuid(let value): value.storedValue.value
        case .url(let value): value.storedValue.value
        case .objectID(_, let key): .integer(key)
        case .stored(let value): value.value
        }
    }

    /// The kind of the value; nil for null.
    var kind: ValueKind? {
        switch self {
        case .null: nil
        case .boolean: .boolean
        case .integer: .integer
        case .double: .real
        case .decimal, .digits: .decimal
        case .text: .text
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .url: .uri
        case .objectID: .objectID
        case .stored(let value): value.value.plainKind
        }
    }
}

extension RowValue {
    /// The kind of a stored value whose attribute is not known.
    fileprivate var plainKind: ValueKind? {
        switch self {
        case .null: nil
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .data
        }
    }
}

/// The id of an object.
package protocol ObjectReference {
    /// The name of the object's own entity.
    var entityName: String { get }
    var key: Int64 { get }
}

/// An optional of any type.
package protocol AnyOptional {
    /// The type of the value.
    static var wrapped: Any.Type { get }
    /// The key path `\.!`.
    static var unwrapping: AnyKeyPath { get }
    /// The wrapped value, which can be an optional itself.
    var content: Any? { get }
}

extension Optional: AnyOptional {
    package static var wrapped: Any.Type { Wrapped.self }
    package static var unwrapping: AnyKeyPath { \Self.! }
    package var content: Any? { self }
}
