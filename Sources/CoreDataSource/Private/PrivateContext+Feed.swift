internal import RowStore

/// Taking in changes of registered objects by others. Called between two batches only.
extension PrivateContext {
    func take(_ event: FeedEvent) {
        related.removeAll()
        switch event {
        case .changes(let changes):
            for entity in changes.entities { take(entity, asOf: changes.number) }
        case .unknown(let entities):
            for entity in entities ?? Set(bindings.indices) { bindings[entity].forgetObjects() }
        }
    }

    private func take(_ changes: EntityChanges, asOf number: Int64) {
        let binding = bindings[changes.entity]
        for change in changes.updated {
            guard let object = binding.objects[change.key] else { continue }
            if binding.isOwned { binding.registeredBytes += change.row.byteCount - object.row.byteCount }
            object.row = change.row
            object.checkedConstraint = -1
            for constraint in binding.layout.constraints.indices { binding.index(object, constraint) }
            if hasValueIndexes { binding.noteValues(of: object) }
        }
        for change in changes.deleted {
            guard let object = binding.objects[change.key] else { continue }
            object.state = .gone
            if binding.isOwned { binding.registeredBytes -= object.row.byteCount + EntityBinding.objectBytes }
            binding.objects.remove(change.key)
        }
        // They are in the store, but not registered.
        if !changes.inserted.isEmpty { binding.noteUnregisteredRow() }
    }
}
