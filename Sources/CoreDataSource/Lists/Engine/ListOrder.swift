package import RowStore

/// The order of a list: by section, then by the sort keys, then by row key. No two rows are equal in it.
package struct ListOrder: Sendable {
    let layout: EntityLayout
    /// With the section's column as the first, if it is a column.
    package let sort: [SortKey]
    package let section: SectionKey?

    /// - Parameters:
    ///   - layout: The entity that the list is of.
    ///   - sort: The sort keys that were asked for.
    ///   - section: What parts the rows into sections. Rows are sorted by it first; if the first sort key is the same
    ///     column, that one says whether ascending or descending.
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

    /// Whether it is that of a section that no store knows of.
    var isComputed: Bool {
        if case .computed = section { true } else { false }
    }

    /// A row of a list in this order. If its section is computed, that is done here and never again.
    func listed(_ entity: Int, _ stored: StoredRow) -> ListedRow {
        let row = ListedRow(entity: entity, stored: stored)
        guard case .computed(let key) = section else { return row }
        return ListedRow(entity: entity, stored: stored, section: SectionValue(key.value(row)))
    }

    package func precedes(_ one: ListedRow, _ other: ListedRow) -> Bool {
        if case .computed(let key) = section {
            let order = orderValues(key.known(one), key.known(other))
            if order != 0 { return order < 0 }
        }
        return one.stored.precedes(other.stored, by: sort, layout)
    }

    /// The place of a row; rows at one place have the same.
    func place(_ row: ListedRow) -> RowCursor {
        let place = RowCursor(row.stored, sort, layout)
        guard case .computed(let key) = section else { return place }
        return RowCursor(key: place.key, values: place.values + [key.known(row)])
    }

    /// Whether two versions of one row are at the same place.
    func isSamePlace(_ one: ListedRow, _ other: ListedRow) -> Bool {
        !precedes(one, other) && !precedes(other, one)
    }

    /// How the sections of two rows follow each other in the list: negative, 0 for the same section, or positive.
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
