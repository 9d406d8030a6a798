internal import RowStore

/// Continues a draft after a save.
extension DraftContext {
    /// Retains the objects of a difference until the save of the difference ends.
    func beginSave(_ difference: DraftDifference) {
        let ends = Set(difference.rows.map(\.end))
        for object in changed where ends.contains(LinkEnd(object)) { saving[LinkEnd(object)] = object }
    }

    /// Ends a failed save. Objects that are no longer edited get the newest saved values.
    func abandonSave() {
        let objects = saving.values
        saving = [:]
        for object in objects where object.state == .saved {
            applyNewestRow(object)
            updateRegistration(object, bindings[object.layout.index])
        }
    }

    /// Makes the newest rows the base of the saved objects. Edits that were made after the difference was taken remain edits.
    ///
    /// - Parameter newKeys: The new keys of objects that were saved with a different key.
    func rebase(_ saved: DraftDifference, _ newKeys: [LinkEnd: Int64]) {
        journal.removeAll()
        related.removeAll()
        objectsWithDenyRule = []
        rename(newKeys)
        let saved = saved.renaming(newKeys, stack.layout)
        let objects = saving
        saving = [:]
        var rebased: [ManagedObject] = []
        for (entity, rows) in Dictionary(grouping: saved.rows, by: \.end.entity) {
            let binding = bindings[entity]
            let read = try? stack.root.rows.rows(
                entity: entity, keys: rows.map(\.end.key), QueryBudget(isCancellable: false))
            let found = read.map { Dictionary($0.rows.map { ($0.key, $0.row) }) { first, _ in first } }
            for row in rows {
                // If the store cannot be read now, use the rows that were saved.
                let newest = found.map { $0[row.end.key] } ?? (row.state == .deleted ? nil : row.row)
                guard let object = objects[row.end].flatMap({ survivingObject($0, row, binding) }) else { continue }
                rebase(object, row, on: newest)
                object.asOf = max(object.asOf, read?.asOf ?? .beforeFirst)
                newestSavedRows[row.end] = nil
                displaced[row.end] = nil
                updateRegistration(object, binding)
                rebased.append(object)
            }
        }
        recordEdits(rebased)
        cascaded.formIntersection(changed.lazy.filter { $0.state == .deleted }.map { LinkEnd($0) })
        if changed.isEmpty { entitiesWithGoneObjects = [] }
        rebaseOrders()
        sweep()
    }

    /// Returns the object of a saved row. If the draft deleted the object after the save inserted it, marks the object as
    /// deleted.
    ///
    /// - Returns: The object; nil if the draft has replaced it with a newer object.
    private func survivingObject(
        _ object: ManagedObject, _ row: DraftDifference.Row, _ binding: EntityBinding
    ) -> ManagedObject? {
        guard object.state == .gone else { return object }
        guard row.state == .inserted else { return nil }
        let newer = binding.objects[object.key]
        if newer?.hasChanges == true { return nil }
        (newer ?? object).markDeleted()
        return newer ?? object
    }

    private func rebase(_ object: ManagedObject, _ saved: DraftDifference.Row, on newest: RowSnapshot?) {
        guard let newest else {
            // If a deletion was undone after it was saved, the object must be inserted again.
            let isBack = saved.state == .deleted && !object.isDeleted
            return object.replaceState(isBack ? .inserted : .gone, object.row, saved: nil)
        }
        var row = newest
        for (column, description) in object.layout.columns.enumerated() {
            func isEqual(_ lhs: RowSnapshot, _ rhs: RowSnapshot) -> Bool {
                lhs.isEqual(to: rhs, column: column, storage: description.storage)
            }
            if isEqual(object.row, saved.row) { continue }
            // The edit was undone, but the newest row does not have the saved value, so keep the value of the newest row.
            if isEqual(object.row, saved.base), !isEqual(newest, saved.row) { continue }
            row.setValue(object.row.value(column, description.storage), column)
        }
        let isDeleted = object.isDeleted && saved.state != .deleted
        let isEdited = !row.columnsChanged(since: newest, object.layout).isEmpty
        if isDeleted { return object.replaceState(.deleted, newest, saved: nil) }
        object.replaceState(isEdited ? .edited : .saved, row, saved: isEdited ? newest : nil)
    }
}

/// Gives new keys to objects whose keys another program might have used.
extension DraftContext {
    /// Gives objects the keys with which they were saved, and adjusts all links to these objects.
    func rename(_ keys: [LinkEnd: Int64]) {
        if keys.isEmpty { return }
        for (end, key) in keys {
            let binding = bindings[end.entity]
            guard let object = saving.removeValue(forKey: end) else { continue }
            let isRegistered = binding.objects[end.key] === object
            if isRegistered { binding.objects.remove(end.key) }
            object.rename(to: key)
            if isRegistered { binding.objects.insert(object) }
            saving[LinkEnd(object)] = object
            restoreDisplaced(end)
        }
        for object in changed { object.row.rename(keys, object.layout, stack.layout) }
        orders = Dictionary(
            orders.map { order, ends in
                (
                    OrderedRelationship(owner: order.owner.renamed(keys), index: order.index),
                    ends.map { $0.renamed(keys) }
                )
            }
        ) { first, _ in first }
    }
}

extension DraftDifference {
    /// Returns the difference with the new keys of inserted objects.
    func renaming(_ keys: [LinkEnd: Int64], _ layout: ModelLayout) -> DraftDifference {
        if keys.isEmpty { return self }
        var renamed = self
        for index in rows.indices {
            let entity = layout.entities[rows[index].end.entity]
            renamed.rows[index].end = rows[index].end.renamed(keys)
            renamed.rows[index].row.rename(keys, entity, layout)
            if rows[index].state == .inserted { renamed.rows[index].base.rename(keys, entity, layout) }
        }
        return renamed
    }
}

extension LinkEnd {
    /// Returns the end with the new key of its object. Without a new key, returns the end unchanged.
    func renamed(_ keys: [LinkEnd: Int64]) -> LinkEnd {
        keys[self].map { LinkEnd(entity: entity, key: $0) } ?? self
    }
}

extension RowSnapshot {
    /// Adjusts the links in the row to the new keys.
    fileprivate mutating func rename(_ keys: [LinkEnd: Int64], _ entity: EntityLayout, _ layout: ModelLayout) {
        for link in layout.linksToRows(of: entity) {
            guard let end = end(link.columns, link.family), let key = keys[end] else { continue }
            setValue(.integer(key), link.columns.key)
        }
    }
}
