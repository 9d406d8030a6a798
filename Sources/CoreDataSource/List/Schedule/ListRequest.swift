internal import Foundation
internal import ManagedModel
internal import RowStore

/// The request and the sections of a list.
struct ListRequest<Object: ManagedObject>: Sendable {
    let request: ObjectRequest<Object>
    let sections: ListSections<Object>?
    /// Whether the sections were specified twice.
    private let isAmbiguous: Bool

    /// The limit that replaces any larger limit. No list has as many rows.
    static var maxRows: Int { 1 << 40 }

    init(_ request: ObjectRequest<Object>, _ section: PartialKeyPath<Object>?) {
        self.request = request
        sections = section.map { .by($0) } ?? request.sections
        isAmbiguous = section != nil && request.sections != nil
    }

    /// The request, if lists support it; otherwise throws.
    var checked: ObjectRequest<Object> {
        get throws(DataSourceError) {
            try request.checkWindow()
            if isAmbiguous {
                throw DataSourceError(
                    .invalidRequest,
                    "A list of \(Object.entityName) has sections both in its request and in the argument sectionBy. Use one of the two.",
                    entityName: Object.entityName)
            }
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
    /// The request without the limit and the cursor.
    var whole: ObjectRequest {
        var request = self
        (request.limit, request.after) = (nil, nil)
        return request
    }
}

extension ListState {
    /// The name of a section: the section's value as a string. Empty for nil, and for a list without sections.
    package func sectionName(_ section: Int) -> String {
        switch sectionTitle(section) {
        case .null: ""
        case .text(let text): text
        case .integer(let number): periods?.name(ofPeriod: number) ?? (isOfFlags ? "\(number != 0)" : "\(number)")
        case .real(let number): isOfDates ? DateText.display(number) : "\(number)"
        case .blob(let bytes): bytes.count == 16 && isOfUUIDs ? uuid(bytes) : "\(bytes.count) bytes"
        }
    }

    private func sectionTitle(_ section: Int) -> RowValue {
        guard let key = query.order.section, let row = firstRow(ofSection: section) else { return .null }
        return key.title(of: row, query.order.layout)
    }

    /// The values that all rows of a section have in common; empty for a list without sections.
    func sectionValues(_ section: Int) -> [RowValue] {
        guard query.order.section != nil, let row = firstRow(ofSection: section) else { return [] }
        return query.order.sectionValues(row)
    }

    /// The time interval of a section, if the sections are days, weeks or months; otherwise nil.
    func sectionInterval(_ section: Int) -> DateInterval? {
        guard let periods, case .integer(let first) = sectionTitle(section) else { return nil }
        return periods.interval(ofPeriod: first)
    }

    private func firstRow(ofSection section: Int) -> ListedRow? {
        sectionStarts[section] < rows.count ? rows[sectionStarts[section]] : nil
    }

    private var periods: CalendarPeriods? { query.order.section?.periods }

    private var sectionKind: ValueKind? {
        guard let column = query.order.section?.titleColumn else { return nil }
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

/// Returns the title of a section for the index beside a list: the capitalized first letter of the section's name.
func indexTitle(ofSection name: String) -> String {
    name.prefix(1).uppercased()
}
