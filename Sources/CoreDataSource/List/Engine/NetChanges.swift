package import RowStore

/// The net effect of saves on a list: each changed row before the first save and after the last save.
package struct NetChanges: Sendable {
    /// A row before and after the saves. The old or the new version is nil if the row was not in the list at that time. At most
    /// one version is nil.
    package struct Change: Sendable {
        package let entity: Int
        package let old: ListedRow?
        /// The newest version of the row, even if the row is no longer in the list.
        fileprivate(set) var newest: Newest
        /// Whether the row is in the list after the saves.
        let isListed: Bool

        package var new: ListedRow? {
            guard isListed, case .row(let row) = newest else { return nil }
            return row
        }
    }

    /// The state of a row after the last save, as far as it is known.
    enum Newest {
        case row(ListedRow)
        case deleted
        /// The row has left the list, and may have changed since.
        case unknown
    }

    /// By row key.
    package private(set) var rows: [Int64: Change] = [:]
    /// The columns that changed, by entity. Each entity with a changed row has an entry.
    private(set) var columns: [Int: ColumnSet] = [:]
    /// The numbers of the first and the last save; nil if no save made the changes.
    package private(set) var saves: ClosedRange<SaveNumber>?
    /// The other members whose saves are included.
    private(set) var members: Set<StoreMember> = []
    /// The keys of rows that count as changed even if they are equal before and after. Either their to-many relationships
    /// changed, or an observer may have seen other values in between.
    private(set) var touched: Set<Int64> = []
    /// Whether rows of two entities have the same key, because another program has given a key twice. Then ``rows`` does not have
    /// all changes.
    package private(set) var hasEqualKeys = false

    package init() {}

    /// The keys of all rows that changed or count as changed.
    var keys: Set<Int64> { touched.union(rows.keys) }

    package var isEmpty: Bool { rows.isEmpty }

    /// Returns the change of a row; nil if the row has not changed. A change of another entity's row with the same key does
    /// not count.
    func change(of row: ListedRow) -> Change? { rows[row.key].flatMap { $0.entity == row.entity ? $0 : nil } }

    /// Adds the next save.
    ///
    /// - Throws: Errors of the predicate.
    package mutating func add(
        _ changes: ChangeSet, to query: ListQuery, _ budget: QueryBudget = QueryBudget()
    ) throws(DataSourceError) {
        saves = (saves?.lowerBound ?? changes.saveNumber)...changes.saveNumber
        if let member = changes.member { members.insert(member) }
        for changes in changes.entities where query.family.contains(changes.entity) {
            if changes.rowCount > 64 { rows.reserveCapacity(rows.count + changes.rowCount) }
            let entity = changes.entity
            for row in changes.inserted {
                guard let new = try query.listed(entity, row, budget) else {
                    record(.row(ListedRow(entity: entity, stored: row)), ofRow: row.key, entity)
                    continue
                }
                let change = Change(entity: entity, old: nil, newest: .row(new), isListed: true)
                add(row.key, change, columns: ColumnSet(), to: query)
            }
            for row in changes.updated {
                let now = StoredRow(key: row.key, row: row.row)
                let new = try query.listed(entity, now, budget)
                let old = try query.listed(entity, StoredRow(key: row.key, row: row.previous), budget)
                let newest = new ?? ListedRow(entity: entity, stored: now)
                if old == nil && new == nil {
                    record(.row(newest), ofRow: row.key, entity)
                    continue
                }
                let change = Change(entity: entity, old: old, newest: .row(newest), isListed: new != nil)
                add(row.key, change, columns: row.columns, to: query)
            }
            for row in changes.deleted {
                guard let old = try query.listed(entity, row, budget) else {
                    record(.deleted, ofRow: row.key, entity)
                    continue
                }
                let change = Change(entity: entity, old: old, newest: .deleted, isListed: false)
                add(row.key, change, columns: ColumnSet(), to: query)
            }
        }
    }

    /// Sets the newest version of a row that has left the list in an earlier save.
    private mutating func record(_ newest: Newest, ofRow key: Int64, _ entity: Int) {
        if let change = rows[key], !change.isListed, change.entity == entity { rows[key]?.newest = newest }
    }

    /// Records that rows of two entities have the same key.
    mutating func recordEqualKeys() { hasEqualKeys = true }

    /// Adds the changes of a later step. For a list with a limit, adds only the keys, because ``catchingUp(from:to:_:)`` needs
    /// only the keys.
    ///
    /// - Parameter first: The state of the list before the first step.
    package mutating func add(_ later: NetChanges, from first: ListState, to query: ListQuery) {
        if later.hasEqualKeys { hasEqualKeys = true }
        if query.limit != nil {
            touched.formUnion(later.keys)
            // Keep only the keys of rows that the list had before all steps. Only such rows can be equal before and after.
            if touched.count > 2 * first.rows.count + 64 {
                var present: Set<Int64> = []
                first.rows.forEach { if touched.contains($0.key) { present.insert($0.key) } }
                touched = present
            }
            return
        }
        for (key, change) in later.rows { add(key, change, query) }
        columns.merge(later.columns) { $0.union($1) }
        members.formUnion(later.members)
        if let range = later.saves { saves = (saves?.lowerBound ?? range.lowerBound)...range.upperBound }
    }

    /// Returns the changes of the rows between two states, and the indexes of the changed rows.
    ///
    /// - Parameters:
    ///   - query: The query of the list.
    ///   - touched: The keys of rows that count as changed if both states have the rows.
    package static func comparing(
        _ old: RowStorage, with new: RowStorage, of query: ListQuery, touched: Set<Int64> = []
    ) -> (net: NetChanges, indexes: RowIndexes) {
        var (net, indexes) = (NetChanges(), RowIndexes())
        net.touched = touched
        var before: [Int64: (row: ListedRow, index: Int)] = [:]
        before.reserveCapacity(old.count)
        var index = 0
        old.forEach { row in
            if before.updateValue((row, index), forKey: row.key) != nil { net.hasEqualKeys = true }
            index += 1
        }
        index = 0
        new.forEach { row in
            defer { index += 1 }
            let previous = before.removeValue(forKey: row.key)
            if let previous, net.isSame(previous.row, row, query), !touched.contains(row.key) { return }
            let change = Change(entity: row.entity, old: previous?.row, newest: .row(row), isListed: true)
            let other = net.rows.updateValue(change, forKey: row.key)
            if other != nil || previous.map({ $0.row.entity != row.entity }) ?? false { net.hasEqualKeys = true }
            indexes.record(row.key, old: previous?.index, new: index)
        }
        for (key, previous) in before {
            net.rows[key] = Change(entity: previous.row.entity, old: previous.row, newest: .unknown, isListed: false)
            indexes.record(key, old: previous.index, new: nil)
        }
        return (net, indexes)
    }

    /// Returns the changes from a state of a list to a later state.
    ///
    /// - Parameter missed: The changes in all steps between the two states. For a list with a limit, these changes are
    ///   incomplete, because unchanged rows can cross the limit, too. So the rows of such a list are compared one by one.
    package static func catchingUp(
        from old: ListState, to new: ListState, _ missed: NetChanges
    ) -> (net: NetChanges, indexes: RowIndexes?) {
        if old.query.limit == nil, !missed.hasEqualKeys { return (missed, nil) }
        var (net, indexes) = comparing(old.rows, with: new.rows, of: new.query, touched: missed.touched)
        if missed.hasEqualKeys { net.hasEqualKeys = true }
        return (net, indexes)
    }

    private mutating func add(_ key: Int64, _ change: Change, columns changed: ColumnSet, to query: ListQuery) {
        columns[change.entity, default: ColumnSet()].formUnion(changed)
        add(key, change, query)
    }

    /// Adds the old and the new version of a row. A version is nil if the row is not in the list.
    mutating func add(_ key: Int64, old: ListedRow?, new: ListedRow?, _ query: ListQuery) {
        guard let entity = (new ?? old)?.entity, !isSame(old, new, query) else { return }
        if let old, old.entity != entity { hasEqualKeys = true }
        rows[key] = Change(entity: entity, old: old, newest: new.map { .row($0) } ?? .unknown, isListed: new != nil)
    }

    /// Adds rows that count as changed even if they are equal before and after.
    ///
    /// - Parameter listed: The rows with these keys that the list has after the changes.
    mutating func add(
        touched keys: Set<Int64>, _ listed: [ListedRow], _ saves: [ChangeSet], _ links: ChangedLinks
    ) {
        if keys.isEmpty { return }
        touched.formUnion(keys)
        var isAny = false
        for row in listed where rows[row.key] == nil {
            isAny = true
            rows[row.key] = Change(entity: row.entity, old: row, newest: .row(row), isListed: true)
            columns[row.entity, default: ColumnSet()].formUnion(ColumnSet())
        }
        if isAny { columns.merge(links.columns(in: saves)) { $0.union($1) } }
    }

    /// Records, for each row that has left the list, whether one of the saves has deleted the row.
    mutating func recordDeletions(_ saves: [ChangeSet], ofEntities entities: [Int]) {
        for changes in saves.lazy.flatMap(\.entities) where entities.contains(changes.entity) {
            for row in changes.deleted { record(.deleted, ofRow: row.key, changes.entity) }
            for row in changes.inserted { record(.unknown, ofRow: row.key, changes.entity) }
        }
    }

    /// Records a deletion for each row that has left the list, for example after a reset.
    mutating func recordAllDeleted() {
        for (key, change) in rows where !change.isListed { rows[key]?.newest = .deleted }
    }

    /// Adds the numbers, members and changed columns of saves that were applied.
    mutating func record(_ saves: [ChangeSet], ofEntities entities: Set<Int>) {
        for save in saves {
            self.saves = (self.saves?.lowerBound ?? save.saveNumber)...save.saveNumber
            if let member = save.member { members.insert(member) }
            for changes in save.entities where entities.contains(changes.entity) {
                let changed = changes.updated.reduce(into: ColumnSet()) { $0.formUnion($1.columns) }
                columns[changes.entity, default: ColumnSet()].formUnion(changed)
            }
        }
    }

    private func isSame(_ old: ListedRow?, _ new: ListedRow?, _ query: ListQuery) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        return query.isSame(old, new)
    }

    private mutating func add(_ key: Int64, _ change: Change, _ query: ListQuery) {
        guard let first = rows[key] else {
            rows[key] = change
            return
        }
        if first.entity != change.entity { hasEqualKeys = true }
        if first.old == nil, !change.isListed {
            rows[key] = nil
            return
        }
        // A row that ends with its first values counts as changed, because an observer may have drawn other values in between.
        if first.old != nil, change.isListed { touched.insert(key) }
        rows[key] = Change(entity: change.entity, old: first.old, newest: change.newest, isListed: change.isListed)
    }
}
