internal import Foundation
internal import ManagedModel

/// The rows of all entities in memory.
struct MemoryState: Sendable {
    /// The tables, by entity index; nil for an abstract entity.
    private(set) var tables: [MemoryTable?]
    /// The scopes by their names.
    private(set) var scopes: [ExactString: StoredScope] = [:]
    private let layout: ModelLayout
    private(set) var firstFreeKey: Int64

    init(_ layout: ModelLayout, firstFreeKey: Int64 = 1) {
        self.firstFreeKey = firstFreeKey
        self.layout = layout
        tables = layout.entities.map { $0.isAbstract ? nil : MemoryTable($0) }
    }

    /// The earlier state of a row, to undo a change of the row. The row is nil if it did not exist.
    private struct Undo {
        let entity: Int
        let key: Int64
        let row: RowSnapshot?
    }

    /// Applies all change sets that are not refused. A refused change set changes nothing.
    mutating func commit(_ group: [ChangeSet]) -> CommitOutcome {
        let (outcome, highest, _) = apply(group)
        firstFreeKey = bound(above: highest)
        return outcome
    }

    /// Returns the outcome of ``commit(_:)`` and the new first free key, but keeps all rows unchanged. Takes time proportional
    /// to the number of changed rows.
    mutating func dryRun(_ group: [ChangeSet]) -> (outcome: CommitOutcome, firstFreeKey: Int64) {
        let scopes = scopes
        let (outcome, highest, undos) = apply(group)
        undo(undos[...])
        self.scopes = scopes
        return (outcome, bound(above: highest))
    }

    mutating func load(_ rows: [StoredRow], _ entity: Int) throws(DataSourceError) {
        guard let layout = tables[entity]?.layout else { throw DataSourceError(abstractEntity: nil) }
        for row in rows {
            guard row.row.columnCount == layout.columns.count else {
                throw DataSourceError(
                    .storeCorrupt,
                    "A stored object of \(layout.name) has the wrong number of values: \(row.row.columnCount) instead of "
                        + "\(layout.columns.count). Make rows with the layout of their entity.",
                    entityName: layout.name)
            }
            try tables[entity]?.insert(row.key, row.row)
        }
        firstFreeKey = bound(above: rows.reduce(0) { max($0, $1.key) })
    }

    private func bound(above highest: Int64) -> Int64 {
        if highest < firstFreeKey { return firstFreeKey }
        return highest > Int64.max - InMemoryRows.keyReserve ? Int64.max : highest + InMemoryRows.keyReserve
    }

    private mutating func apply(_ group: [ChangeSet]) -> (CommitOutcome, highest: Int64, [Undo]) {
        var refusals = Refusals()
        var highest: Int64 = 0
        var undos: [Undo] = []
        for (index, set) in group.enumerated() where !refusals.refuseIfDependent(set, at: index) {
            let start = undos.count
            do throws(DataSourceError) {
                for changes in set.entities { try apply(changes, &undos) }
                highest = max(highest, set.highestInsertedKey)
                applyScopes(of: set)
            } catch {
                undo(undos[start...])
                undos.removeSubrange(start...)
                refusals.refuse(set, at: index, error)
            }
        }
        return (CommitOutcome(refused: refusals.errors), highest, undos)
    }

    mutating func load(_ scopes: [StoredScope]) {
        for scope in scopes { self.scopes[ExactString(scope.name)] = scope }
    }

    func scopes(after sets: [ChangeSet]) -> [StoredScope] {
        var copy = self
        for set in sets { copy.applyScopes(of: set) }
        return copy.scopes.values.sorted { $0.name < $1.name }
    }

    /// Drops the HTTP entity tags and the cursors of the scopes that the save's deletions make outdated. Then applies the
    /// save's changes of scopes.
    private mutating func applyScopes(of set: ChangeSet) {
        if !scopes.isEmpty {
            let entities = set.entitiesWithDeletions(layout)
            let loaded = Set(set.loadedScopes.lazy.map { ExactString($0) })
            for (name, scope) in scopes where entities.contains(scope.entity) && !loaded.contains(name) {
                scopes[name]?.dropTag()
            }
        }
        for change in set.scopes {
            let name = ExactString(change.name)
            if change.isForgotten, let stored = scopes[name], change.concerns(stored) { scopes[name] = nil }
            guard let scope = change.result(after: scopes[name]) else { continue }
            if scopes.count >= StoredScope.limit, scopes[name] == nil {
                scopes.min { $0.value.lastDate < $1.value.lastDate }.map { scopes[$0.key] = nil }
            }
            scopes[name] = scope
        }
    }

    /// Applies the changes of one entity. Removes all old rows before it inserts new ones, so that rows can exchange unique
    /// values.
    private mutating func apply(
        _ changes: EntityChanges, _ undos: inout [Undo]
    ) throws(DataSourceError) {
        let entity = changes.entity
        guard tables[entity] != nil else { throw DataSourceError(abstractEntity: nil) }
        for row in changes.deleted { remove(entity, row.key, &undos) }
        for row in changes.updated {
            guard tables[entity]?.rows[row.key] != nil else {
                throw DataSourceError(updateOfMissingRowOf: tables[entity]?.layout.name)
            }
            remove(entity, row.key, &undos)
        }
        for row in changes.updated { try insert(entity, StoredRow(key: row.key, row: row.row), &undos) }
        for row in changes.inserted { try insert(entity, row, &undos) }
    }

    private mutating func remove(_ entity: Int, _ key: Int64, _ undos: inout [Undo]) {
        undos.append(Undo(entity: entity, key: key, row: tables[entity]?.rows[key]))
        tables[entity]?.remove(key)
    }

