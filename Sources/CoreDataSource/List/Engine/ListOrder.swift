package import RowStore

/// The order of a list: by section, then by the sort keys, then by row key. No two rows compare equal.
package struct ListOrder: Sendable {
    let layout: EntityLayout
    /// Begins with the column of the section, if the section is a column.
    package let sort: [SortKey]
    package let section: SectionKey?

    /// - Parameters:
    ///   - layout: The entity of the list.
    ///   - sort: The sort keys of the request.
    ///   - section: The key that divides the rows into sections. Rows are sorted first by the section, in the direction of the
    ///     first sort key if that key has the same column.
    package init(_ layout: EntityLayout, sort: [SortKey], section: SectionKey? = nil) {
        self.layout = layout
        self.section = section
        guard case .column(let column) = section, sort.first != SortKey(column: column),
            sort.first != SortKey(column: column, isAscending: false)
        else {
            self.sort = sort
            return
        }
        let isAscending = sort.first?.column == column ? sort[0].isAscending : true
        self.sort = [SortKey(column: column, isAscending: isAscending)] + sort
    }

    /// Whether the section is computed. A store cannot sort by a computed section.
    var isComputed: Bool {
        if case .computed = section { true } else { false }
    }

    /// A row of a list in this order. Evaluates a computed section once.
    ///
    /// - Throws: Errors of the computed section.
    package func listed(_ entity: Int, _ stored: StoredRow) throws(DataSourceError) -> ListedRow {
        let row = ListedRow(entity: entity, stored: stored)
        guard case .computed(let key) = section else { return row }
        return ListedRow(entity: entity, stored: stored, section: SectionValue(try key.value(row)))
    }

    package func precedes(_ one: ListedRow, _ other: ListedRow) -> Bool {
        if case .computed(let key) = section {
            let order = orderValues(key.known(one), key.known(other))
            if order != 0 { return order < 0 }
        }
        return one.stored.precedes(other.stored, by: sort, layout)
    }

    /// The position of a row in the order. Two versions of a row at the same position compare equal.
    func place(_ row: ListedRow) -> RowCursor {
        let place = RowCursor(row.stored, sort, layout)
        guard case .computed(let key) = section else { return place }
        return RowCursor(key: place.key, values: place.values + [key.known(row)])
    }

    /// Whether two versions of a row have the same position.
    func isSamePlace(_ one: ListedRow, _ other: ListedRow) -> Bool {
        !precedes(one, other) && !precedes(other, one)
    }

    /// The order of the sections of two rows: negative, 0 for the same section, or positive.
    package func orderSections(_ one: ListedRow, _ other: ListedRow) -> Int {
        switch section {
        case nil: return 0
        case .column(let column):
            let ((row, place), (otherRow, _)) = (one.stored.cell(column), other.stored.cell(column))
            let order = row.order(otherRow, column: place, layout.order(of: column))
            return sort[0].isAscending ? order : -order
        case .computed(let key): return orderValues(key.known(one), key.known(other))
        }
    }
}

/// The key that divides the rows of a list into sections: rows with the same value are in the same section.
package enum SectionKey: Sendable {
    /// A stored attribute.
    case column(Int)
    /// A property that is computed from the row alone.
    case computed(ComputedSection)

    package struct ComputedSection: Sendable {
        let value: @Sendable (ListedRow) throws(DataSourceError) -> RowValue

        package init(_ value: @escaping @Sendable (ListedRow) throws(DataSourceError) -> RowValue) {
            self.value = value
        }
    }
}

/// The value of a computed section, in an object of its own because most lists have no computed section.
final class SectionValue: Sendable {
    let value: RowValue

    init(_ value: RowValue) {
        self.value = value
    }
}

extension SectionKey.ComputedSection {
    /// The value that a row of a list already has.
    func known(_ row: ListedRow) -> RowValue {
        if let section = row.section { return section.value }
        // The row has no section value, so it is not from the list. An error counts as NULL here, because `listed(_:_:)` throws
        // it before such a row can get into the list.
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

/// Compares two values as the store does: null first, numbers by value, strings and blobs byte by byte.
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
