internal import RowStore

/// Making objects from rows, once for each row.
extension ManagedObjectContext {
    /// The registered object of that row, or a new one, which is registered.
    func object(_ stored: StoredRow, _ binding: EntityBinding, asOf number: Int64) -> ManagedObject {
        if let object = binding.objects[stored.key] {
            if object.state == .saved { refresh(object, stored.row, asOf: number) }
            return object
        }
        return register(stored, binding, .saved, asOf: number)
    }

    /// The objects of those rows.
    func objects(_ rows: [StoredRow], _ entity: Int, asOf number: Int64) -> [ManagedObject] {
        let binding = bindings[entity]
        binding.objects.reserve(rows.count)
        return rows.map { object($0, binding, asOf: number) }
    }

    func register(
        _ stored: StoredRow, _ binding: EntityBinding, _ state: ObjectState, asOf number: Int64
    ) -> ManagedObject {
        binding.layout.check(stored.row)
        let object = binding.type.make(binding.home, key: stored.key, row: stored.row, state, asOf: number)
        enter(object, binding)
        return object
    }

    @inline(__always)
    private func enter(_ object: ManagedObject, _ binding: EntityBinding) {
        binding.objects.insert(object)
        if hasValueIndexes { binding.noteValues(of: object) }
        if binding.isOwned {
            binding.indexLater(object)
            // One that is inserted counts when it is saved.
            if object.state == .saved { binding.registeredBytes += object.row.byteCount + EntityBinding.objectBytes }
        }
    }
}
