package import RowStore

/// The net effect of one or several saves on a list: each row before the first save and after the last one.
package struct NetChanges: Sendable {
    /// A row before and after; nil where it was not in the list. At least one of the two is not nil.
    package struct Change: Sendable {
        package let entity: Int
        package let old: ListedRow?
        /// The row as it is now, in the list or not; nil if it is deleted, or was not read.
        package let newest: ListedRow?
        /// Whether the row is in the list now.
        let isListed: Bool

        package var new: ListedRow? { isListed ? newest : nil }
    }

    /// By row key.
    package private(set) var rows: [Int64: Change] = [:]
    /// The entities whose rows changed, and the columns that changed.
    private(set) var columns: [Int: ColumnSet] = [:]
    /// The saves that were applied, from the first to the last; nil if the change was not a save.
    package private(set) var saves: ClosedRange<Int64>?
    /// The other containers that made saves.
    private(set) var makers: Set<StoreMember> = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds the next save.
    ///
    /// - Throws: What the predicate throws.
    package mutating func add(
        _ changes: ChangeSet, to query: ListQuery, _ budget: QueryBudget = QueryBudget()
    ) throws(DataSourceError) {
        saves = (saves?.lowerBound ?? changes.number)...changes.number
        if let maker = changes.maker { makers.insert(maker) }
        for changes in changes.entities where query.family.contains(changes.entity) {
            if changes.rowCount > 64 { rows.reserveCapacity(rows.count + changes.rowCount) }
            let entity = changes.entity
            for row in changes.inserted {
                guard let new = try query.listed(entity, row, budget) else { continue }
                add(row.key, Change(entity: entity, old: nil, newest: new, isListed: true), ColumnSet(), query)
            }
            for row in changes.updated {
                let now = StoredRow(key: row.key, row: row.row)
                let new = try query.listed(entity, now, budget)
                let old = try query.listed(entity, StoredRow(key: row.key, row: row.previous), budget)
                if old == nil && new == nil { continue }
                let newest = new ?? ListedRow(entity: entity, stored: now)
                let change = Change(entity: entity, old: old, newest: newest, isListed: new != nil)
                add(row.key, change, row.columns, query)
            }
            for row in changes.deleted {
                guard let old = try query.listed(entity, row, budget) else { continue }
                add(row.key, Change(entity: entity, old: old, newest: nil, isListed: false), ColumnSet(), query)
            }
        }
    }

    /// Adds the effect of a later step on a list without a limit. A list with a limit does not need it to catch up, see
    /// ``RowDifference/init(catchingUpFrom:to:_:)``.
    package mutating func add(_ later: NetChanges, to query: ListQuery) {
        if query.limit != nil { return }
        for (key, change) in later.rows { add(key, change, query) }
        columns.merge(later.columns) { $0.union($1) }
        makers.formUnion(later.makers)
        if let range = later.saves { saves = (saves?.lowerBound ?? range.lowerBound)...range.upperBound }
    }

    /// The difference between the rows that two states of a list hold, and where the rows that differ are among them.
    ///
    /// - Parameter query: The query of the list. It may be left out if its rows are whole.
    package static func comparing(
        _ old: RowStorage, with new: RowStorage, of query: ListQuery? = nil
    ) -> (net: NetChanges, places: RowPlaces) {
        var (net, places) = (NetChanges(), RowPlaces())
        var before: [Int64: (row: ListedRow, index: Int)] = [:]
        before.reserveCapacity(old.count)
        var index = 0
        old.forEach { row in
            before[row.key] = (row, index)
            index += 1
        }
        index = 0
        new.forEach { row in
            defer { index += 1 }
            let previous = before.removeValue(forKey: row.key)
            if let previous, net.isSame(previous.row, row, query) { return }
            net.rows[row.key] = Change(entity: row.entity, old: previous?.row, newest: row, isListed: true)
            places.note(row.key, old: previous?.index, new: index)
        }
        for (key, previous) in before {
            net.rows[key] = Change(entity: previous.row.entity, old: previous.row, newest: nil, isListed: false)
            places.note(key, old: previous.index, new: nil)
        }
        return (net, places)
    }

    private mutating func add(_ key: Int64, _ change: Change, _ changed: ColumnSet, _ query: ListQuery) {
        columns[change.entity, default: ColumnSet()].formUnion(changed)
        add(key, change, query)
    }

    /// Adds a row, as it was in the list and as it is in it now.
    mutating func add(_ key: Int64, old: ListedRow?, new: ListedRow?) {
        guard let entity = (new ?? old)?.entity, !isSame(old, new, nil) else { return }
        rows[key] = Change(entity: entity, old: old, newest: new, isListed: new != nil)
    }

    /// Notes which saves were applied.
    mutating func note(_ saves: [ChangeSet], ofEntities entities: Set<Int>) {
        for save in saves {
            self.saves = (self.saves?.lowerBound ?? save.number)...save.number
            if let maker = save.maker { makers.insert(maker) }
            for changes in save.entities where entities.contains(changes.entity) {
                let changed = changes.updated.reduce(into: ColumnSet()) { $0.formUnion($1.columns) }
                columns[changes.entity, default: ColumnSet()].formUnion(changed)
            }
        }
    }

    private func isSame(_ old: ListedRow?, _ new: ListedRow?, _ query: ListQuery?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        return query?.isSame(old, new) ?? old.stored.isIdentical(to: new.stored)
    }

    private mutating func add(_ key: Int64, _ change: Change, _ query: ListQuery) {
        guard let first = rows[key] else {
            rows[key] = change
            return
        }
        // A row that ends as it began has not changed.
        let isUndone =
            first.old == nil ? !change.isListed : change.isListed && isSame(first.old, change.newest, query)
        rows[key] =
            isUndone
            ? nil : Change(entity: change.entity, old: first.old, newest: change.newest, isListed: change.isListed)
    }
}
