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

/// Applying changes to a list.
package enum ListStep: Sendable {
    /// Done, with the places of the changed rows before and after, if they are known.
    case state(ListState, RowPlaces?)
    /// The window needs rows beyond those that are held, so they must be read from the store. Has the remaining rows.
    case isShort(ListState)
    /// A row is not where it should be, as after saves that were discarded: all rows must be reloaded.
    case isStale
}

extension ListState {
    /// The list after the changes.
    ///
    /// The cost is a search for each change, plus copying the chunks that contain changes.
    package func applying(_ net: NetChanges, asOf number: Int64) -> ListStep {
        guard let (edited, places) = edited(net, asOf: number) else { return .isStale }
        return edited.checked(places)
    }

    /// The remaining rows, followed by those that were read.
    ///
    /// - Parameter newer: What saves did to the list after this state, up to the save as of which the tail was read.
    package func continued(by tail: RowTail, _ newer: NetChanges) -> ListStep {
        guard let (head, _) = edited(newer, asOf: tail.asOf) else { return .isStale }
        let all = head.rows.appending(tail.rows)
        return ListState(query, all, isComplete: tail.isLast, asOf: tail.asOf).checked(nil)
    }

    /// The rows that are held after the changes; nil if an old row is missing.
    private func edited(_ net: NetChanges, asOf number: Int64) -> (ListState, RowPlaces)? {
        guard let edits = edits(net) else { return nil }
        let starts = sectionStarts(after: edits)
        return (
            ListState(query, rows.edited(edits), sectionStarts: starts, isComplete: isComplete, asOf: number),
            RowPlaces(edits)
        )
    }

    /// Makes sure that enough rows are held, and not many more.
    private func checked(_ places: RowPlaces?) -> ListStep {
        guard let limit = query.limit, !query.isHeldWhole else { return .state(self, places) }
        if !isComplete && rows.count < limit { return .isShort(self) }
        if rows.count <= limit + 2 * query.reserve { return .state(self, places) }
        // Rows that are cut off can be read again.
        return .state(ListState(query, rows.prefix(query.mostHeld), isComplete: false, asOf: asOf), places)
    }

    /// The positions of the changes; nil if an old row is missing.
    ///
    /// Each row is searched for, and then the positions are sorted, which compares no rows but those that are inserted at the same
    /// place.
    private func edits(_ net: NetChanges) -> RowEdits? {
        let changed = ChangedRows(net, query.order, isHeld: { !isBeyond($0) })
        var edits = RowEdits()
        for row in changed.leaving {
            guard let index = rows.index(of: row, query.order) else { return nil }
            edits.removals.append((index, row.key))
        }
        for row in changed.staying {
            guard let index = rows.index(of: row.old, query.order) else { return nil }
            edits.replacements.append((index, row.new))
        }
        for row in changed.coming { edits.insertions.append((rows.lowerBound(row, query.order), row)) }
        edits.removals.sort { $0.index < $1.index }
        edits.replacements.sort { $0.index < $1.index }
        edits.insertions.sort {
            $0.index == $1.index ? query.order.precedes($0.row, $1.row) : $0.index < $1.index
        }
        return edits
    }

    /// Whether a row comes after all that are held, so that rows between may be missing.
    private func isBeyond(_ row: ListedRow) -> Bool {
        if isComplete { return false }
        return rows.last.map { query.order.precedes($0, row) } ?? true
    }

    /// The sections after the edits, with adjusted numbers of rows.
    private func sectionStarts(after edits: RowEdits) -> ContiguousArray<Int> {
        if query.order.section == nil { return [0] }
        var counts = ContiguousArray<Int>()
        counts.reserveCapacity(sectionStarts.count)
        for section in sectionStarts.indices {
            let end = section + 1 < sectionStarts.count ? sectionStarts[section + 1] : rows.count
            counts.append(end - sectionStarts[section])
        }
        for (index, _) in edits.removals { counts[section(ofRow: index)] -= 1 }
        var added: [(place: Int, row: ListedRow, count: Int)] = []
        for (_, row) in edits.insertions {
            let (section, place) = findSection(of: row)
            if let section {
                counts[section] += 1
            } else if let last = added.last, last.place == place, query.order.orderSections(last.row, row) == 0 {
                added[added.count - 1].count += 1
            } else {
                added.append((place, row, 1))
            }
        }
        return Self.starts(counts, added.map { ($0.place, $0.count) })
    }

    private static func starts(
        _ counts: ContiguousArray<Int>, _ added: [(place: Int, count: Int)]
    ) -> ContiguousArray<Int> {
        var starts = ContiguousArray<Int>()
        starts.reserveCapacity(counts.count + added.count)
        var start = 0
        var next = 0
        for section in 0...counts.count {
            while next < added.count, added[next].place == section {
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

/// The rows of the changes, in any order.
private struct ChangedRows {
    /// Rows before the change.
    private(set) var leaving: [ListedRow] = []
    /// Rows that are at the same place before and after.
    private(set) var staying: [(old: ListedRow, new: ListedRow)] = []
    /// Rows after the change.
    private(set) var coming: [ListedRow] = []

    init(_ net: NetChanges, _ order: ListOrder, isHeld: (ListedRow) -> Bool) {
        for change in net.rows.values {
            func held(_ row: ListedRow?) -> ListedRow? { row.flatMap { isHeld($0) ? $0 : nil } }
            let (old, new) = (held(change.old), held(change.new))
            if let old, let new, order.isSamePlace(old, new) {
                staying.append((old, new))
            } else {
                if let old { leaving.append(old) }
                if let new { coming.append(new) }
            }
        }
    }
}
