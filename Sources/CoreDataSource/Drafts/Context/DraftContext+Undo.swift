internal import RowStore

/// Moving between the steps of a draft.
extension DraftContext {
    func undo() {
        guard let step = journal.popUndo() else { return }
        journal.pushRedo(restore(step))
    }

    func redo() {
        guard let step = journal.popRedo() else { return }
        journal.pushUndo(restore(step))
    }

    /// Restores objects to their state before a step.
    ///
    /// - Returns: What restores them to their present state.
    private func restore(_ step: UndoJournal.Step) -> UndoJournal.Step {
        let opposite = step.mapValues { UndoJournal.Moment($0.object) }
        put(step)
        // What was refused is gone with the step.
        _ = takeRefusal()
        return opposite
    }

    /// Takes back an edit that could not be finished.
    func takeBack(_ step: UndoJournal.Step) {
        if !step.isEmpty { put(step) }
    }

    private func put(_ step: UndoJournal.Step) {
        for (key, moment) in step {
            let object = moment.object
            let newest = newestRow(of: object)
            object.row = moment.row
            object.saved = moment.saved
            object.state = moment.state
            missed[key] = moment.hasBase ? newest : nil
            catchUp(object)
            place(object, bindings[object.layout.index], key)
        }
        related.removeAll()
        noteEdits(step.values.map(\.object))
    }

    /// An edit has ended: objects that are again as they were saved are not edited any more, and follow other saves.
    func settle(_ objects: some Sequence<ManagedObject>) {
        var settled: [ManagedObject] = []
        for object in objects where object.state == .edited && !object.hasEdits {
            if let saved = object.saved { object.row = saved }
            object.saved = nil
            object.state = .saved
            catchUp(object)
            place(object, bindings[object.layout.index], object.key)
            settled.append(object)
        }
        if settled.isEmpty { return }
        related.removeAll()
        noteEdits([])
    }

    /// Registers an object if it exists.
    func place(_ object: ManagedObject, _ binding: EntityBinding, _ key: Int64) {
        object.checkedConstraint = -1
        let isRegistered = binding.objects[key] != nil
        if object.state == .gone {
            if isRegistered { binding.objects.remove(key) }
        } else {
            if !isRegistered { binding.objects.insert(object) }
            binding.index(object)
        }
    }

    /// Notes again which objects are edited.
    ///
    /// - Parameter others: Objects that may be edited now and were not before.
    func noteEdits(_ others: [ManagedObject]) {
        var seen: Set<Int64> = []
        changed.set(
            (changed + others.sorted { $0.key < $1.key }).filter { $0.hasChanges && seen.insert($0.key).inserted })
        let edited = Dictionary(grouping: changed, by: \.layout.index)
        for binding in bindings where binding.hasEdits || edited[binding.layout.index] != nil {
            binding.setEdits(edited[binding.layout.index] ?? [])
        }
    }
}
