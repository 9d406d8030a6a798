internal import Foundation

extension JSONValue: Codable {
    init(from decoder: any Decoder) throws {
        if let container = try? decoder.singleValueContainer() {
            if container.decodeNil() {
                self = .null
                return
            }
            if let value = JSONValue(scalar: container) {
                self = value
                return
            }
        }
        if let elements = try? [JSONValue](from: decoder) {
            self = .array(elements)
        } else {
            self = .object(try [JSONName: JSONValue](from: decoder))
        }
    }

    private init?(scalar container: any SingleValueDecodingContainer) {
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            // A decimal keeps more digits of such a number.
            let decimal = try? container.decode(Decimal.self)
            self = JSONValue(number: decimal.map { "\($0)" } ?? "\(value)")
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            return nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .digits(let text):
            if let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) {
                try container.encode(value)
            } else {
                try container.encode(Double(text) ?? 0)
            }
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}
