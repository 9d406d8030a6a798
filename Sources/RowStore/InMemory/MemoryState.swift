/// All rows of a store in memory.
struct MemoryState: Sendable {
    /// By the entities' numbers; nil for abstract ones.
    private(set) var tables: [MemoryTable?]
    private(set) var firstFreeKey: Int64

    init(_ layout: ModelLayout, firstFreeKey: Int64 = 1) {
        self.firstFreeKey = firstFreeKey
        tables = layout.entities.map { $0.isAbstract ? nil : MemoryTable($0) }
    }

    /// A row before its change, for a group that fails half-way.
    private struct Undo {
        let entity: Int
        let key: Int64
        let row: RowSnapshot?
    }

    /// Applies the changes of every change set, or none of a set that is refused.
    mutating func commit(_ group: [ChangeSet]) -> CommitOutcome {
        let (outcome, highest, _) = apply(group)
        firstFreeKey = bound(above: highest)
        return outcome
    }

    /// What ``commit(_:)`` would do, and the bound for keys after it. Costs as much as the changes.
    mutating func rehearse(_ group: [ChangeSet]) -> (outcome: CommitOutcome, firstFreeKey: Int64) {
        let (outcome, highest, undos) = apply(group)
        undo(undos[...])
        return (outcome, bound(above: highest))
    }

    /// Adds rows that were stored before.
    mutating func load(_ rows: [StoredRow], _ entity: Int) throws(DataSourceError) {
        guard let layout = tables[entity]?.layout else { throw DataSourceError.rowOfAbstractEntity }
        for row in rows {
            guard row.row.columnCount == layout.columns.count else {
                throw DataSourceError(
                    .storeCorrupt,
                    "A stored object of \(layout.name) has \(row.row.columnCount) values instead of \(layout.columns.count).",
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
        for (place, set) in group.enumerated() where !refusals.refusesDependent(set, at: place) {
            let start = undos.count
            do throws(DataSourceError) {
                for changes in set.entities { try apply(changes, &undos) }
                highest = max(highest, set.highestInsertedKey)
            } catch {
                undo(undos[start...])
                undos.removeSubrange(start...)
                refusals.refuse(set, at: place, error)
            }
        }
        return (CommitOutcome(refused: refusals.errors), highest, undos)
    }

    /// All old rows are removed before the new ones are added, so rows may take over and exchange unique keys.
    private mutating func apply(
        _ changes: EntityChanges, _ undos: inout [Undo]
    ) throws(DataSourceError) {
        let entity = changes.entity
        guard tables[entity] != nil else {
            throw DataSourceError.rowOfAbstractEntity
        }
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
            // Each step restores an earlier state, so nothing can collide.
            if let row = undo.row { try? tables[undo.entity]?.insert(undo.key, row) }
        }
    }
}

extension DataSourceError {
    fileprivate static let rowOfAbstractEntity = DataSourceError(
        .abstractEntity, "An abstract entity cannot have objects.")
}
