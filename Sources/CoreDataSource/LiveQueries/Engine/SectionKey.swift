package import RowStore

/// What divides the rows of a list into sections: rows with the same value are in one section.
package enum SectionKey: Sendable {
    /// A stored attribute.
    case column(Int)
    /// A property that is computed from the row. It must not depend on anything else.
    case computed(ComputedSection)

    package struct ComputedSection: Sendable {
        let value: @Sendable (ListedRow) throws(DataSourceError) -> RowValue

        package init(_ value: @escaping @Sendable (ListedRow) throws(DataSourceError) -> RowValue) {
            self.value = value
        }
    }
}

/// The value of a computed section, stored apart from the row because most lists have none.
final class SectionValue: Sendable {
    let value: RowValue

    init(_ value: RowValue) {
        self.value = value
    }
}

extension SectionKey.ComputedSection {
    /// The value for a row of a list, which already has it.
    func known(_ row: ListedRow) -> RowValue {
        if let section = row.section { return section.value }
        // Not a row of the list: what made the list of it would have thrown the same.
        do { return try value(row) } catch { return .null }
    }
}

extension SectionKey {
    /// The value of the section that contains a row.
    func value(of row: ListedRow, _ layout: EntityLayout) -> RowValue {
        switch self {
        case .column(let column): row.stored.value(column, layout.order(of: column).storage)
        case .computed(let key): key.known(row)
        }
    }
}

/// The order of two values as in the store: null first, numbers by value, strings and blobs byte by byte.
func orderValues(_ one: RowValue, _ other: RowValue) -> Int {
    switch (one, other) {
    case (.integer(let one), .integer(let other)): return one < other ? -1 : one > other ? 1 : 0
    case (.real(let one), .real(let other)): return one < other ? -1 : one > other ? 1 : 0
    case (.text(var one), .text(var other)):
        return one.withUTF8 { one in
            other.withUTF8 { compareBytes(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) }
        }
    case (.blob(let one), .blob(let other)):
        return one.withUnsafeBytes { one in other.withUnsafeBytes { compareBytes(one, $0) } }
    default: return one.kind - other.kind
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
