package import RowStore

/// What one or several saves did to a list, all in all: for each row what it was before the first and is after the last.
package struct NetChanges: Sendable {
    /// A row before and after; nil where it was not in the list. Never both nil.
    package struct Change: Sendable {
        package let entity: Int
        package let old: RowSnapshot?
        /// The row as it is now, in the list or not; nil if it is deleted, or was not read.
        package let newest: RowSnapshot?
        /// Whether the row is in the list now.
        let isListed: Bool

        package var new: RowSnapshot? { isListed ? newest : nil }
    }

    /// By row key.
    package private(set) var rows: [Int64: Change] = [:]
    /// The entities whose rows changed, and the columns in which they did.
    private(set) var columns: [Int: ColumnSet] = [:]
    /// The saves that were looked at, from the first to the last; nil if it was not a save.
    package private(set) var saves: ClosedRange<Int64>?

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds the next save.
    package mutating func add(_ changes: ChangeSet, to query: ListQuery) {
        saves = (saves?.lowerBound ?? changes.number)...changes.number
        for changes in changes.entities where query.family.contains(changes.entity) {
            if changes.rowCount > 64 { rows.reserveCapacity(rows.count + changes.rowCount) }
            func matches(_ key: Int64, _ row: RowSnapshot) -> Bool {
                query.matches(ListedRow(entity: changes.entity, key: key, row: row))
            }
            for row in changes.inserted where matches(row.key, row.row) {
                add(row.key, Change(entity: changes.entity, old: nil, newest: row.row, isListed: true), ColumnSet())
            }
            for row in changes.updated {
                let isListed = matches(row.key, row.row)
                let old = matches(row.key, row.previous) ? row.previous : nil
                if old == nil && !isListed { continue }
                let change = Change(entity: changes.entity, old: old, newest: row.row, isListed: isListed)
                add(row.key, change, row.columns)
            }
            for row in changes.deleted where matches(row.key, row.row) {
                add(row.key, Change(entity: changes.entity, old: row.row, newest: nil, isListed: false), ColumnSet())
            }
        }
    }

    /// Adds what a later step did to a list without a limit; with one it is not needed to catch up, see
    /// ``RowDifference/init(catchingUpFrom:to:_:)``.
    package mutating func add(_ later: NetChanges, to query: ListQuery) {
        if query.limit != nil { return }
        for (key, change) in later.rows { add(key, change) }
        columns.merge(later.columns) { $0.union($1) }
        if let range = later.saves { saves = (saves?.lowerBound ?? range.lowerBound)...range.upperBound }
    }

    /// What differs between the rows that two states of a list hold.
    package init(from old: RowStorage, to new: RowStorage) {
        var before: [Int64: ListedRow] = [:]
        before.reserveCapacity(old.count)
        old.forEach { before[$0.key] = $0 }
        new.forEach { row in
            let previous = before.removeValue(forKey: row.key)?.row
            if let previous, previous.words == row.row.words { return }
            rows[row.key] = Change(entity: row.entity, old: previous, newest: row.row, isListed: true)
        }
        for (key, row) in before {
            rows[key] = Change(entity: row.entity, old: row.row, newest: nil, isListed: false)
        }
    }

    private mutating func add(_ key: Int64, _ change: Change, _ changed: ColumnSet) {
        columns[change.entity, default: ColumnSet()].formUnion(changed)
        add(key, change)
    }

    private mutating func add(_ key: Int64, _ change: Change) {
        guard let first = rows[key] else {
            rows[key] = change
            return
        }
        // What ends as it began is no change.
        let isUndone = first.old == nil ? !change.isListed : change.isListed && first.old?.words == change.newest?.words
        rows[key] =
            isUndone
            ? nil : Change(entity: change.entity, old: first.old, newest: change.newest, isListed: change.isListed)
    }
}
