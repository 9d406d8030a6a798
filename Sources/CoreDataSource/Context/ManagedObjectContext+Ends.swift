internal import RowStore

/// Taking back, and forgetting.
extension ManagedObjectContext {
    /// Takes back everything since the last save.
    ///
    /// - Parameter isEnd: Whether the batch ends. If it continues, what it knows stays registered.
    func rollback(isEnd: Bool = true) {
        for object in changed {
            if object.state == .inserted { bindings[object.layout.index].objects.remove(object.key) }
            object.endEdits()
            guard object.state == .saved else { continue }
            if hasValueIndexes { bindings[object.layout.index].noteValues(of: object) }
            // Only its edited values may be in the unique indexes.
            let binding = bindings[object.layout.index]
            if binding.isOwned { binding.indexLater(object) }
        }
        for binding in bindings where binding.hasEdits { binding.endBatch() }
        changed.removeAll()
        noted.removeAll()
        related.removeAll()
        forgetDeletions()
        forgetRefusal()
        if isEnd { trim() }
    }

    /// The bytes that registered objects of owned entities use.
    var registeredBytes: Int { bindings.reduce(0) { $0 + $1.registeredBytes } }

    /// Forgets cached objects beyond the limit, and objects that another data source may change.
    func trim() {
        related.removeAll()
        for binding in bindings {
            binding.endBatch()
            guard binding.objects.count > 0 else { continue }
            if !binding.isOwned || binding.isIndexStale { binding.forgetObjects() }
        }
        var bytes = registeredBytes
        // The largest entities first, so that entities with few objects keep theirs.
        while bytes > stack.registeredObjectByteLimit,
            let largest = bindings.max(by: { $0.registeredBytes < $1.registeredBytes })
        {
            bytes -= largest.registeredBytes
            largest.forgetObjects()
        }
        hasValueIndexes = bindings.contains { $0.followsValues }
    }

    /// Forgets everything, because the stored rows have changed.
    func forgetAll() {
        rollback()
        for entity in bindings.indices { bindings[entity].forgetObjects() }
    }
}

extension ManagedObject {
    /// Restores the state of the last save, when the context forgets what was changed.
    fileprivate func endEdits() {
        switch state {
        case .inserted: state = .gone
        case .edited, .deleted:
            if let saved { row = saved }
            saved = nil
            state = .saved
        case .saved, .gone: break
        }
    }
}
