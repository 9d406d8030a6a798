internal import RowStore

/// The immutable state of a list after a save. The next save makes a new state.
package final class ListState: Sendable {
    package let query: ListQuery
    /// The rows to show, and a few more if there is a limit.
    package let rows: RowStorage
    /// The index of the first row of each section. A list without a section key has one section, which may be empty.
    let sectionStarts: ContiguousArray<Int>
    /// Whether ``rows`` contains every matching row.
    package let isComplete: Bool
    /// The number of the newest save that the state includes.
    package let asOf: SaveNumber

    init(
        _ query: ListQuery, _ rows: RowStorage, sectionStarts: ContiguousArray<Int>, isComplete: Bool, asOf: SaveNumber
    ) {
        self.query = query
        self.rows = rows
        self.sectionStarts = sectionStarts
        self.isComplete = isComplete
        self.asOf = asOf
    }

    /// - Parameters:
    ///   - rows: All matching rows, or the rows up to the limit and its reserve, in order.
    ///   - isComplete: Whether these are all matching rows.
    package convenience init(_ query: ListQuery, _ rows: RowStorage, isComplete: Bool, asOf: SaveNumber) {
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

    package var isRead: Bool { asOf >= .beforeFirst }

    /// The row after which the next rows are read; nil to read from the first row.
    package var lastKeptRow: ListedRow? { rows.last ?? query.start }

    /// The number of rows to read after the last row.
    package var missingCount: Int { query.maxKeptRows - rows.count }

    // MARK: What is shown

    /// The number of rows to show.
    package var count: Int { min(rows.count, query.limit ?? .max) }

    package var sectionCount: Int {
        if query.order.section == nil { return 1 }
        let shown = count
        return partitioningIndex(sectionStarts.count) { sectionStarts[$0] < shown }
    }

    /// The indexes of the rows of a section that are shown.
    package func range(ofSection section: Int) -> Range<Int> {
        let start = sectionStarts[section]
        let end = section + 1 < sectionStarts.count ? sectionStarts[section + 1] : rows.count
        return start..<max(start, min(end, count))
    }

    /// The index of the section of the row at an index.
    package func section(ofRow index: Int) -> Int {
        max(0, partitioningIndex(sectionStarts.count) { sectionStarts[$0] <= index } - 1)
    }

    /// Returns the index of a row's section, or nil if there is no such section. The position is the index of the
    /// section, or the index at which to insert the section.
    func findSection(of row: ListedRow) -> (section: Int?, position: Int) {
        if query.order.section == nil { return (0, 0) }
        let index = partitioningIndex(sectionStarts.count) {
            query.order.compareSections(rows[sectionStarts[$0]], row) < 0
        }
        guard index < sectionStarts.count, query.order.compareSections(rows[sectionStarts[index]], row) == 0 else {
            return (nil, index)
        }
        return (index, index)
    }

    /// Whether the section of a row is shown.
    func showsSection(of row: ListedRow) -> Bool {
        guard let section = findSection(of: row).section else { return false }
        return query.order.section == nil || sectionStarts[section] < count
    }

    /// Returns the index of the row with an entity and a key; nil if the row is not shown.
    ///
    /// Complexity: O(log n) if the likely version is at the same position as the version in the list; otherwise O(n).
    ///
    /// - Parameter likely: The version of the row that the list probably has; nil if no version is known.
    package func index(ofKey key: Int64, entity: Int, likely: ListedRow? = nil) -> Int? {
        if let likely, let index = rows.index(of: likely, query.order) { return index < count ? index : nil }
        var index = 0
        for chunk in rows.chunks {
            for row in chunk.rows {
                if row.key == key, row.entity == entity { return index < count ? index : nil }
                index += 1
            }
        }
        return nil
    }

    /// Returns the index of a shown row; nil if the list does not show the row at the same position in the order.
    package func shownIndex(of row: ListedRow) -> Int? {
        guard let index = rows.index(of: row, query.order), index < count else { return nil }
        return index
    }
}

/// Rows that were read from the store, to append to a list.
package struct RowTail: Sendable {
    /// The rows, in the order of the list.
    package let rows: [ListedRow]
    /// Whether the rows end with the last matching row.
    package let isLast: Bool
    /// The number of the newest save that the rows include.
    package let asOf: SaveNumber

    package init(_ rows: [ListedRow], isLast: Bool, asOf: SaveNumber) {
        self.rows = rows
        self.isLast = isLast
        self.asOf = asOf
    }
}

extension RowStorage {
    /// Returns the end of the section that begins at an index. Uses an exponential search.
    fileprivate func sectionEnd(_ start: Int, _ order: ListOrder) -> Int {
        let first = self[start]
        var step = 1
        while start + step < count, order.compareSections(first, self[start + step]) == 0 { step *= 2 }
        let low = start + step / 2 + 1
        let high = min(start + step, count)
        return low + partitioningIndex(max(0, high - low)) { order.compareSections(first, self[low + $0]) == 0 }
    }
}

/// The outcome of applying changes to a list.
package enum ListStep: Sendable {
    /// The new state, with the indexes of the changed rows before and after the changes, if the indexes are known.
    case state(ListState, RowIndexes?)
    /// A state with fewer rows than the limit. More rows must be read from the store.
    case isShort(ListState)
    /// A row is not at the expected index, for example after saves were discarded. All rows must be read again.
    case isStale
}

extension ListState {
    /// Applies changes. The cost is a search for each change, and a copy of each chunk with a change.
    package func applying(_ net: NetChanges, asOf number: SaveNumber) -> ListStep {
        guard let (edited, indexes) = edited(net, asOf: number) else { return .isStale }
        return edited.checked(indexes)
    }

    /// Applies newer changes to the rows, and appends the rows of the tail.
    ///
    /// - Parameter newer: The changes of the saves between this state and the tail.
    package func continued(by tail: RowTail, _ newer: NetChanges) -> ListStep {
        guard let (head, _) = edited(newer, asOf: tail.asOf) else { return .isStale }
        let all = head.rows.appending(tail.rows)
        return ListState(query, all, isComplete: tail.isLast, asOf: tail.asOf).checked(nil)
    }

    /// Returns the state after the changes; nil if an old row is missing.
    private func edited(_ net: NetChanges, asOf number: SaveNumber) -> (ListState, RowIndexes)? {
        guard let edits = edits(net) else { return nil }
        let starts = sectionStarts(after: edits)
        return (
            ListState(query, rows.edited(edits), sectionStarts: starts, isComplete: isComplete, asOf: number),
            RowIndexes(edits)
        )
    }

    /// Checks that there are enough rows, and removes rows far beyond the limit.
    private func checked(_ indexes: RowIndexes?) -> ListStep {
        guard let limit = query.limit, !query.keepsAllRows else { return .state(self, indexes) }
        if !isComplete && rows.count < limit { return .isShort(self) }
        if rows.count <= limit + 2 * query.reserve { return .state(self, indexes) }
        // Removed rows can be read again.
        return .state(ListState(query, rows.prefix(query.maxKeptRows), isComplete: false, asOf: asOf), indexes)
    }

    /// Returns the edits for the changes; nil if an old row is missing.
    ///
    /// Searches for each row, and sorts the edits by index. The order of the list is compared only between rows that are
    /// inserted at the same index.
    private func edits(_ net: NetChanges) -> RowEdits? {
        let changed = ChangedRows(net, query.order, isListed: { !isBeyond($0) })
        var edits = RowEdits()
        for row in changed.removed {
            guard let index = rows.index(of: row, query.order) else { return nil }
            edits.removals.append((index, row.key))
        }
        for row in changed.replaced {
            guard let index = rows.index(of: row.old, query.order) else { return nil }
            edits.replacements.append((index, row.new))
        }
        for row in changed.inserted { edits.insertions.append((rows.lowerBound(row, query.order), row)) }
        edits.removals.sort { $0.index < $1.index }
        edits.replacements.sort { $0.index < $1.index }
        edits.insertions.sort {
            $0.index == $1.index ? query.order.precedes($0.row, $1.row) : $0.index < $1.index
        }
        return edits
    }

    /// Whether a row comes after all kept rows. Rows between the last kept row and such a row may be missing.
    private func isBeyond(_ row: ListedRow) -> Bool {
        if isComplete { return false }
        return rows.last.map { query.order.precedes($0, row) } ?? true
    }

    /// Returns the index of the first row of each section after the edits.
    private func sectionStarts(after edits: RowEdits) -> ContiguousArray<Int> {
        if query.order.section == nil { return [0] }
        var counts = ContiguousArray<Int>()
        counts.reserveCapacity(sectionStarts.count)
        for section in sectionStarts.indices {
            let end = section + 1 < sectionStarts.count ? sectionStarts[section + 1] : rows.count
            counts.append(end - sectionStarts[section])
        }
        for (index, _) in edits.removals { counts[section(ofRow: index)] -= 1 }
        var added: [(position: Int, row: ListedRow, count: Int)] = []
        for (_, row) in edits.insertions {
            let (section, position) = findSection(of: row)
            if let section {
                counts[section] += 1
            } else if let last = added.last, last.position == position, query.order.compareSections(last.row, row) == 0
            {
                added[added.count - 1].count += 1
            } else {
                added.append((position, row, 1))
            }
        }
        return Self.starts(counts, added.map { ($0.position, $0.count) })
    }

    private static func starts(
        _ counts: ContiguousArray<Int>, _ added: [(position: Int, count: Int)]
    ) -> ContiguousArray<Int> {
        var starts = ContiguousArray<Int>()
        starts.reserveCapacity(counts.count + added.count)
        var start = 0
        var next = 0
        for section in 0...counts.count {
            while next < added.count, added[next].position == section {
                starts.append(start)
                start += added[next].count
                next += 1
            }
            if section < counts.count, counts[section] > 0 {
                starts.append(start)
                start += counts[section]
            }
        }
        return starts
    }
}

/// The rows of the changes, unsorted.
private struct ChangedRows {
    /// The old versions of rows that leave their position.
    private(set) var removed: [ListedRow] = []
    /// The old and new versions of rows whose position is the same before and after.
    private(set) var replaced: [(old: ListedRow, new: ListedRow)] = []
    /// The new versions of rows that enter a position.
    private(set) var inserted: [ListedRow] = []

    init(_ net: NetChanges, _ order: ListOrder, isListed: (ListedRow) -> Bool) {
        for change in net.rows.values {
            func listed(_ row: ListedRow?) -> ListedRow? { row.flatMap { isListed($0) ? $0 : nil } }
            let (old, new) = (listed(change.old), listed(change.new))
            if let old, let new, order.isSamePosition(old, new) {
                replaced.append((old, new))
            } else {
                if let old { removed.append(old) }
                if let new { inserted.append(new) }
            }
        }
    }
}
