internal import RowStore

/// The columns of related rows that a list depends on.
struct RelatedColumns: Sendable {
    /// The columns that the list depends on, by entity or join table.
    private(set) var shown: [Int: Set<Int>] = [:]
    /// The columns in ``shown`` that contain the key of another row and are searched by that key, by entity or join table.
    private(set) var links: [Int: Set<Int>] = [:]

    /// - Parameter family: The entities of the list.
    init(_ joined: [JoinedColumn], of family: [Int]) { record(joined, of: family, under: []) }

    /// - Parameters:
    ///   - owners: The entities of the rows with the joined columns.
    ///   - outer: The entities of the rows whose relationships lead to the owners.
    private mutating func record(_ joined: [JoinedColumn], of owners: [Int], under outer: [Int]) {
        for column in joined {
            switch column.source {
            case .outer(let column): record(column, of: outer)
            case .value(let related, let column), .aggregate(let related, _, let column?):
                record(related, of: owners)
                record(column, of: related.family)
            case .outerKey: break
            case .key(let related), .exists(let related), .aggregate(let related, _, nil): record(related, of: owners)
            }
        }
    }

    private mutating func record(_ related: RelatedRows, of owners: [Int]) {
        for entity in related.family { shown[entity, default: []] = shown[entity] ?? [] }
        var tested: Set<Int> = []
        _ = related.predicate.collectColumns(&tested)
        for column in tested { record(column, of: related.family) }
        switch related.link {
        case .destination(let column): record(column, of: owners)
        case .source(let column): recordLink(column, of: related.family)
        case .pairs(let layout, let own, let other):
            recordLink(own, of: [layout])
            record(other, of: [layout])
        }
        record(related.joined, of: related.family, under: owners)
    }

    private mutating func record(_ column: Int, of entities: [Int]) {
        if JoinedColumn.isJoined(column) { return }
        for entity in entities { shown[entity, default: []].insert(column) }
    }

    private mutating func recordLink(_ column: Int, of entities: [Int]) {
        record(column, of: entities)
        for entity in entities { links[entity, default: []].insert(column) }
    }
}

