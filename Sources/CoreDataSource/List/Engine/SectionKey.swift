internal import Foundation
package import RowStore

/// The key that divides the rows of a list into sections: rows with the same value are in the same section.
package enum SectionKey: Sendable {
    /// A stored attribute. The sections have the direction of the first sort key if this sort key has the same column.
    /// Otherwise, the sections are ascending.
    case column(Int)
    /// Stored attributes. One of them has the titles of the sections.
    case keys([SortKey], title: Int)
    /// The columns of a to-one relationship: the key of the related object, and its entity if it can have several entities.
    case related(SortKey, entity: SortKey?, destinations: [EntityLayout])
    /// A value that is computed from the row alone.
    case computed(ComputedSection)

    package struct ComputedSection: Sendable {
        let value: @Sendable (ListedRow) throws(DataSourceError) -> RowValue
        /// Compares two values in ascending order: negative, 0 or positive.
        private let compare: @Sendable (RowValue, RowValue) -> Int
        private let isAscending: Bool
        /// Whether the list's sort keys also sort the rows by section, so that a store can sort the rows.
        let followsSort: Bool
        /// The calendar periods, if each section is a period; otherwise nil.
        let periods: CalendarPeriods?

        package init(
            _ value: @escaping @Sendable (ListedRow) throws(DataSourceError) -> RowValue, isAscending: Bool = true,
            followsSort: Bool = false, periods: CalendarPeriods? = nil,
            compare: @escaping @Sendable (RowValue, RowValue) -> Int = compareValues
        ) {
            (self.value, self.compare, self.isAscending) = (value, compare, isAscending)
            (self.followsSort, self.periods) = (followsSort, periods)
        }

        /// Compares the sections of two rows.
        func order(_ lhs: ListedRow, _ rhs: ListedRow) -> Int {
            let order = compare(sectionValue(of: lhs), sectionValue(of: rhs))
            return isAscending ? order : -order
        }

        /// Returns the section value that was evaluated for a row of a list.
        func sectionValue(of row: ListedRow) -> RowValue {
            if let section = row.section { return section.value }
            // A row without a section value is not from the list. An error counts as NULL here, because `ListOrder.listed`
            // throws the error before such a row can get into the list.
            do { return try value(row) } catch { return .null }
        }
    }
}

extension SectionKey {
    /// The sort keys that sort the rows by section; empty if the section is computed.
    func leadingKeys(_ sort: [SortKey]) -> [SortKey] {
        switch self {
        case .column(let column):
            [SortKey(column: column, isAscending: sort.first?.column == column ? sort[0].isAscending : true)]
        case .keys(let keys, _): keys
        case .related(let key, let entity, _): [key] + (entity.map { [$0] } ?? [])
        case .computed: []
        }
    }

    /// The value that is the title of a row's section.
    func title(of row: ListedRow, _ layout: EntityLayout) -> RowValue {
        switch self {
        case .column(let column), .keys(_, let column): row.stored.value(column, layout.order(of: column).storage)
        case .related(let key, _, _): row.stored.value(key.column, .integer)
        case .computed(let key): key.sectionValue(of: row)
        }
    }

    /// The related object of the section with the given values, if each section has a related object; otherwise nil.
    func objectID(_ values: [RowValue]) -> ManagedObjectID? {
        guard case .related(_, _, let destinations) = self, case .integer(let key) = values.first else { return nil }
        guard values.count > 1, case .integer(let entity) = values[1] else {
            return destinations.first.map { ManagedObjectID($0, key: key) }
        }
        return destinations.first { $0.index == Int(truncatingIfNeeded: entity) }.map { ManagedObjectID($0, key: key) }
    }

    /// The column with the titles; nil if the section is computed.
    var titleColumn: Int? {
        switch self {
        case .column(let column), .keys(_, let column): column
        case .related(let key, _, _): key.column
        case .computed: nil
        }
    }

    /// The calendar periods, if each section is a period; otherwise nil.
    var periods: CalendarPeriods? { if case .computed(let key) = self { key.periods } else { nil } }
}

/// The value of a computed section. A separate object keeps rows small, because most lists have no computed section.
final class SectionValue: Sendable {
    let value: RowValue

    init(_ value: RowValue) {
        self.value = value
    }
}

/// Compares two values in the order of a store: null first, numbers by value, strings and blobs byte by byte.
@Sendable package func compareValues(_ lhs: RowValue, _ rhs: RowValue) -> Int {
    switch (lhs, rhs) {
    case (.integer(let lhs), .integer(let rhs)): return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
    case (.real(let lhs), .real(let rhs)): return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
    case (.text(var lhs), .text(var rhs)):
        return lhs.withUTF8 { lhs in
            rhs.withUTF8 { compareBytes(UnsafeRawBufferPointer(lhs), UnsafeRawBufferPointer($0)) }
        }
    case (.blob(let lhs), .blob(let rhs)):
        return lhs.withUnsafeBytes { lhs in rhs.withUnsafeBytes { compareBytes(lhs, $0) } }
    default: return lhs.kind - rhs.kind
    }
}

extension RowValue {
    fileprivate var kind: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }
}

/// The first letters of strings.
enum FirstLetter {
    /// The name of the section for strings that do not begin with a letter.
    static let none = "#"

    /// Returns the capitalized first letter of a string. Diacritical marks are removed if the collation ignores them.
    static func of(_ text: String, _ collation: StringCollation?) -> String {
        guard let first = text.first, first.isLetter, let letter = first.uppercased().first.map(String.init) else {
            return none
        }
        let folded = String(decoding: TextFolding.bytes(letter, [.diacriticInsensitive]), as: UTF8.self)
        guard let plain = folded.first?.uppercased().first.map(String.init), let collation else {
            return folded.first?.uppercased().first.map(String.init) ?? letter
        }
        return collation.compare(plain, letter) == 0 ? plain : letter
    }

    /// Compares two letters. The section for strings without a first letter comes last.
    static func order(_ lhs: RowValue, _ rhs: RowValue, _ collation: StringCollation?) -> Int {
        guard case .text(let left) = lhs, case .text(let right) = rhs, left != right else {
            return compareValues(lhs, rhs)
        }
        if left == none || right == none { return left == none ? 1 : -1 }
        let order = collation?.compare(left, right) ?? 0
        return order == 0 ? compareValues(lhs, rhs) : order
    }
}
