#if PostgreSQL
internal import RowStore

/// Saves that follow each other and can be written at once, with one statement for the rows of a table.
///
/// The result must be the same as if they were written one after the other. So a save is not added to a run if it changes a row
/// of an earlier save in it, or makes room for a unique value of one.
struct SaveRun {
    private var entities: [Int: EntityChanges] = [:]
    /// The keys of the rows, by entity; empty as long as the run is of one save.
    private var keys: [Int: Set<Int64>] = [:]
    private var rowCount = 0
    private var saveCount = 0

    /// A save with more rows is written alone: joining it would cost more than its statements.
    private static let joinedRows = 1000

    /// The rows of all saves of the run.
    var changes: ChangeSet {
        ChangeSet(entities: entities.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Divides a group of saves.
    static func runs(of saves: [ChangeSet], _ schema: PostgreSQLSchema) throws(DataSourceError) -> [ChangeSet] {
        if saves.count == 1 { return saves }
        var runs: [ChangeSet] = []
        var run = SaveRun()
        for save in saves {
            if run.saveCount > 0, try !run.accepts(save, schema) {
                runs.append(run.changes)
                run = SaveRun()
            }
            run.add(save)
        }
        return runs + [run.changes]
    }

    private func accepts(_ save: ChangeSet, _ schema: PostgreSQLSchema) throws(DataSourceError) -> Bool {
        guard rowCount + save.rowCount <= SaveRun.joinedRows else { return false }
        for changes in save.entities {
            if try schema.table(changes.entity).givesUpValues(changes) { return false }
            guard let keys = keys[changes.entity] else { continue }
            if changes.keys.contains(where: keys.contains) { return false }
        }
        return true
    }

    private mutating func add(_ save: ChangeSet) {
        saveCount += 1
        rowCount += save.rowCount
        for changes in save.entities {
            if rowCount <= SaveRun.joinedRows { keys[changes.entity, default: []].formUnion(changes.keys) }
            var all = entities.removeValue(forKey: changes.entity) ?? EntityChanges(entity: changes.entity)
            all.inserted += changes.inserted
            all.updated += changes.updated
            all.deleted += changes.deleted
            entities[changes.entity] = all
        }
    }
}

extension EntityChanges {
    fileprivate var keys: [Int64] { inserted.map(\.key) + updated.map(\.key) + deleted.map(\.key) }
}

extension PostgreSQLTable {
    /// Whether other rows may have unique values after the changes that they could not have before.
    fileprivate func givesUpValues(_ changes: EntityChanges) -> Bool {
        if constraints.isEmpty { return false }
        let unique = constraints.flatMap(\.columns)
        return !changes.deleted.isEmpty
            || changes.updated.contains { row in unique.contains { row.columns.contains($0) } }
    }
}
#endif
