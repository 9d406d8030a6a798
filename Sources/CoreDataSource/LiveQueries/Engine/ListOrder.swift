package import RowStore

/// The order of a list: by section, then by the sort keys, then by row key. No two rows compare equal.
package struct ListOrder: Sendable {
    let layout: EntityLayout
    /// Begins with the section's column, if the section is a column.
    package let sort: [SortKey]
    package let section: SectionKey?

    /// - Parameters:
    ///   - layout: The entity that the list is of.
    ///   - sort: The sort keys of the request.
    ///   - section: What divides the rows into sections. Rows are sorted by it first; if the first sort key is the same column,
    ///     its direction is used.
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

    /// Whether the section is computed, so that no store can sort by it.
    var isComputed: Bool {
        if case .computed = section { true } else { false }
    }

    /// A row of a list in this order. A computed section is evaluated here, once.
    ///
    /// - Throws: What the computed section throws.
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

    /// The place of a row in the order; rows at the same place compare equal.
    func place(_ row: ListedRow) -> RowCursor {
        let place = RowCursor(row.stored, sort, layout)
        guard case .computed(let key) = section else { return place }
        return RowCursor(key: place.key, values: place.values + [key.known(row)])
    }

    /// Whether two versions of a row are at the same place.
    func isSamePlace(_ one: ListedRow, _ other: ListedRow) -> Bool {
        !precedes(one, other) && !precedes(other, one)
    }

    /// How the sections of two rows compare in the list: negative, 0 for the same section, or positive.
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