    private mutating func insert(
        _ entity: Int, _ row: StoredRow, _ undos: inout [Undo]
    ) throws(DataSourceError) {
        try tables[entity]?.insert(row.key, row.row)
        undos.append(Undo(entity: entity, key: row.key, row: nil))
    }

    private mutating func undo(_ undos: ArraySlice<Undo>) {
        for undo in undos.reversed() {
            tables[undo.entity]?.remove(undo.key)
            // Each step restores an earlier state, so unique values cannot collide.
            if let row = undo.row { try? tables[undo.entity]?.insert(undo.key, row) }
        }
    }
}

extension MemoryState {
    /// Returns the changes that delete the rows of some entities, and all links to those rows. A link is either a row of its own
    /// or in the columns of another row.
    func changes(_ layout: ModelLayout, droppingEntities names: Set<String>) -> ChangeSet {
        let dropped = Set(names.compactMap { layout.entity(named: $0)?.index })
        var set = ChangeSet(entities: [])
        for case let table? in tables {
            var changes = EntityChanges(entity: table.layout.index)
            let isDropped = dropped.contains(table.layout.index)
            let links = layout.linksToRows(of: table.layout)
            for (key, row) in table.rows {
                let gone = isDropped ? [] : links.filter { $0.leads(row, into: dropped) }
                if isDropped || !gone.isEmpty && table.layout.links != nil {
                    changes.deleted.append(StoredRow(key: key, row: row))
                } else if !gone.isEmpty {
                    changes.updated.append(row.withoutLinks(gone.map(\.columns), key: key))
                }
            }
            if !changes.isEmpty { set.entities.append(changes) }
        }
        return set
    }
}

extension LinkToRow {
    fileprivate func leads(_ row: RowSnapshot, into entities: Set<Int>) -> Bool {
        guard !row.isNull(columns.key) else { return false }
        if let entity = columns.entity, !row.isNull(entity) {
            return entities.contains(Int(truncatingIfNeeded: row.integer(entity)))
        }
        return !family.isEmpty && entities.isSuperset(of: family)
    }
}

extension RowSnapshot {
    /// Returns the update that sets the columns of the links to null.
    fileprivate func withoutLinks(_ links: [LinkColumns], key: Int64) -> UpdatedRow {
        var row = self
        var columns = ColumnSet()
        for link in links {
            for case let column? in [link.key, link.entity, link.position] where !isNull(column) {
                row.setNull(column)
                columns.insert(column)
            }
        }
        return UpdatedRow(key: key, row: row, previous: self, columns: columns)
    }
}

/// The rows of one entity. For each combination of unique values, the table also has the key of the row.
struct MemoryTable: Sendable {
    let layout: EntityLayout
    private(set) var rows: [Int64: RowSnapshot] = [:]
    /// The key of the row for each combination of unique values. The outer index is the constraint.
    private(set) var keys: [[[RowValue]: Int64]]
    private let transientColumns: [Int]

    init(_ layout: EntityLayout) {
        self.layout = layout
        keys = layout.constraints.map { _ in [:] }
        transientColumns = layout.columns.indices.filter { !layout.columns[$0].isStored }
    }

    /// Returns the matching rows, sorted if the query is ordered.
    func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try query.matches(
            candidates(query.predicate).lazy.map { StoredRow(key: $0.key, row: $0.value) }, layout)
    }

    /// Returns the rows that can match. If the predicate lists keys, these are the rows with the listed keys, otherwise
    /// all rows.
    func candidates(_ predicate: RowPredicate) -> [Int64: RowSnapshot] {
        guard let keys = predicate.wantedKeys, keys.count < rows.count else { return rows }
        var found: [Int64: RowSnapshot] = [:]
        for key in keys { found[key] = rows[key] }
        return found
    }

    mutating func remove(_ key: Int64) {
        guard let row = rows.removeValue(forKey: key) else { return }
        for (constraint, columns) in layout.constraints.enumerated() {
            if let values = uniqueValues(row, columns) { keys[constraint][values] = nil }
        }
    }

    /// Adds a row.
    ///
    /// - Throws: `uniquenessViolated` if the key or a unique value is taken. If the call throws, the table is unchanged.
    mutating func insert(_ key: Int64, _ row: RowSnapshot) throws(DataSourceError) {
        guard rows[key] == nil else { throw DataSourceError(uniqueness: nil, layout) }
        let row = stored(row)
        var uniqueValues: [[RowValue]?] = []
        for (constraint, columns) in layout.constraints.enumerated() {
            let values = self.uniqueValues(row, columns)
            if let values, keys[constraint][values] != nil { throw DataSourceError(uniqueness: columns, layout) }
            uniqueValues.append(values)
        }
        for (constraint, values) in uniqueValues.enumerated() {
            if let values { keys[constraint][values] = key }
        }
        rows[key] = row
    }

    /// Returns the values of a constraint's columns. Returns nil if one of the values is null, because null never collides.
    private func uniqueValues(_ row: RowSnapshot, _ columns: [Int]) -> [RowValue]? {
        if columns.contains(where: row.isNull) { return nil }
        return columns.map { row.value($0, layout.columns[$0].storage) }
    }

    /// Returns the row with nulls instead of transient values.
    private func stored(_ row: RowSnapshot) -> RowSnapshot {
        precondition(
            row.columnCount == layout.columns.count, "A row of \(row.columnCount) columns was saved as \(layout.name).")
        guard transientColumns.contains(where: { !row.isNull($0) }) else { return row }
        var row = row
        for column in transientColumns { row.setNull(column) }
        return row
    }
}

extension StoredScope {
    /// The time of the request that was last answered; the time of the last failure if no request was answered.
    fileprivate var lastDate: Date { requestedAt ?? failedAt ?? .distantPast }
}
