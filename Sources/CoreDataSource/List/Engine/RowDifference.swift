internal import RowStore

/// The changes from one state of a list to another state, with the fewest moves. Rows that only shifted are not included.
package struct RowDifference: Sendable {
    package enum Kind: Sendable {
        case delete, insert, move, update
    }

    /// A row that changed. Its indexes are counted over all sections.
    package struct Change: Sendable {
        package let kind: Kind
        package let entity: Int
        package let key: Int64
        /// The index before all changes; nil for an inserted row.
        package let old: Int?
        /// The index after all changes; nil for a deleted row.
        package let new: Int?
    }

    /// The old indexes of the deleted sections, in descending order.
    package var deletedSections: [Int] = []
    /// The new indexes of the inserted sections, in ascending order.
    package var insertedSections: [Int] = []
    /// The changed rows in this order: deletes from the last to the first, inserts from the first to the last, moves, updates.
    package var changes: [Change] = []

    package init() {}

    package var isEmpty: Bool { changes.isEmpty }
}

extension RowDifference {
    /// - Parameters:
    ///   - net: The changes of rows between the two states. Unchanged rows are reported only if they cross a limit.
    ///   - indexes: The indexes of the changed rows; nil to search for them.
    package init(from old: ListState, to new: ListState, _ net: NetChanges, _ indexes: RowIndexes? = nil) {
        if net.hasEqualKeys {
            replaceRows(old, new, net.touched)
        } else {
            var touched = DifferingRows(from: old, to: new, net, indexes)
            touched.addRowsCrossingLimit(net)
            let stayed = touched.rowsThatStay()
            changes = touched.changes(stayed)
        }
        addSections(old, new)
    }

    /// - Parameter missed: The changes of rows in all steps between the two states.
    package init(catchingUpFrom old: ListState, to new: ListState, _ missed: NetChanges) {
        let (net, indexes) = NetChanges.catchingUp(from: old, to: new, missed)
        self.init(from: old, to: new, net, indexes)
    }

    /// The inserts from an empty list to a state.
    package init(inserting new: ListState) {
        changes.reserveCapacity(new.count)
        for index in 0..<new.count {
            let row = new.rows[index]
            changes.append(Change(kind: .insert, entity: row.entity, key: row.key, old: nil, new: index))
        }
        if new.query.order.section != nil { insertedSections = Array(0..<new.sectionCount) }
    }

    /// Deletes and inserts all rows, except the equal rows at the beginning and at the end of both states. This is done if rows
    /// have equal keys, because equal keys do not show how each single row has changed.
    private mutating func replaceRows(_ old: ListState, _ new: ListState, _ touched: Set<Int64>) {
        func isSame(_ lhs: ListedRow, _ rhs: ListedRow) -> Bool {
            lhs.entity == rhs.entity && lhs.key == rhs.key && !touched.contains(rhs.key) && new.query.isSame(lhs, rhs)
        }
        let (oldCount, newCount) = (old.count, new.count)
        var (first, last) = (0, 0)
        while first < min(oldCount, newCount), isSame(old.rows[first], new.rows[first]) { first += 1 }
        while first + last < min(oldCount, newCount),
            isSame(old.rows[oldCount - 1 - last], new.rows[newCount - 1 - last])
        {
            last += 1
        }
        for index in (first..<(oldCount - last)).reversed() {
            let row = old.rows[index]
            changes.append(Change(kind: .delete, entity: row.entity, key: row.key, old: index, new: nil))
        }
        for index in first..<(newCount - last) {
            let row = new.rows[index]
            changes.append(Change(kind: .insert, entity: row.entity, key: row.key, old: nil, new: index))
        }
    }

    private mutating func addSections(_ old: ListState, _ new: ListState) {
        if old.query.order.section == nil { return }
        var gone: Set<Int> = []
        var added: Set<Int> = []
        for change in changes where change.kind != .update {
            if let index = change.old { gone.insert(old.section(ofRow: index)) }
            if let index = change.new { added.insert(new.section(ofRow: index)) }
        }
        deletedSections =
            gone.filter { !new.showsSection(of: old.rows[old.range(ofSection: $0).lowerBound]) }.sorted(by: >)
        insertedSections =
            added.filter { !old.showsSection(of: new.rows[new.range(ofSection: $0).lowerBound]) }.sorted()
    }
}

/// The rows that differ between two states, and their indexes.
private struct DifferingRows {
    struct Row {
        let entity: Int
        let key: Int64
        var old: Int?
        var new: Int?
        /// Whether the sort keys, and therefore the section, are unchanged.
        var isSamePosition = false
        var isSameSection = false
    }

