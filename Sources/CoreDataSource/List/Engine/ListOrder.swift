package import RowStore

/// The order of a list: first by section, next by the sort keys, last by row key. No two rows compare equal.
package struct ListOrder: Sendable {
    let layout: EntityLayout
    /// The sort keys of the rows. If sections are not computed, the section's keys come first.
    package let sort: [SortKey]
    package let section: SectionKey?
    /// The leading sort keys that define the section; empty if sections are computed.
    let sectionKeys: [SortKey]

    /// - Parameters:
    ///   - layout: The entity of the list.
    ///   - sort: The sort keys of the request.
    ///   - section: The key that divides the rows into sections. The section is the first criterion of the order.
    package init(_ layout: EntityLayout, sort: [SortKey], section: SectionKey? = nil) {
        self.layout = layout
        self.section = section
        sectionKeys = section?.leadingKeys(sort) ?? []
        self.sort = sort.starts(with: sectionKeys) ? sort : sectionKeys + sort
    }

    /// The computed section that comes before the sort keys in the order; nil if the sort keys alone define the order.
    private var firstSection: SectionKey.ComputedSection? {
        if case .computed(let key) = section, !key.followsSort { key } else { nil }
    }

    /// Whether the order begins with a computed section. If so, a store cannot sort the rows.
    var isComputed: Bool { firstSection != nil }

    /// Makes a row for a list in this order. A computed section is evaluated once.
    ///
    /// - Throws: Errors of the computed section.
    package func listed(_ entity: Int, _ stored: StoredRow) throws(DataSourceError) -> ListedRow {
        let row = ListedRow(entity: entity, stored: stored)
        guard case .computed(let key) = section else { return row }
        return ListedRow(entity: entity, stored: stored, section: SectionValue(try key.value(row)))
    }

    package func precedes(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
        if let firstSection {
            let order = firstSection.order(lhs, rhs)
            if order != 0 { return order < 0 }
        }
        return lhs.stored.precedes(rhs.stored, by: sort, layout)
    }

    /// The position of a row in the order. Two versions of a row have equal cursors if they have the same position.
    func cursor(_ row: ListedRow) -> RowCursor {
        let cursor = RowCursor(row.stored, sort, layout)
        guard let firstSection else { return cursor }
        return RowCursor(key: cursor.key, values: cursor.values + [firstSection.sectionValue(of: row)])
    }

    /// Whether two versions of a row have the same position.
    func isSamePosition(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
        !precedes(lhs, rhs) && !precedes(rhs, lhs)
    }

    /// Compares the sections of two rows: negative, 0 for the same section, or positive.
    package func compareSections(_ lhs: ListedRow, _ rhs: ListedRow) -> Int {
        if case .computed(let key) = section { return key.order(lhs, rhs) }
        return lhs.stored.order(rhs.stored, by: sectionKeys, layout)
    }

    /// The values that all rows in the section of a row have in common.
    func sectionValues(_ row: ListedRow) -> [RowValue] {
        if case .computed(let key) = section { return [key.sectionValue(of: row)] }
        return sectionKeys.map { row.stored.value($0.column, layout.order(of: $0.column).storage) }
    }
}
