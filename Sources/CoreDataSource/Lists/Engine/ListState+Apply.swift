internal import RowStore

/// What changes do to a list.
package enum ListStep: Sendable {
    /// With where the changed rows were and are, if that came out.
    case state(ListState, RowPlaces?)
    /// Rows beyond those that are held belong into the window now: they have to be read from the store. With those that
    /// are left.
    case isShort(ListState)
    /// A row is not where it was said to be, as after saves that were discarded: all rows have to be reloaded.
    case isStale
}

extension ListState {
    /// The list after the changes.
    ///
    /// The cost is that of a search for each change, and of the chunks in which they fall.
    package func applying(_ net: NetChanges, asOf number: Int64) -> ListStep {
        guard let (edited, places) = edited(net, asOf: number) else { return .isStale }
        return edited.checked(places)
    }

    /// The rows that were left, with those that were read behind them.
    ///
    /// - Parameter newer: What saves did to the list since this state, up to the one as of which the tail was read.
    package func continued(by tail: RowTail, _ newer: NetChanges) -> ListStep {
        guard let (head, _) = edited(newer, asOf: tail.asOf) else { return .isStale }
        let all = head.rows.appending(tail.rows)
        return ListState(query, all, isComplete: tail.isLast, asOf: tail.asOf).checked(nil)
    }

    /// The rows that are held after the changes; nil if an old row is not held though it should be.
    private func edited(_ net: NetChanges, asOf number: Int64) -> (ListState, RowPlaces)? {
        guard let edits = edits(net) else { return nil }
        let starts = sectionStarts(after: edits)
        return (
            ListState(query, rows.edited(edits), sectionStarts: starts, isComplete: isComplete, asOf: number),
            RowPlaces(edits)
        )
    }

    /// Sees that enough rows are held, and not many more.
    private func checked(_ places: RowPlaces?) -> ListStep {
        guard let limit = query.limit, !query.isHeldWhole else { return .state(self, places) }
        if !isComplete && rows.count < limit { return .isShort(self) }
        if rows.count <= limit + 2 * query.reserve { return .state(self, places) }
        // What is cut off can be read again.
        return .state(ListState(query, rows.prefix(query.mostHeld), isComplete: false, asOf: asOf), places)
    }

    /// Where the changes fall; nil if an old row is not held though it should be.
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
        return edits
    }

    /// Whether a row comes after all that are held, so that rows between may be missing.
    private func isBeyond(_ row: ListedRow) -> Bool {
        if isComplete { return false }
        return rows.last.map { query.order.precedes($0, row) } ?? true
    }

    /// The sections after the edits: their numbers of rows are counted on.
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

/// The rows that changes are about, in the order of the list: each search then meets rows that the last one looked at.
private struct ChangedRows {
    /// Rows as they were.
    private(set) var leaving: [ListedRow] = []
    /// Rows that are at the same place before and after.
    private(set) var staying: [(old: ListedRow, new: ListedRow)] = []
    /// Rows as they are now.
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
        leaving.sort(by: order.precedes)
        staying.sort { order.precedes($0.old, $1.old) }
        coming.sort(by: order.precedes)
    }
}
