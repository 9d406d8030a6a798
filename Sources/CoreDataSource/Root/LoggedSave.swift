internal import RowStore

/// A save in the log, with an index of its rows that is made when somebody first looks for one.
package final class LoggedSave: Sendable {
    package let changes: ChangeSet
    private let index = Guarded<[Int: [Int64: RowSnapshot?]]>([:])

    init(_ changes: ChangeSet) {
        self.changes = changes
    }

    /// What the save left of each row of one entity that it touched: the new row, or nil for a deleted one.
    func rows(ofEntity entity: Int) -> [Int64: RowSnapshot?] {
        guard let changes = changes.entities.first(where: { $0.entity == entity }) else { return [:] }
        return index.withLock { index in
            if let rows = index[entity] { return rows }
            var rows: [Int64: RowSnapshot?] = [:]
            rows.reserveCapacity(changes.rowCount)
            for row in changes.inserted { rows[row.key] = .some(row.row) }
            for row in changes.updated { rows[row.key] = .some(row.row) }
            for row in changes.deleted { rows[row.key] = .some(nil) }
            index[entity] = rows
            return rows
        }
    }
}

/// What several saves left of the rows of one entity, the newest save last.
func rowsLeft(by saves: [LoggedSave], ofEntity entity: Int) -> [Int64: RowSnapshot?] {
    var left: [Int64: RowSnapshot?]?
    for save in saves {
        let rows = save.rows(ofEntity: entity)
        guard !rows.isEmpty else { continue }
        if left == nil { left = rows } else { left?.merge(rows) { _, newer in newer } }
    }
    return left ?? [:]
}
