internal import Foundation
internal import RowStore

/// The Swift types of attributes that have a plain value, and what nil is read as if they are not optional.
enum PlainType {
    /// Whether it is one of them, or an optional one.
    static func includes(_ type: Any.Type) -> Bool {
        zeros[ObjectIdentifier(type)] != nil || optionals.contains(ObjectIdentifier(type))
    }

    /// Whether values of the type are equal if their stored values are: a plain type, a type with raw values, or the id of an
    /// object.
    static func isEquatable(_ type: Any.Type) -> Bool {
        includes(type) || hasRawValue(type) || wrapped(type) is any ObjectReference.Type
    }

    /// Whether it is an enum, or another type that is stored as its raw value, or an optional one. Its order need not be that
    /// of the raw values.
    private static func hasRawValue(_ type: Any.Type) -> Bool {
        guard let raw = (wrapped(type) as? any (RawRepresentable & StoredValueConvertible).Type)?.rawType else {
            return false
        }
        return zeros[ObjectIdentifier(raw)] != nil
    }

    /// The type of the value, if it is an optional one.
    private static func wrapped(_ type: Any.Type) -> Any.Type { (type as? any OptionalType.Type)?.wrapped ?? type }

    /// Whether it is a string, or an optional one.
    static func isText(_ type: Any.Type) -> Bool { type == String.self || type == String?.self }

    /// The value that nil is read as; nil for an optional.
    static func zero(of type: Any.Type) -> FetchValue? { zeros[ObjectIdentifier(type)] }

    /// The name in a message for an attribute of any other type.
    static func attributeName(_ name: String, _ type: Any.Type) -> String {
        if type is any StoredValueConvertible.Type { return "the attribute \(name) of the type \(type)" }
        // Transformables are Codable; a composite is a struct of its own.
        return type is any Codable.Type ? "the transformable attribute \(name)" : "the composite attribute \(name)"
    }

    private static let zeros: [ObjectIdentifier: FetchValue] = [
        ObjectIdentifier(String.self): .text(""),
        ObjectIdentifier(Int16.self): .integer(0),
        ObjectIdentifier(Int32.self): .integer(0),
        ObjectIdentifier(Int64.self): .integer(0),
        ObjectIdentifier(Int.self): .integer(0),
        ObjectIdentifier(Double.self): .double(0),
        ObjectIdentifier(Float.self): .double(0),
        ObjectIdentifier(Bool.self): .boolean(false),
        ObjectIdentifier(Decimal.self): .decimal(0),
        ObjectIdentifier(Date.self): .date(Date(timeIntervalSinceReferenceDate: 0)),
        ObjectIdentifier(Data.self): .data(Data()),
        ObjectIdentifier(UUID.self): .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
    ].merging(URL(string: "about:blank").map { [ObjectIdentifier(URL.self): .url($0)] } ?? [:]) { $1 }

    private static let optionals: Set<ObjectIdentifier> = [
        ObjectIdentifier(String?.self), ObjectIdentifier(Int16?.self), ObjectIdentifier(Int32?.self),
        ObjectIdentifier(Int64?.self), ObjectIdentifier(Int?.self), ObjectIdentifier(Double?.self),
        ObjectIdentifier(Float?.self),
        ObjectIdentifier(Bool?.self), ObjectIdentifier(Decimal?.self), ObjectIdentifier(Date?.self),
        ObjectIdentifier(Data?.self), ObjectIdentifier(UUID?.self), ObjectIdentifier(URL?.self),
    ]
}

extension RawRepresentable {
    fileprivate static var rawType: Any.Type { RawValue.self }
}

private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
