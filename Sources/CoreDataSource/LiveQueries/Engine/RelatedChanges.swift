internal import RowStore

/// The rows of a list that may have changed after saves that changed related rows.
///
/// It follows the relationships backwards, from the changed rows to those that lead to them. If a row led there before and does
/// not any more, the row itself or the row with the link has changed.
struct RelatedChanges {
    private let view: any RowView
    private let budget: QueryBudget
    /// The changed rows, by entity and key, before and after.
    private var changed: [Int: [Int64: [RowSnapshot]]] = [:]

    init(_ saves: [ChangeSet], _ query: ListQuery, _ view: any RowView, _ budget: QueryBudget) {
        self.view = view
        self.budget = budget
        for save in saves {
            for changes in save.entities where query.watched.contains(changes.entity) { note(changes) }
        }
    }

    private mutating func note(_ changes: EntityChanges) {
        var rows = changed[changes.entity] ?? [:]
        for row in changes.inserted { rows[row.key, default: []].append(row.row) }
        for row in changes.updated { rows[row.key, default: []] += [row.previous, row.row] }
        for row in changes.deleted { rows[row.key, default: []].append(row.row) }
        changed[changes.entity] = rows
    }

    /// The keys of the rows of a query's family that changed, or that lead to rows that did.
    func keys(of query: ListQuery) throws(DataSourceError) -> Set<Int64> {
        try changedKeys(query.family).union(owners(query.joined, query.family))
    }

    private func changedKeys(_ family: [Int]) -> Set<Int64> {
        family.reduce(into: Set<Int64>()) { keys, entity in
            if let rows = changed[entity] { keys.formUnion(rows.keys) }
        }
    }

    /// The keys of the rows of a family whose joined columns may have changed.
    private func owners(_ joined: [JoinedColumn], _ family: [Int]) throws(DataSourceError) -> Set<Int64> {
        var owners: Set<Int64> = []
        var met: Set<RelatedRows> = []
        for case let related? in joined.map(\.related) where met.insert(related).inserted {
            let further = try self.owners(related.joined, related.family)
            let destinations = changedKeys(related.family).union(further)
            switch related.link {
            case .destination(let column):
                for row in try view.rows(family, .column(column), in: Array(destinations), columns: [], budget) {
                    owners.insert(row.key)
                }
            case .source(let column):
                for entity in related.family { owners.formUnion(ends(entity, column)) }
                for row in try view.rows(related.family, .key, in: Array(further), columns: [column], budget)
                where !row.row.isNull(column) {
                    owners.insert(row.row.integer(column))
                }
            case .pairs(let layout, let own, let other):
                owners.formUnion(ends(layout, own))
                for row in try view.rows([layout], .column(other), in: Array(destinations), columns: [own], budget) {
                    owners.insert(row.row.integer(own))
                }
            }
        }
        return owners
    }

    /// The rows to which a column of the changed rows leads and led.
    private func ends(_ entity: Int, _ column: Int) -> Set<Int64> {
        var ends: Set<Int64> = []
        for rows in (changed[entity] ?? [:]).values {
            for row in rows where !row.isNull(column) { ends.insert(row.integer(column)) }
        }
        return ends
    }
}

/// The rows of a list by their keys, for lists that depend on related rows, or whose objects have to-many relationships.
///
/// It is built from one state of the list and updated with it, so that a change costs what it changes.
package final class RowsByKey: Sendable {
    private struct Held {
        /// The number of the state that these rows belong to; -1 for none.
        var version = -1
        var rows: [Int64: ListedRow] = [:]

        mutating func build(from state: ListState, _ version: Int) {
            if self.version == version { return }
            self.version = version
            rows = [:]
            rows.reserveCapacity(state.rows.count)
            state.rows.forEach { rows[$0.key] = $0 }
        }
    }

    private let held = Guarded(Held())

    package init() {}

    /// Updates it to the next state.
    ///
    /// - Parameters:
    ///   - version: The number of the present state; that of the next state is one higher.
    ///   - rows: The changed rows in the next state; nil for a row that the list does not show then.
    /// - Returns: The difference between the two states.
    package func advance(_ state: ListState, version: Int, to rows: [Int64: ListedRow?]) -> NetChanges {
        held.withLock { held in
            held.build(from: state, version)
            held.version = version + 1
            var difference = NetChanges()
            for (key, new) in rows {
                difference.add(key, old: held.rows[key], new: new, state.query)
                held.rows[key] = new
            }
            return difference
        }
    }

    /// The rows with those keys that a state holds.
    ///
    /// - Parameter version: The number of the state.
    func rows(_ keys: Set<Int64>, in state: ListState, version: Int) -> [ListedRow] {
        if keys.isEmpty { return [] }
        return held.withLock { held in
            held.build(from: state, version)
            return keys.compactMap { held.rows[$0] }
        }
    }

    /// Goes on to the next state, if it was built from the present one.
    ///
    /// - Parameters:
    ///   - version: The number of the present state; that of the next state is one higher.
    ///   - net: The difference between the two.
    func advance(from version: Int, by net: NetChanges) {
        held.withLock { held in
            guard held.version == version else { return }
            held.version = version + 1
            for (key, change) in net.rows { held.rows[key] = change.new }
        }
    }
}
