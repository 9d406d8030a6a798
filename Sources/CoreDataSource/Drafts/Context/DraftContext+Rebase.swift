internal import RowStore

/// Going on after a save.
extension DraftContext {
    /// Bases what was saved on the newest rows. What was edited since the difference was taken stays an edit.
    func rebase(_ saved: DraftDifference) {
        journal.removeAll()
        related.removeAll()
        let edited = Dictionary(changed.map { ($0.key, $0) }) { first, _ in first }
        var rebased: [ManagedObject] = []
        for (entity, rows) in Dictionary(grouping: saved.rows, by: \.end.entity) {
            let binding = bindings[entity]
            let read = try? source.rows(
                entity: entity, keys: rows.map(\.end.key), QueryBudget(isCancellable: false))
            let found = read.map { Dictionary($0.rows.map { ($0.key, $0.row) }) { first, _ in first } }
            for row in rows {
                // If the store cannot be read now, it has what was saved.
                let newest = found.map { $0[row.end.key] } ?? (row.state == .deleted ? nil : row.row)
                let known = edited[row.end.key] ?? binding.objects[row.end.key]
                guard let object = known ?? withdrawn(row, binding) else { continue }
                rebase(object, row, on: newest)
                object.asOf = max(object.asOf, read?.asOf ?? 0)
                missed[object.key] = nil
                place(object, binding, object.key)
                rebased.append(object)
            }
        }
        noteEdits(rebased)
        rebaseOrders()
        sweep()
    }

    /// An object that the save has inserted, and that was taken out of the draft meanwhile: it has to be deleted.
    private func withdrawn(_ row: DraftDifference.Row, _ binding: EntityBinding) -> ManagedObject? {
        guard row.state == .inserted else { return nil }
        return register(StoredRow(key: row.end.key, row: row.row), binding, .deleted, asOf: 0)
    }

    private func rebase(_ object: ManagedObject, _ saved: DraftDifference.Row, on newest: RowSnapshot?) {
        guard let newest else {
            object.saved = nil
            object.state = .gone
            return
        }
        var row = newest
        for (column, description) in object.layout.columns.enumerated()
        where !object.row.isEqual(to: saved.row, column: column, storage: description.storage) {
            row.setValue(object.row.value(column, description.storage), column)
        }
        let isDeleted = object.isDeleted && saved.state != .deleted
        let isEdited = !row.columnsChanged(since: newest, object.layout).isEmpty
        object.row = isDeleted ? newest : row
        object.saved = isEdited && !isDeleted ? newest : nil
        object.state = isDeleted ? .deleted : isEdited ? .edited : .saved
    }
}
