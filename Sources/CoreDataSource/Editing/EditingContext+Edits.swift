internal import RowStore

/// Inserting and deleting by entity numbers.
extension EditingContext {
    /// Makes a new object with the default values of the model.
    ///
    /// - Parameter key: The object's key; nil for a new one.
    func insert(entity: Int, key: Int64? = nil) throws(DataSourceError) -> ManagedObject {
        checkInBatch()
        let layout = bindings[entity].layout
        if layout.isAbstract {
            throw DataSourceError(
                .abstractEntity,
                "\(layout.name) is abstract and cannot have objects. Insert an object of a sub-entity.",
                entityName: layout.name)
        }
        try checkOwned(entity)
        let row = RowSnapshot(copying: bindings[entity].template, spareWords: bindings[entity].spareWords)
        let key = if let key { key } else { try stack.keys.next() }
        let object = register(StoredRow(key: key, row: row), bindings[entity], .inserted, asOf: 0)
        changed.insert(object)
        bindings[entity].noteInsert(object)
        didInsert(object)
        return object
    }

    func delete(owned object: ManagedObject) throws(DataSourceError) {
        precondition(
            object.context === self,
            "An object of another context was passed to delete(_:). Look the object up in this context by its objectID first."
        )
        checkInBatch()
        try checkOwned(object.layout.index)
        try editingTogether { () throws(DataSourceError) in
            let (isFirst, wasInserted) = (!object.isDeleted, object.isInserted)
            willDelete(object)
            forgetEnds(of: object)
            noteDeletion(of: object)
            if isFirst { try didDelete(object, wasInserted: wasInserted) }
        }
    }

    private func noteDeletion(of object: ManagedObject) {
        let binding = bindings[object.layout.index]
        switch object.state {
        case .inserted:
            object.state = .gone
            binding.objects.remove(object.key)
            binding.noteDelete(wasInserted: true)
        case .saved:
            changed.insert(object)
            binding.noteTouch(object)
            object.state = .deleted
            binding.noteDelete(wasInserted: false)
        case .edited:
            object.state = .deleted
            binding.noteDelete(wasInserted: false)
        case .deleted, .gone: break
        }
        binding.noteMatch(of: object)
    }
}
