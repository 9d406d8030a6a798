import CoreDataSource
import Foundation

/// A value as a JSON file has it: dates as text, bytes as Base64, links by key.
enum JSONField: Codable {
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else {
            self = .real(try value.decode(Double.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .real(let real): try value.encode(real)
        case .text(let text): try value.encode(text)
        }
    }
}

extension EntityLayout {
    /// The values of a row by the names of their columns, without nulls.
    func fields(of row: RowSnapshot) -> [String: JSONField] {
        var fields: [String: JSONField] = [:]
        for (column, value) in zip(columns, values(of: row)) where column.isStored {
            fields[column.name] = column.field(value)
        }
        return fields
    }

    func row(fields: [String: JSONField], _ file: String) throws(DataSourceError) -> RowSnapshot {
        var values: [RowValue] = []
        for column in columns {
            let field = column.isStored ? fields[column.name] : nil
            let stored: RowValue? = if let field { column.value(field) } else { .null }
            guard let value = stored else {
                throw DataSourceError(damagedFile: file, "\(column.name) is not a value of its type.")
            }
            values.append(value)
        }
        return try row(values)
    }
}

extension ColumnLayout {
    fileprivate func field(_ value: RowValue) -> JSONField? {
        switch (value, attribute?.type) {
        case (.null, _): nil
        case (.integer(let number), .boolean) where number == 0 || number == 1: .flag(number == 1)
        case (.integer(let number), _): .integer(number)
        case (.real(let seconds), .date) where text(ofDate: seconds) != nil: text(ofDate: seconds).map { .text($0) }
        case (.real(let real), _): real.isFinite ? .real(real) : .text("\(real)")
        case (.text(let text), _): .text(text)
        case (.blob(let bytes), _): .text(Data(bytes).base64EncodedString())
        }
    }

    fileprivate func value(_ field: JSONField) -> RowValue? {
        switch (field, storage) {
        case (.flag(let flag), .integer): .integer(flag ? 1 : 0)
        case (.integer(let integer), .integer): .integer(integer)
        case (.integer(let integer), .real): .real(Double(integer))
        case (.real(let real), .real): .real(real)
        case (.text(let text), .real): (date(ofText: text) ?? Double(text)).map { .real($0) }
        case (.text(let text), .text): .text(text)
        case (.text(let text), .blob): Data(base64Encoded: text).map { .blob(Array($0)) }
        default: nil
        }
    }

    /// `2026-01-31T12:00:00.25Z`; nil for a date that would be another one when it is read.
    private func text(ofDate seconds: Double) -> String? {
        guard seconds.magnitude < 1e11 else { return nil }
        let whole = seconds.rounded(.down)
        let fraction = "\(seconds - whole)".dropFirst()
        let text = Date(timeIntervalSinceReferenceDate: whole).formatted(.iso8601).dropLast() + fraction + "Z"
        return date(ofText: String(text)) == seconds ? String(text) : nil
    }

    private func date(ofText text: String) -> Double? {
        guard let point = text.firstIndex(of: "."), let fraction = Double("0" + text[point...].dropLast()),
            let whole = try? Date(text[..<point] + "Z", strategy: .iso8601)
        else { return nil }
        return whole.timeIntervalSinceReferenceDate + fraction
    }
}

func encoded(_ value: some Encodable) throws(DataSourceError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch {
        throw DataSourceError(.storeUnreadable, "A save cannot be written as JSON.", cause: "\(error)")
    }
}

func decoded<Value: Decodable>(_ type: Value.Type, _ data: Data, _ file: String) throws(DataSourceError) -> Value {
    do { return try JSONDecoder().decode(type, from: data) } catch {
        throw (error as? DataSourceError) ?? DataSourceError(damagedFile: file, "\(error)")
    }
}

extension DataSourceError {
    init(damagedFile file: String, _ cause: String) {
        self.init(.storeCorrupt, "\(file) cannot be read. Correct it, or restore it from a copy.", cause: cause)
    }
}
