internal import RowStore

/// What a list shows after one save: rows, sections and their places. It never changes; the next save makes a new state.
package final class ListState: Sendable {
    package let query: ListQuery
    /// The rows that are shown, and some more beyond a limit.
    package let rows: RowStorage
    /// The index of each section's first row; without a section key there is one section, which may be empty.
    let sectionStarts: ContiguousArray<Int>
    /// Whether every matching row is held.
    package let isComplete: Bool
    /// The newest save that it takes into account.
    package let asOf: Int64

    init(
        _ query: ListQuery, _ rows: RowStorage, sectionStarts: ContiguousArray<Int>, isComplete: Bool, asOf: Int64
    ) {
        self.query = query
        self.rows = rows
        self.sectionStarts = sectionStarts
        self.isComplete = isComplete
        self.asOf = asOf
    }

    /// - Parameters:
    ///   - rows: All rows that match, or those that are held beyond a limit, in order.
    ///   - isComplete: Whether these are all rows that match.
    package convenience init(_ query: ListQuery, _ rows: RowStorage, isComplete: Bool, asOf: Int64) {
        var starts = ContiguousArray<Int>()
        if query.order.section == nil {
            starts = [0]
        } else {
            var start = 0
            while start < rows.count {
                starts.append(start)
                start = rows.sectionEnd(start, query.order)
            }
        }
        self.init(query, rows, sectionStarts: starts, isComplete: isComplete, asOf: asOf)
    }

    /// Whether its rows have been read from the store.
    package var isRead: Bool { asOf >= 0 }

    /// The row after which rows may be missing; nil to read from the first row, if none are held.
    package var lastHeld: ListedRow? { rows.last ?? query.start }

    /// How many rows to read after those that are held.
    package var missingCount: Int { query.mostHeld - rows.count }

    // MARK: What is shown

    /// How many rows are shown.
    package var count: Int { min(rows.count, query.limit ?? .max) }

    package var sectionCount: Int {
        if query.order.section == nil { return 1 }
        let shown = count
        return partitioningIndex(sectionStarts.count) { sectionStarts[$0] < shown }
    }

    /// The indexes of the shown rows of a section.
    package func range(ofSection section: Int) -> Range<Int> {
        let start = sectionStarts[section]
        let end = section + 1 < sectionStarts.count ? sectionStarts[section + 1] : rows.count
        return start..<max(start, min(end, count))
    }

    /// The section of the row of that index.
    package func section(ofRow index: Int) -> Int {
        max(0, partitioningIndex(sectionStarts.count) { sectionStarts[$0] <= index } - 1)
    }

    /// The section of a row, or nil; and where that section would be among those that are held.
    func findSection(of row: ListedRow) -> (section: Int?, place: Int) {
        if query.order.section == nil { return (0, 0) }
        let place = partitioningIndex(sectionStarts.count) {
            query.order.orderSections(rows[sectionStarts[$0]], row) < 0
        }
        guard place < sectionStarts.count, query.order.orderSections(rows[sectionStarts[place]], row) == 0 else {
            return (nil, place)
        }
        return (place, place)
    }

    /// Whether the section of a row is shown.
    func showsSection(of row: ListedRow) -> Bool {
        guard let section = findSection(of: row).section else { return false }
        return query.order.section == nil || sectionStarts[section] < count
    }

    /// The index of the row with that key, found by looking at all rows; nil if it is not shown.
    func index(ofKey key: Int64) -> Int? {
        var index = 0
        for chunk in rows.chunks {
            for row in chunk.rows {
                if row.key == key { return index < count ? index : nil }
                index += 1
            }
        }
        return nil
    }

    /// The index of a row that is shown, exactly as it is held; nil if it is not.
    package func shownIndex(of row: ListedRow) -> Int? {
        guard let index = rows.index(of: row, query.order), index < count else { return nil }
        return index
    }
}

/// Rows that were read from the store, to continue a list.
package struct RowTail: Sendable {
    /// In the order of the list.
    package let rows: [ListedRow]
    /// Whether there are no more rows.
    package let isLast: Bool
    /// The newest save that they take into account.
    package let asOf: Int64

    package init(_ rows: [ListedRow], isLast: Bool, asOf: Int64) {
        self.rows = rows
        self.isLast = isLast
        self.asOf = asOf
    }
}

extension RowStorage {
    /// The end of the section that begins at an index, found by steps that grow.
    fileprivate func sectionEnd(_ start: Int, _ order: ListOrder) -> Int {
        let first = self[start]
        var step = 1
        while start + step < count, order.orderSections(first, self[start + step]) == 0 { step *= 2 }
        let low = start + step / 2 + 1
        let high = min(start + step, count)
        return low + partitioningIndex(max(0, high - low)) { order.orderSections(first, self[low + $0]) == 0 }
    }
}
