internal import Foundation
internal import ManagedModel
internal import RowStore

/// A value of a column, for people and for programs.
struct ValueText {
    let value: RowValue
    let type: AttributeType?

    init(_ value: RowValue, _ column: ColumnLayout) {
        self.value = value
        type = column.attribute?.type
    }

    /// The longest string that is shown in full.
    private static let limit = 60

    /// On one line, and not too long.
    var text: String {
        switch value {
        case .null: return "nil"
        case .integer(let number): return type == .boolean ? "\(number != 0)" : "\(number)"
        case .real(let number): return date(number) ?? "\(number)"
        case .text(let text):
            if type == .decimal { return text }
            let start = text.prefix(ValueText.limit)
            return JSON.string(String(start)).text + (start.endIndex == text.endIndex ? "" : "...")
        case .blob(let bytes): return uuid(bytes) ?? (bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes")
        }
    }

    /// The whole value. Bytes are in base 64.
    var json: JSON {
        switch value {
        case .null: .null
        case .integer(let number): type == .boolean ? .flag(number != 0) : .number(Int(number))
        case .real(let number): date(number).map { .string($0) } ?? .real(number)
        case .text(let text): .string(text)
        case .blob(let bytes): .string(uuid(bytes) ?? Data(bytes).base64EncodedString())
        }
    }

    private func date(_ number: Double) -> String? {
        // Years with four digits; a number outside of them is shown as it is.
        guard type == .date, (-63_000_000_000...252_000_000_000).contains(number) else { return nil }
        return Date(timeIntervalSinceReferenceDate: number).ISO8601Format()
    }

    private func uuid(_ bytes: [UInt8]) -> String? {
        guard type == .uuid, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
    }
}
