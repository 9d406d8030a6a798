#if PostgreSQL
internal import RowStore

/// Consecutive saves that are written together, with one statement for the rows of a table.
///
/// The result must be the same as if the saves were written one after another. So a save does not join a run if it
/// changes a row of an earlier save in the run, or can free unique values.
struct SaveRun {
    private var entities: [Int: EntityChanges] = [:]
    /// The keys of the rows, by entity; not kept for a large first save.
    private var keys: [Int: Set<Int64>] = [:]
    private var rowCount = 0
    private var saveCount = 0

    /// The largest number of rows in a run with several saves. For more rows, joining the saves would cost more than separate
    /// statements.
    private static let joinedRows = 1000

    var changes: ChangeSet {
        ChangeSet(entities: entities.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Divides a group of saves into runs.
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
            entities[changes.entity, default: EntityChanges(entity: changes.entity)].append(changes)
        }
    }
}

extension PostgreSQLTable {
    /// Whether the changes can free unique values for other rows.
    fileprivate func givesUpValues(_ changes: EntityChanges) -> Bool {
        if constraints.isEmpty { return false }
        let unique = constraints.flatMap(\.columns)
        return !changes.deleted.isEmpty
            || changes.updated.contains { row in unique.contains { row.columns.contains($0) } }
    }
}
#endif
