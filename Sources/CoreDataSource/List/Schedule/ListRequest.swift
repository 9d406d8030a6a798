internal import Foundation
internal import ManagedModel
internal import RowStore

/// The request and the section key of a list.
struct ListRequest<Object: ManagedObject>: Sendable {
    let request: ObjectRequest<Object>
    let section: SectionPath<Object>?

    /// A limit that no list can reach.
    static var mostRows: Int { 1 << 40 }

    init(_ request: ObjectRequest<Object>, _ section: PartialKeyPath<Object>?) {
        self.request = request
        self.section = section.map { SectionPath(keyPath: $0) }
    }

    /// The request; throws if a list does not support it.
    var checked: ObjectRequest<Object> {
        get throws(DataSourceError) {
            try request.checkWindow()
            if request.offset > 0 {
                throw refusal("start at an offset, because every save would shift the offset. Use a cursor instead.")
            }
            if request.isDistinct {
                throw refusal("be distinct. Fetch values instead.")
            }
            if let limit = request.limit, limit < 1 {
                throw refusal("have a limit below 1. Use a limit of at least 1, or no limit.")
            }
            return request
        }
    }

    private func refusal(_ what: String) -> DataSourceError {
        DataSourceError(
            .unsupportedQuery, "A list of \(Object.entityName) cannot \(what)", entityName: Object.entityName)
    }
}

extension ObjectRequest {
    /// The request without limit and cursor.
    var whole: ObjectRequest {
        var request = self
        (request.limit, request.after) = (nil, nil)
        return request
    }
}

/// A key path to the value that divides a list into sections.
///
/// Guarded by: nothing, because a key path never changes. Only a key path with a mutable reference as a subscript index would
/// need a lock, and sections do not support such key paths.
struct SectionPath<Object: ManagedObject>: @unchecked Sendable {
    let keyPath: PartialKeyPath<Object>
}

extension ListState {
    /// The name of a section: its value as a string; empty for nil, and for a list without sections.
    package func sectionName(_ section: Int) -> String {
        switch sectionValue(section) {
        case .null: ""
        case .text(let text): text
        case .integer(let number): isOfFlags ? "\(number != 0)" : "\(number)"
        case .real(let number): isOfDates ? DateText.display(number) : "\(number)"
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

/// The title of a section in an index beside a list: the capitalized first letter of the section's name.
func indexTitle(ofSection name: String) -> String {
    name.prefix(1).uppercased()
}