    let from: ListState
    let to: ListState
    var rows: [Row] = []

    init(from: ListState, to: ListState, _ net: NetChanges, _ indexes: RowIndexes?) {
        self.from = from
        self.to = to
        rows.reserveCapacity(net.rows.count)
        let order = from.query.order
        for (key, change) in net.rows {
            let (before, after) = (change.old, change.new)
            var row = Row(entity: change.entity, key: key)
            if let indexes {
                row.old = indexes.old[key].flatMap { $0 < from.count ? $0 : nil }
                row.new = indexes.new[key].flatMap { $0 < to.count ? $0 : nil }
            } else {
                row.old = before.flatMap(from.shownIndex)
                row.new = after.flatMap(to.shownIndex)
            }
            if row.old == nil && row.new == nil { continue }
            if let before, let after, row.old != nil, row.new != nil {
                row.isSamePosition = order.isSamePosition(before, after)
                row.isSameSection = order.compareSections(before, after) == 0
            }
            rows.append(row)
        }
    }

    /// Adds unchanged rows that crossed the limit. These rows are at the end of one state, and the other state does not show
    /// them.
    mutating func addRowsCrossingLimit(_ net: NetChanges) {
        if from.query.limit == nil { return }
        for index in stride(from: from.count - 1, through: 0, by: -1) {
            let row = from.rows[index]
            if net.change(of: row) != nil { continue }
            if to.shownIndex(of: row) != nil { break }
            rows.append(Row(entity: row.entity, key: row.key, old: index, new: nil))
        }
        for index in stride(from: to.count - 1, through: 0, by: -1) {
            let row = to.rows[index]
            if net.change(of: row) != nil { continue }
            if from.shownIndex(of: row) != nil { break }
            rows.append(Row(entity: row.entity, key: row.key, old: nil, new: index))
        }
    }

    /// Returns the changed rows that need no move, as indexes into ``rows``. The set is as large as possible.
    ///
    /// Unchanged rows keep their order. A changed row need not move if three things are the same in both states: the section of
    /// the row, the number of unchanged rows before it, and its order among the rows that do not move.
    func rowsThatStay() -> Set<Int> {
        var stay: Set<Int> = []
        var candidates: [(position: Int, old: Int, new: Int)] = []
        var leaving: [Int] = []
        var coming: [Int] = []
        for (position, row) in rows.enumerated() {
            if row.isSamePosition {
                stay.insert(position)
                continue
            }
            if let old = row.old { leaving.append(old) }
            if let new = row.new { coming.append(new) }
            if let old = row.old, let new = row.new, row.isSameSection { candidates.append((position, old, new)) }
        }
        leaving.sort()
        coming.sort()
        candidates = candidates.filter { candidate in
            candidate.old - partitioningIndex(leaving.count) { leaving[$0] < candidate.old }
                == candidate.new - partitioningIndex(coming.count) { coming[$0] < candidate.new }
        }
        candidates.sort { $0.old < $1.old }
        for index in longestIncreasingSubsequence(candidates.map(\.new)) { stay.insert(candidates[index].position) }
        return stay
    }

    func changes(_ stayed: Set<Int>) -> [RowDifference.Change] {
        var deletes: [RowDifference.Change] = []
        var inserts: [RowDifference.Change] = []
        var moves: [RowDifference.Change] = []
        var updates: [RowDifference.Change] = []
        for (position, row) in rows.enumerated() {
            func change(_ kind: RowDifference.Kind) -> RowDifference.Change {
                RowDifference.Change(kind: kind, entity: row.entity, key: row.key, old: row.old, new: row.new)
            }
            if row.new == nil {
                deletes.append(change(.delete))
            } else if row.old == nil {
                inserts.append(change(.insert))
            } else if stayed.contains(position) {
                updates.append(change(.update))
            } else {
                moves.append(change(.move))
            }
        }
        deletes.sort { $0.oldOrZero > $1.oldOrZero }
        inserts.sort { $0.newOrZero < $1.newOrZero }
        moves.sort { $0.newOrZero < $1.newOrZero }
        updates.sort { $0.oldOrZero < $1.oldOrZero }
        return deletes + inserts + moves + updates
    }
}

extension RowDifference.Change {
    fileprivate var oldOrZero: Int { old ?? 0 }
    fileprivate var newOrZero: Int { new ?? 0 }
}
