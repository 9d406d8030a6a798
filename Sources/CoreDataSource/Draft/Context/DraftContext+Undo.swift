internal import RowStore

/// Undoes and redoes the steps of a draft.
extension DraftContext {
    func undo() {
        guard let step = journal.popUndo() else { return }
        journal.pushRedo(restore(step))
    }

    func redo() {
        guard let step = journal.popRedo() else { return }
        journal.pushUndo(restore(step))
    }

    /// Gives objects the states that they had before a step.
    ///
    /// - Returns: The opposite step, which restores the current states.
    private func restore(_ step: UndoJournal.Step) -> UndoJournal.Step {
        // A displaced object counts as saved, because its row may still exist.
        let opposite = step.mapValues {
            UndoJournal.ObjectSnapshot($0.object, state: isDisplaced($0.object) ? .saved : nil)
        }
        applyStates(step)
        // Discard the error of a refused edit. Otherwise the next save would throw the error.
        _ = takeRefusal()
        return opposite
    }

    /// Restores the states that objects had before an edit that failed.
    func rollBack(_ step: UndoJournal.Step) {
        if !step.isEmpty { applyStates(step) }
    }

    private func applyStates(_ step: UndoJournal.Step) {
        revision.advance()
        // First remove objects, to make room for the objects that they have displaced.
        for snapshot in step.values.filter({ $0.state == .gone }) + step.values.filter({ $0.state != .gone }) {
            let object = snapshot.object
            let newest = newestRow(of: object)
            object.replaceState(snapshot.state, snapshot.row, saved: snapshot.saved)
            newestSavedRows[LinkEnd(object)] = snapshot.hasBase ? newest : nil
            applyNewestRow(object)
            updateRegistration(object, bindings[object.layout.index])
        }
        related.removeAll()
        recordEdits(step.values.map(\.object))
    }

    /// Ends the edits of objects that have their saved values again. These objects then follow other saves.
    ///
    /// - Complexity: O(n) in the number of the objects. The number of edited objects does not matter.
    func endUnchangedEdits(_ objects: some Sequence<ManagedObject>) {
        var hasNewerRows = false
        for object in objects where object.state == .edited && !object.hasEdits {
            object.endEdits()
            if newestSavedRows[LinkEnd(object)] != nil { hasNewerRows = true }
            applyNewestRow(object)
            updateRegistration(object, bindings[object.layout.index])
            hasSettledObjects = true
        }
        // Another save may have changed links of these objects. If there are no newer rows, the cached links are still valid.
        if hasNewerRows { related.removeAll() }
    }

    /// Removes the objects whose edits have ended from the lists of edited objects. Must be called before the lists of a binding
    /// are used, and before such an object is edited again.
    func removeSettledObjects() {
        if hasSettledObjects { recordEdits([]) }
    }

    /// Registers an object that exists, and unregisters an object that is gone.
    ///
    /// While a new object is deleted, another program can insert a row with the same key, and the draft can register an object of this
    /// row. When the new object exists again, it displaces the other object, until the new object is gone or is saved with another key.
    func updateRegistration(_ object: ManagedObject, _ binding: EntityBinding) {
        object.checkedConstraint = -1
        let registered = binding.objects[object.key]
        if object.state == .gone {
            guard registered === object else { return }
            binding.objects.remove(object.key)
            return restoreDisplaced(LinkEnd(object))
        }
        if registered !== object {
            if let registered {
                if registered.isInserted { return displace(object) }
                displace(registered)
                binding.objects.remove(object.key)
            }
            binding.objects.insert(object)
        }
        binding.index(object)
    }

    private func isDisplaced(_ object: ManagedObject) -> Bool { displaced[LinkEnd(object)] === object }

    private func displace(_ object: ManagedObject) {
        if !object.isInserted {
            displaced[LinkEnd(object)] = object
            newestSavedRows[LinkEnd(object)] = nil
        }
        object.endEdits()
        object.markGone()
    }

    /// Registers a displaced object again, after the new object with the same key is gone. Reads the object's row, because the
    /// draft has not followed the saves of this row meanwhile.
    func restoreDisplaced(_ end: LinkEnd) {
        let binding = bindings[end.entity]
        guard let object = displaced.removeValue(forKey: end), binding.objects[end.key] == nil else { return }
        var found = (row: Optional(object.row), asOf: object.asOf)
        do throws(DataSourceError) {
            try source.forEachRow(entity: end.entity, keys: [end.key]) { _, row, asOf in found = (row, asOf) }
        } catch {
            mustReload = true
        }
        guard let row = found.row else { return }
        object.revive(row, asOf: found.asOf)
        updateRegistration(object, binding)
    }

    /// Updates the set of edited objects.
    ///
    /// - Parameter others: Objects that might have become edited.
    func recordEdits(_ others: [ManagedObject]) {
        hasSettledObjects = false
        visitedEditCount += changed.count + others.count
        var seen: Set<ObjectIdentifier> = []
        changed.replaceAll(
            with: (changed + others.sorted { $0.key < $1.key }).filter {
                $0.hasChanges && seen.insert(ObjectIdentifier($0)).inserted
            })
        let edited = Dictionary(grouping: changed, by: \.layout.index)
        for binding in bindings where binding.hasEdits || edited[binding.layout.index] != nil {
            binding.setEdits(edited[binding.layout.index] ?? [])
        }
    }
}
