internal import RowStore

/// Continuing after a save.
extension DraftContext {
    /// The difference is about to be saved.
    func beginSave(_ difference: DraftDifference) {
        let keys = Set(difference.rows.map(\.end.key))
        for object in changed where keys.contains(object.key) { saving[object.key] = object }
    }

    /// Nothing was saved: objects that are not edited any more get the newest saved values.
    func abandonSave() {
        let objects = saving.values
        saving = [:]
        for object in objects where object.state == .saved {
            catchUp(object)
            place(object, bindings[object.layout.index], object.key)
        }
    }

    /// Bases what was saved on the newest rows. Edits made since the difference was taken stay edits.
    ///
    /// - Parameter newKeys: The keys of new objects that were saved with other keys.
    func rebase(_ saved: DraftDifference, _ newKeys: [LinkEnd: Int64]) {
        journal.removeAll()
        related.removeAll()
        denied = []
        rename(newKeys)
        let saved = saved.renaming(newKeys, stack.layout)
        let objects = saving
        saving = [:]
        var rebased: [ManagedObject] = []
        for (entity, rows) in Dictionary(grouping: saved.rows, by: \.end.entity) {
            let binding = bindings[entity]
            let read = try? source.rows(
                entity: entity, keys: rows.map(\.end.key), QueryBudget(isCancellable: false))
            let found = read.map { Dictionary($0.rows.map { ($0.key, $0.row) }) { first, _ in first } }
            for row in rows {
                // If the store cannot be read now, it has the rows that were saved.
                let newest = found.map { $0[row.end.key] } ?? (row.state == .deleted ? nil : row.row)
                guard let object = objects[row.end.key].flatMap({ present($0, row, binding) }) else { continue }
                rebase(object, row, on: newest)
                object.asOf = max(object.asOf, read?.asOf ?? 0)
                missed[object.key] = nil
                place(object, binding, object.key)
                rebased.append(object)
            }
        }
        noteEdits(rebased)
        cascaded.formIntersection(changed.lazy.filter { $0.state == .deleted }.map(\.key))
        if changed.isEmpty { entitiesWithGoneObjects = [] }
        rebaseOrders()
        sweep()
    }

    /// The object of a row that was saved. If the save inserted the object, and it was taken out of the draft meanwhile, it
    /// must be deleted.
    ///
    /// - Returns: Nil if the draft has read the object again since, and continues with that.
    private func present(
        _ object: ManagedObject, _ row: DraftDifference.Row, _ binding: EntityBinding
    ) -> ManagedObject? {
        guard object.state == .gone else { return object }
        guard row.state == .inserted else { return nil }
        let newer = binding.objects[object.key]
        if newer?.hasChanges == true { return nil }
        (newer ?? object).state = .deleted
        return newer ?? object
    }

    private func rebase(_ object: ManagedObject, _ saved: DraftDifference.Row, on newest: RowSnapshot?) {
        guard let newest else {
            object.saved = nil
            // A deletion was taken back after it was saved: the object must be inserted again.
            object.state = saved.state == .deleted && !object.isDeleted ? .inserted : .gone
            return
        }
        var row = newest
        for (column, description) in object.layout.columns.enumerated() {
            func isEqual(_ one: RowSnapshot, _ other: RowSnapshot) -> Bool {
                one.isEqual(to: other, column: column, storage: description.storage)
            }
            if isEqual(object.row, saved.row) { continue }
            // An edit was taken back, and the save has not made it either.
            if isEqual(object.row, saved.base), !isEqual(newest, saved.row) { continue }
            row.setValue(object.row.value(column, description.storage), column)
        }
        let isDeleted = object.isDeleted && saved.state != .deleted
        let isEdited = !row.columnsChanged(since: newest, object.layout).isEmpty
        object.row = isDeleted ? newest : row
        object.saved = isEdited && !isDeleted ? newest : nil
        object.state = isDeleted ? .deleted : isEdited ? .edited : .saved
    }
}
