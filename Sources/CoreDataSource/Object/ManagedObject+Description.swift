internal import Foundation
internal import RowStore

extension EntityLayout {
    /// An object as a line of text.
    func description(_ key: Int64, _ row: RowSnapshot, _ state: ObjectState = .saved) -> String {
        let values = columns.indices.filter { !row.isNull($0) }.map { "\(columns[$0].name) \(value($0, row))" }
        let head = "\(name)/\(key)" + state.note
        return values.isEmpty ? head : head + ": " + values.joined(separator: ", ")
    }

    private func value(_ column: Int, _ row: RowSnapshot) -> String {
        let kind = columns[column].attribute.flatMap { ValueKind($0.type) }
        if columns[column].mayLieApart { return "(\(row.blobByteCount(column)) bytes)" }
        switch row.value(column, columns[column].storage) {
        case .null: return "nil"
        case .integer(let number): return kind == .boolean ? "\(number != 0)" : "\(number)"
        case .real(let number):
            return kind == .date ? Date(timeIntervalSinceReferenceDate: number).ISO8601Format() : "\(number)"
        case .text(let string): return kind == .decimal ? string : string.quotedForDescription
        case .blob(let bytes):
            guard kind == .uuid, bytes.count == 16 else { return "(\(bytes.count) bytes)" }
            return bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }.uuidString
        }
    }
}

extension ObjectState {
    fileprivate var note: String {
        switch self {
        case .saved: ""
        case .inserted: " (inserted)"
        case .edited: " (edited)"
        case .deleted, .gone: " (deleted)"
        }
    }
}

extension String {
    /// In quotes; of a long string the beginning, and how many characters it has.
    fileprivate var quotedForDescription: String {
        guard utf8.count > 80, count > 80 else { return debugDescription }
        return String(prefix(60)).debugDescription + "... (\(count) characters)"
    }
}
