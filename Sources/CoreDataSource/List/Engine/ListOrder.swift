package import RowStore

/// The order of a list: by section, then by the sort keys, then by row key. No two rows compare equal.
package struct ListOrder: Sendable {
    let layout: EntityLayout
    /// Begins with the keys of the sections, unless sections are computed.
    package let sort: [SortKey]
    package let section: SectionKey?
    /// The first sort keys, whose values the rows of a section share; empty if sections are computed.
    let sectionKeys: [SortKey]

    /// - Parameters:
    ///   - layout: The entity of the list.
    ///   - sort: The sort keys of the request.
    ///   - section: The key that divides the rows into sections. Rows are sorted by their sections first.
    package init(_ layout: EntityLayout, sort: [SortKey], section: SectionKey? = nil) {
        self.layout = layout
        self.section = section
        sectionKeys = section?.leadingKeys(sort) ?? []
        self.sort = sort.starts(with: sectionKeys) ? sort : sectionKeys + sort
    }

    /// The computed section by which rows are sorted before the sort keys; nil if the sort keys are enough.
    private var firstSection: SectionKey.ComputedSection? {
        if case .computed(let key) = section, !key.followsSort { key } else { nil }
    }

    /// Whether a store cannot sort the rows, because it cannot sort by a computed section.
    var isComputed: Bool { firstSection != nil }

    /// A row of a list in this order. Evaluates a computed section once.
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

    /// The position of a row in the order. Two versions of a row at the same position compare equal.
    func cursor(_ row: ListedRow) -> RowCursor {
        let cursor = RowCursor(row.stored, sort, layout)
        guard let firstSection else { return cursor }
        return RowCursor(key: cursor.key, values: cursor.values + [firstSection.known(row)])
    }

    /// Whether two versions of a row have the same position.
    func isSamePosition(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
        !precedes(lhs, rhs) && !precedes(rhs, lhs)
    }

    /// The order of the sections of two rows: negative, 0 for the same section, or positive.
    package func orderSections(_ lhs: ListedRow, _ rhs: ListedRow) -> Int {
        if case .computed(let key) = section { return key.order(lhs, rhs) }
        return lhs.stored.order(rhs.stored, by: sectionKeys, layout)
    }

    /// The values that the rows of a row's section share.
    func sectionValues(_ row: ListedRow) -> [RowValue] {
        if case .computed(let key) = section { return [key.known(row)] }
        return sectionKeys.map { row.stored.value($0.column, layout.order(of: $0.column).storage) }
    }
}
