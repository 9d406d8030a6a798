internal import Foundation
internal import ManagedModel
internal import RowStore

/// Converts the values of attributes to JSON and back without loss.
enum AttributeCoding {
    // MARK: Out

    /// Converts the value of an attribute to JSON.
    ///
    /// - Throws: `damagedValue` if the stored value does not have the attribute's type.
    static func json(
        _ row: RowSnapshot, _ column: Int, as attribute: AttributeDescription, in layout: EntityLayout
    ) throws(DataSourceError) -> JSONValue {
        if row.isNull(column) { return .null }
        guard let value = json(row, column, attribute.type) else {
            layout.recordDamage(column)
            throw DataSourceError(damagedColumn: column, layout)
        }
        return value
    }

    private static func json(_ row: RowSnapshot, _ column: Int, _ type: AttributeType) -> JSONValue? {
        switch type {
        case .boolean: .bool(row.integer(column) != 0)
        case .integer16: Int16(exactly: row.integer(column)).map { .integer(Int64($0)) }
        case .integer32: Int32(exactly: row.integer(column)).map { .integer(Int64($0)) }
        case .integer64, .objectID: .integer(row.integer(column))
        case .double: json(row.real(column))
        case .float: json(float: row.real(column))
        case .date: json(date: row.real(column))
        case .string, .uri: row.validText(column).map { .string($0) }
        case .decimal: row.decimal(column).flatMap { _ in row.validText(column).map { .string($0) } }
        case .uuid: row.withBytes(column) { uuid($0).map { .string($0.uuidString) } }
        case .binary, .undefined, .composite:
            .string(row.withBytes(column) { Data($0) }.base64EncodedString())
        case .transformable: row.withBytes(column) { json(transformable: Array($0)) }
        }
    }

    private static func json(_ real: Double) -> JSONValue {
        real.isFinite ? JSONValue(real) : .string(real < 0 ? "-inf" : "inf")
    }

    /// If the number is exactly a 32-bit number, writes the shortest digits that give this 32-bit number again.
    private static func json(float real: Double) -> JSONValue {
        let float = Float(real)
        guard float.isFinite, Double(float) == real, let short = Double("\(float)"), Float(short) == float else {
            return json(real)
        }
        return JSONValue(short)
    }

    private static func json(date seconds: Double) -> JSONValue {
        DateText.exact(seconds, digits: 3).map { .string($0) } ?? json(seconds)
    }

    private static func json(transformable bytes: [UInt8]) -> JSONValue {
        var reader = JSONReader(bytes)
        // Begin at depth 1, because the value is inside an object in the file.
        if let value = try? reader.value(1), (try? reader.expectEnd()) != nil, !isTagged(value), value != .null,
            value.text.utf8.elementsEqual(bytes)
        {
            return value
        }
        // If writing the value as JSON would change its bytes, export the bytes as a string.
        if let text = String(validating: bytes, as: UTF8.self) { return .object([textTag: .string(text)]) }
        return .object([bytesTag: .string(Data(bytes).base64EncodedString())])
    }

    private static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    }

    // MARK: In

    /// Returns the value to store; nil if the JSON value does not have the type.
    static func value(_ json: JSONValue, _ type: AttributeType) -> RowValue? {
        if json == .null { return .null }
        switch type {
        case .boolean: if case .bool(let value) = json { return .integer(value ? 1 : 0) } else { return nil }
        case .integer16: return integer(json).flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
        case .integer32: return integer(json).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
        case .integer64, .objectID: return integer(json).map { .integer($0) }
        case .double: return real(json).map { .real($0) }
        case .float:
            guard let number = real(json) else { return nil }
            let float = Float(number)
            return float.isFinite == number.isFinite ? .real(Double(float)) : nil
        case .date: return (string(json).flatMap(DateText.seconds) ?? real(json)).map { .real($0) }
        case .string: return string(json).map { .text($0) }
        case .uri: return string(json).flatMap { text in URL(string: text).map { _ in .text(text) } }
        case .decimal: return decimal(json).map { .text($0) }
        case .uuid:
            return string(json).flatMap(UUID.init(uuidString:)).map { uuid in
                .blob(withUnsafeBytes(of: uuid.uuid) { Array($0) })
            }
        case .binary, .undefined, .composite: return data(json).map { .blob($0) }
        case .transformable: return transformable(json).map { .blob($0) }
        }
    }

    private static func string(_ json: JSONValue) -> String? {
        if case .string(let text) = json { text } else { nil }
    }

    private static func integer(_ json: JSONValue) -> Int64? {
        if case .integer(let number) = json { number } else { nil }
    }

    private static func real(_ json: JSONValue) -> Double? {
        switch json {
        case .string("inf"): .infinity
        case .string("-inf"): -.infinity
        default: json.numberText.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
        }
    }

    private static func decimal(_ json: JSONValue) -> String? {
        guard let text = string(json) ?? json.numberText, JSONValue.isNumber(text),
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN,
            JSONValue.isEqual(number.description, text)
        else { return nil }
        return number.description
    }

    private static func data(_ json: JSONValue) -> [UInt8]? {
        string(json).flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }

    private static func transformable(_ json: JSONValue) -> [UInt8]? {
        guard isTagged(json), case .object(let members) = json, let (tag, value) = members.first else {
            return Array(json.text.utf8)
        }
        return tag == bytesTag ? data(value) : string(value).map { Array($0.utf8) }
    }

    /// Returns the end of an error message about a value of the wrong type: the value, and the form that the type
    /// requires.
    static func problem(_ json: JSONValue, _ type: AttributeType) -> String {
        "is \(json.text.shortened), but has to be \(type.jsonKind)"
    }

    // MARK: Parts

    private static let textTag: JSONName = "json"
    private static let bytesTag: JSONName = "base64"

    /// Whether a JSON value has the form of a transformable that was exported as a string of its bytes.
    private static func isTagged(_ value: JSONValue) -> Bool {
        guard case .object(let members) = value, members.count == 1, let (name, text) = members.first else {
            return false
        }
        return (name == textTag || name == bytesTag) && string(text) != nil
    }
}
