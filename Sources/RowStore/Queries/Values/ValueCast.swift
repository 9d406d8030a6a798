internal import Foundation

/// Converts a value to another kind. The result is the same in memory and in a database. A value that cannot be converted
/// becomes null.
enum ValueCast {
    static func cast(_ value: RowValue, from source: ValueKind, to target: ValueKind) -> RowValue {
        if value == .null || source == target { return value }
        switch target {
        case .boolean: return value.asReal.map { .integer($0 == 0 ? 0 : 1) } ?? .null
        case .integer: return number(value, source).asInteger.map { .integer($0) } ?? .null
        case .real, .date: return number(value, source).asReal.map { .number($0) } ?? .null
        case .decimal: return number(value, source).asDecimal.map { .text($0.description) } ?? .null
        case .text: return text(value, source).map { .text($0) } ?? .null
        case .uri, .uuid, .data, .transformable, .objectID: return .null
        }
    }

    /// Returns whether values of one kind can be converted to another kind.
    static func isPossible(from source: ValueKind, to target: ValueKind) -> Bool {
        if source == target { return true }
        switch target {
        case .boolean: return source.isNumber
        case .integer, .real, .decimal: return source.isNumber || source == .text || source == .date
        case .date: return source.isNumber
        case .text: return source != .data && source != .transformable && source != .objectID
        case .uri, .uuid, .data, .transformable, .objectID: return false
        }
    }

    /// Converts a string to a number. Returns null if the string as a whole is not a number. Returns a value that is not a
    /// string unchanged.
    private static func number(_ value: RowValue, _ source: ValueKind) -> RowValue {
        guard source == .text, case .text(let text) = value else { return value }
        if let whole = Int64(text) { return .integer(whole) }
        // Reject hexadecimal numbers, which Swift would also read.
        guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }), let real = Double(text), real.isFinite
        else { return .null }
        return Decimal(rowText: text).map { .text($0.description) } ?? .real(real)
    }

    private static func text(_ value: RowValue, _ source: ValueKind) -> String? {
        switch value {
        case .integer(let number): source == .boolean ? (number == 0 ? "false" : "true") : String(number)
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob(let bytes) where source == .uuid && bytes.count == 16:
            bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
        case .null, .blob: nil
        }
    }
}

extension ValueKind {
    /// Returns whether values of this kind can be converted to the target.
    package func canBeCast(to target: ValueKind) -> Bool { ValueCast.isPossible(from: self, to: target) }
}
