internal import Foundation
internal import RowStore

/// Values that are written as calls.
enum FormatLiteral: String {
    case date = "DATE"
    case data = "DATA"
    case uuid = "UUID"
    case url = "URL"
    case decimal = "DECIMAL"
    case double = "DOUBLE"
    case objectID = "OBJECTID"
    case stored = "STORED"

    var argument: String {
        switch self {
        case .date: "the seconds since 1 January 2001"
        case .data: "an even number of hexadecimal digits in quotes"
        case .uuid: "a UUID in quotes"
        case .url: "a URL in quotes"
        case .decimal: "a number in quotes"
        case .double: "nan, inf or -inf in quotes"
        case .objectID: "the name of an entity in quotes and a number"
        case .stored: "a string, a number or DATA()"
        }
    }

    func value(_ arguments: [FetchExpression]) -> FetchValue? {
        switch (self, arguments.first, arguments.count) {
        case (.date, .constant(.double(let seconds)), 1): .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.date, .constant(.integer(let seconds)), 1): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case (.objectID, .constant(.text(let name)), 2): objectID(name, arguments[1])
        case (.stored, .constant(let constant), 1): Self.stored(constant)
        case (_, .constant(.text(let text)), 1): value(text)
        default: nil
        }
    }

    private func value(_ text: String) -> FetchValue? {
        switch self {
        case .data: Data(hexadecimal: text).map(FetchValue.data)
        case .uuid: UUID(uuidString: text).map(FetchValue.uuid)
        case .url: URL(string: text).flatMap { $0.absoluteString == text ? .url($0) : nil }
        case .decimal where text == "NaN": .decimal(.nan)
        case .decimal: Decimal(string: text, locale: posix).flatMap { "\($0)" == text ? .decimal($0) : nil }
        case .double where ["nan", "inf", "-inf"].contains(text): Double(text).map(FetchValue.double)
        case .double, .date, .objectID, .stored: nil
        }
    }

    private func objectID(_ entity: String, _ key: FetchExpression) -> FetchValue? {
        guard case .constant(.integer(let key)) = key else { return nil }
        return .objectID(entityName: entity, key: key)
    }

    private static func stored(_ constant: FetchValue) -> FetchValue? {
        switch constant {
        case .text(let text): .stored(StoredValue(.text(text)))
        case .integer(let number): .stored(StoredValue(.integer(number)))
        case .double(let number): .stored(StoredValue(.real(number)))
        case .data(let data): .stored(StoredValue(.blob(Array(data))))
        case .null: .stored(StoredValue(.null))
        default: nil
        }
    }
}

extension Data {
    /// The bytes of a string of hexadecimal digits; nil for anything else.
    init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        self.init(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }

    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

private let posix = Locale(identifier: "en_US_POSIX")
