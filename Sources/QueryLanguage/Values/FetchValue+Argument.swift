internal import Foundation
internal import RowStore

extension FetchValue {
    /// The value of an argument that an attribute could have.
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

    /// A whole number.
    static func of(_ number: UInt64) -> FetchValue {
        Int64(exactly: number).map(FetchValue.integer) ?? .decimal(Decimal(number))
    }

    /// A whole number with a minus sign.
    static func negative(_ number: UInt64) -> FetchValue {
        if number == Int64.min.magnitude { return .integer(.min) }
        return Int64(exactly: number).map { .integer(-$0) } ?? .decimal(-Decimal(number))
    }
}
