internal import Foundation
internal import ManagedModel
internal import RowStore

extension ListState {
    /// The name of a section: its value as a string; empty for nil, and for a list without sections.
    package func sectionName(_ section: Int) -> String {
        switch sectionValue(section) {
        case .null: ""
        case .text(let text): text
        case .integer(let number): isOfFlags ? "\(number != 0)" : "\(number)"
        case .real(let number): isOfDates ? Date(timeIntervalSinceReferenceDate: number).ISO8601Format() : "\(number)"
        case .blob(let bytes): bytes.count == 16 && isOfUUIDs ? uuid(bytes) : "\(bytes.count) bytes"
        }
    }

    /// The value that all rows of a section share.
    func sectionValue(_ section: Int) -> RowValue {
        guard let key = query.order.section, sectionStarts[section] < rows.count else { return .null }
        return key.value(of: rows[sectionStarts[section]], query.order.layout)
    }

    private var sectionKind: ValueKind? {
        guard case .column(let column) = query.order.section else { return nil }
        if JoinedColumn.isJoined(column) { return query.joined[JoinedColumn.index(column)].kind }
        return query.order.layout.columns[column].attribute.flatMap { ValueKind($0.type) }
    }

    private var isOfFlags: Bool { sectionKind == .boolean }
    private var isOfDates: Bool { sectionKind == .date }
    private var isOfUUIDs: Bool { sectionKind == .uuid }

    private func uuid(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }.uuidString
    }
}

/// The title of a section in an index along a list: the capitalized first letter of its name.
func indexTitle(ofSection name: String) -> String {
    name.prefix(1).uppercased()
}