/// The related rows that saves have changed, if the list depends on the changes.
package struct RelatedKeys: Sendable, Equatable {
    /// The keys of the changed rows, by entity or join table.
    private var changed: [Int: Set<Int64>] = [:]
    /// The keys that the changed rows contain in a link column, before and after the changes. Indexed by entity or join table
    /// and by column.
    private var ends: [Int: [Int: Set<Int64>]] = [:]
    /// The numbers of the first and the last save that changed these rows.
    private var saves: ClosedRange<SaveNumber>?

    /// If the list has fewer rows than this number, the links of the list's rows are read instead of the links of the changed
    /// rows.
    private static let ownLinksRowLimit = 1024

    var isEmpty: Bool { changed.isEmpty }

    var count: Int { changed.values.reduce(0) { $0 + $1.count } }

    init() {}

    init(_ saves: [ChangeSet], _ columns: RelatedColumns) {
        if columns.shown.isEmpty { return }
        for save in saves { record(save, columns) }
    }

    private mutating func record(_ save: ChangeSet, _ columns: RelatedColumns) {
        var isAny = false
        for changes in save.entities {
            guard let shown = columns.shown[changes.entity] else { continue }
            var (keys, rows): (Set<Int64>, [RowSnapshot]) = ([], [])
            for row in [changes.inserted, changes.deleted].joined() {
                keys.insert(row.key)
                rows.append(row.row)
            }
            for row in changes.updated where shown.contains(where: row.columns.contains) {
                keys.insert(row.key)
                rows += [row.previous, row.row]
            }
            if keys.isEmpty { continue }
            isAny = true
            changed[changes.entity, default: []].formUnion(keys)
            for column in columns.links[changes.entity] ?? [] {
                let ends = rows.lazy.filter { !$0.isNull(column) }.map { $0.integer(column) }
                self.ends[changes.entity, default: [:]][column, default: []].formUnion(ends)
            }
        }
        if isAny { record(save.saveNumber...save.saveNumber) }
    }

    private mutating func record(_ range: ClosedRange<SaveNumber>) {
        saves =
            min(
                saves?.lowerBound ?? range.lowerBound, range.lowerBound)...max(
                saves?.upperBound ?? range.upperBound, range.upperBound)
    }

    mutating func formUnion(_ other: RelatedKeys) {
        // Insert in place, because merging dictionaries copies the sets.
        for (entity, keys) in other.changed { changed[entity, default: []].formUnion(keys) }
        for (entity, columns) in other.ends {
            for (column, keys) in columns { ends[entity, default: [:]][column, default: []].formUnion(keys) }
        }
        if let range = other.saves { record(range) }
    }

    /// Whether a comparison of two reads can miss a change of these saves: a later save may have changed the value back,
    /// or the previous read already included the change.
    ///
    /// - Parameters:
    ///   - start: The number of the newest save that the previous read included.
    ///   - end: The number of the newest save that this read includes.
    func canMissChanges(from start: SaveNumber, to end: SaveNumber) -> Bool {
        guard let saves else { return false }
        return saves.count > 1 || saves.lowerBound <= start || saves.upperBound < end
    }

    /// Returns the keys of the list's rows that are related to a changed row, or that had a link in a changed row.
    ///
    /// The search follows the present links backward. If a link was removed, the row that stored the link has changed, too: the
    /// list's own row, the related row, or a row of the join table. In the last two cases, ``ends`` has the removed link.
    ///
    /// - Parameter rows: All rows of the list, to search only these rows; nil to search the store. Searching only the list can
    ///   be much faster: a related row can have a hundred thousand owners, while a list with a limit shows ten rows.
    func owners(
        of query: ListQuery, among rows: RowStorage? = nil, in view: any RowView, _ budget: QueryBudget
    ) throws(DataSourceError) -> Set<Int64> {
        if isEmpty { return [] }
        return try owners(of: query.joined, family: query.family, among: rows, in: view, budget)
    }

    private func owners(
        of joined: [JoinedColumn], family: [Int], among rows: RowStorage?, in view: any RowView, _ budget: QueryBudget
    ) throws(DataSourceError) -> Set<Int64> {
        var owners: Set<Int64> = []
        var visited: Set<RelatedRows> = []
        for case let related? in joined.map(\.related) where visited.insert(related).inserted {
            let further = try self.owners(
                of: related.joined, family: related.family, among: nil, in: view, budget)
            let destinations = related.family.reduce(into: further) { $0.formUnion(changed[$1] ?? []) }
            switch related.link {
            case .destination(let column):
                if let rows {
                    owners.formUnion(rows.keys(leadingTo: destinations, by: column))
                    continue
                }
                for row in try view.rows(family, .column(column), in: Array(destinations), columns: [], budget) {
                    owners.insert(row.key)
                }
            case .source(let column):
                for entity in related.family { owners.formUnion(ends[entity]?[column] ?? []) }
                for row in try view.rows(related.family, .key, in: Array(further), columns: [column], budget)
                where !row.row.isNull(column) {
                    owners.insert(row.row.integer(column))
                }
            case .pairs(let layout, let own, let other):
                owners.formUnion(ends[layout]?[own] ?? [])
                if let rows, rows.count < RelatedKeys.ownLinksRowLimit {
                    for row in try view.rows([layout], .column(own), in: rows.keys(), columns: [own, other], budget)
                    where destinations.contains(row.row.integer(other)) {
                        owners.insert(row.row.integer(own))
                    }
                    continue
                }
                for row in try view.rows([layout], .column(other), in: Array(destinations), columns: [own], budget) {
                    owners.insert(row.row.integer(own))
                }
            }
        }
        return owners
    }
}

extension RowStorage {
    fileprivate func keys() -> [Int64] {
        var keys: [Int64] = []
        forEach { keys.append($0.key) }
        return keys
    }

    /// Returns the keys of the rows that have one of the destinations in a column.
    fileprivate func keys(leadingTo destinations: Set<Int64>, by column: Int) -> [Int64] {
        var keys: [Int64] = []
        forEach { listed in
            let row = listed.stored.row
            if !row.isNull(column), destinations.contains(row.integer(column)) { keys.append(listed.key) }
        }
        return keys
    }
}
