internal import RowStore

/// What changes do to a list.
package enum ListStep: Sendable {
    case state(ListState)
    /// Rows beyond those that are held belong into the window now: they have to be read from the store. With those that
    /// are left.
    case isShort(ListState)
    /// A row is not where it was said to be, as after saves that were discarded: everything has to be read anew.
    case isStale
}

extension ListState {
    /// The list after the changes.
    ///
    /// The cost is that of a search for each change, and of the chunks in which they fall.
    package func applying(_ net: NetChanges, asOf number: Int64) -> ListStep {
        edited(net, asOf: number)?.checked() ?? .isStale
    }

    /// The rows that were left, with those that were read behind them.
    ///
    /// - Parameter newer: What saves did to the list since this state, up to the one as of which the tail was read.
    package func continued(by tail: RowTail, _ newer: NetChanges) -> ListStep {
        guard let head = edited(newer, asOf: tail.asOf) else { return .isStale }
        let all = head.rows.appending(tail.rows)
        return ListState(query, all, isComplete: tail.isLast, asOf: tail.asOf).checked()
    }

    /// The rows that are held after the changes; nil if an old row is not held though it should be.
    private func edited(_ net: NetChanges, asOf number: Int64) -> ListState? {
        guard var edits = edits(net) else { return nil }
        edits.sort(query.order)
        return ListState(
            query, rows.edited(edits), sectionStarts: sectionStarts(after: edits), isComplete: isComplete, asOf: number)
    }

    /// Sees that enough rows are held, and not many more.
    private func checked() -> ListStep {
        guard let limit = query.limit, !query.isHeldWhole else { return .state(self) }
        if !isComplete && rows.count < limit { return .isShort(self) }
        if rows.count <= limit + 2 * query.reserve { return .state(self) }
        // What is cut off can be read again.
        return .state(ListState(query, rows.prefix(query.mostHeld), isComplete: false, asOf: asOf))
    }

    /// Where the changes fall; nil if an old row is not held though it should be.
    private func edits(_ net: NetChanges) -> RowEdits? {
        var edits = RowEdits()
        for (key, change) in net.rows {
            let old = change.old.map { ListedRow(entity: change.entity, key: key, row: $0) }
            let new = change.new.map { ListedRow(entity: change.entity, key: key, row: $0) }
            var index: Int?
            if let old, !isBeyond(old) {
                index = rows.index(of: old, query.order)
                if index == nil { return nil }
            }
            let isHeld = new.map { !isBeyond($0) } ?? false
            if let old, let new, let index, isHeld, query.order.isSamePlace(old, new) {
                edits.replacements.append((index, new))
                continue
            }
            if let index { edits.removals.append(index) }
            if let new, isHeld { edits.insertions.append((rows.lowerBound(new, query.order), new)) }
        }
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
        for index in edits.removals { counts[section(ofRow: index)] -= 1 }
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

extension RowEdits {
    fileprivate mutating func sort(_ order: ListOrder) {
        removals.sort()
        replacements.sort { $0.index < $1.index }
        insertions.sort { $0.index == $1.index ? order.precedes($0.row, $1.row) : $0.index < $1.index }
    }
}
