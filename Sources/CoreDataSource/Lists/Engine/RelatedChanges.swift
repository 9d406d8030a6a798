internal import RowStore

/// Which rows of a list may be others after saves that changed what they lead to.
///
/// It goes back along the relationships, from the rows that changed to those that lead to them. A row that led there before
/// and does not any more has changed itself, or the row that had the link did.
struct RelatedChanges {
    private let view: any RowView
    private let budget: QueryBudget
    /// The rows that changed, by entity and key, as they were and as they are.
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

    /// The keys of the rows of a family whose joined columns may be others.
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

    /// Where a column of the changed rows leads to and led to.
    private func ends(_ entity: Int, _ column: Int) -> Set<Int64> {
        var ends: Set<Int64> = []
        for rows in (changed[entity] ?? [:]).values {
            for row in rows where !row.isNull(column) { ends.insert(row.integer(column)) }
        }
        return ends
    }
}

/// The rows of a list by their keys, for lists that hear of rows to which theirs lead.
///
/// It is made of one state of the list and goes on with it, so that a change costs what it changes.
final class RowsByKey: Sendable {
    private struct Held {
        /// The state of the list that these rows are of; -1 for none.
        var version = -1
        var rows: [Int64: ListedRow] = [:]
    }

    private let held = Guarded(Held())

    /// Goes on to the next state.
    ///
    /// - Parameters:
    ///   - version: The number of the state; that of the next one is one higher.
    ///   - rows: What some rows are in the next state; nil for one that the list does not show then.
    /// - Returns: What differs between both states.
    func advance(_ state: ListState, version: Int, to rows: [Int64: ListedRow?]) -> NetChanges {
        held.withLock { held in
            if held.version != version {
                held.rows = [:]
                held.rows.reserveCapacity(state.rows.count)
                state.rows.forEach { held.rows[$0.key] = $0 }
            }
            held.version = version + 1
            var difference = NetChanges()
            for (key, new) in rows {
                difference.add(key, old: held.rows[key], new: new)
                held.rows[key] = new
            }
            return difference
        }
    }
}
