internal import RowStore

/// Turning the edits of a context into a change set.
extension PrivateContext {
    /// What a save would change; throws if it must not be saved. Nothing in the context is different afterwards, but that
    /// edits which changed nothing are forgotten.
    func collectChanges() throws(DataSourceError) -> ChangeSet {
        if let refusal { throw refusal }
        if stack.root.store.isReadOnly, !changed.isEmpty || !noted.isEmpty { throw DataSourceError.storeReadOnly }
        var entities: [EntityChanges?] = Array(repeating: nil, count: bindings.count)
        var failures: [DataSourceError] = []
        var duplicates: Set<UniqueValues> = []
        if bindings.contains(where: { !$0.derivations.isEmpty }) {
            // All of them first: whether a value is unique depends on the others' values.
            for object in changed where object.isInserted || object.isUpdated && object.hasEdits { derive(object) }
        }
        for object in changed {
            let entity = object.layout.index
            if entities[entity] == nil { entities[entity] = EntityChanges(entity: entity) }
            switch object.state {
            case .inserted:
                object.row.compact(object.layout)
                try validate(object, &failures, &duplicates)
                entities[entity]?.inserted.append(StoredRow(key: object.key, row: object.row))
            case .edited:
                guard let saved = object.saved else { continue }
                let columns = object.row.columnsChanged(since: saved, object.layout)
                if columns.isEmpty {
                    // The same values, without the room that the edits took.
                    object.row = saved
                    continue
                }
                object.row.compact(object.layout)
                try validate(object, &failures, &duplicates)
                entities[entity]?.updated.append(
                    UpdatedRow(key: object.key, row: object.row, previous: saved, columns: columns))
            case .deleted:
                entities[entity]?.deleted.append(StoredRow(key: object.key, row: object.saved ?? object.row))
            case .saved, .gone: continue
            }
        }
        try throwFailures(failures)
        return ChangeSet(entities: entities.compactMap { $0 }.filter { !$0.isEmpty } + noted)
    }

    /// Ends the save of that number: what was changed is as saved now.
    func didSave(_ number: Int64) {
        for object in changed {
            let binding = bindings[object.layout.index]
            switch object.state {
            case .inserted, .edited:
                let before = object.saved.map { $0.byteCount + EntityBinding.objectBytes } ?? 0
                if binding.isOwned {
                    binding.registeredBytes += object.row.byteCount + EntityBinding.objectBytes - before
                }
                object.state = .saved
                object.saved = nil
                object.asOf = number
            case .deleted:
                object.state = .gone
                if binding.isOwned {
                    binding.registeredBytes -= object.savedRow.byteCount + EntityBinding.objectBytes
                }
                binding.objects.remove(object.key)
            case .saved, .gone: break
            }
        }
        if let last = changed.last {
            let tail = last.row.byteCount / 8 - RowSnapshot.headWords(last.row.columnCount)
            bindings[last.layout.index].spareWords = max(8, min(tail + tail / 4, 512))
        }
        changed.removeAll(keepingCapacity: changed.count < 1024)
        didSaveNoted(number)
        trim()
    }

    private func derive(_ object: ManagedObject) {
        let entity = object.layout.index
        for derivation in bindings[entity].derivations {
            derivation.apply(to: &object.row, object.layout)
            if object.layout.uniqueColumns.contains(derivation.column) {
                object.checkedConstraint = -1
                indexUniqueValue(of: object, derivation.column)
            }
            if hasValueIndexes { indexValue(of: object, derivation.column) }
        }
    }

    // MARK: Validation

    /// - Parameter duplicates: The values of which it is known, and among the failures, that they are not unique.
    private func validate(
        _ object: ManagedObject, _ failures: inout [DataSourceError], _ duplicates: inout Set<UniqueValues>
    ) throws(DataSourceError) {
        try checkRules(object.row, bindings[object.layout.index], &failures)
        for constraint in object.layout.constraints.indices where object.checkedConstraint != Int32(constraint) {
            if try isUnique(object, constraint) { continue }
            // Both objects of a pair have the values.
            if duplicates.insert(UniqueValues(object, constraint)).inserted {
                failures.append(notUnique(object, constraint))
            }
        }
        if failures.count >= 100 { try throwFailures(failures) }
    }

    /// Adds what is wrong with the values of a row, whatever other rows there are. Throws once it is much.
    func checkRules(
        _ row: RowSnapshot, _ binding: EntityBinding, _ failures: inout [DataSourceError]
    ) throws(DataSourceError) {
        let broken = binding.rules.failures(row, binding.layout)
        if !broken.isEmpty { failures.append(contentsOf: broken) }
        if row.byteCount > stack.root.store.longestValue { failures.append(contentsOf: tooLarge(row, binding.layout)) }
        if failures.count >= 100 { try throwFailures(failures) }
    }

    private func isUnique(_ object: ManagedObject, _ constraint: Int) throws(DataSourceError) -> Bool {
        let columns = object.layout.constraints[constraint]
        if let saved = object.saved,
            columns.allSatisfy({
                object.row.isEqual(to: saved, column: $0, storage: object.layout.columns[$0].storage)
            })
        {
            return true
        }
        let values = columns.map { object.row.value($0, object.layout.columns[$0].storage) }
        if values.contains(.null) { return true }
        let family = bindings[object.layout.constraintOwners[constraint]].layout.concreteFamily
        for entity in family {
            let binding = binding(editing: entity)
            if binding.find(constraint, values, except: object) != nil { return false }
            if binding.holdsAllRows { continue }
            let (stored, _) = try source.row(
                entity: entity, constraint: constraint, values: values, binding.layout)
            guard let stored, stored.key != object.key else { continue }
            // A registered object of our own was tested by its present values above.
            if !binding.isOwned || binding.objects[stored.key] == nil { return false }
        }
        return true
    }

    /// What is known of an entity by the context that may edit it, if that is one of this save.
    private func binding(editing entity: Int) -> EntityBinding {
        if bindings[entity].isOwned || companions.isEmpty { return bindings[entity] }
        return companions.lazy.map { $0.bindings[entity] }.first(where: \.isOwned) ?? bindings[entity]
    }

    func hasSharedConstraints() -> Bool {
        bindings.contains { binding in
            binding.isOwned
                && binding.layout.constraintOwners.contains { owner in
                    bindings[owner].layout.concreteFamily.contains { !bindings[$0].isOwned }
                }
        }
    }

    /// Whether the values of a constraint can be in objects of this entity only.
    func isOfOneTable(_ object: ManagedObject, _ constraint: Int) -> Bool {
        bindings[object.layout.constraintOwners[constraint]].layout.concreteFamily.count == 1
    }

    private func notUnique(_ object: ManagedObject, _ constraint: Int) -> DataSourceError {
        let names = object.layout.constraints[constraint].map { object.layout.columns[$0].name }
        return DataSourceError(
            .uniquenessViolated,
            "Two objects of \(object.layout.name) would have the same \(names.joined(separator: " and ")). Use findOrInsert to edit the one that is there.",
            entityName: object.layout.name, attributeName: names.count == 1 ? names[0] : nil)
    }

    private func tooLarge(_ row: RowSnapshot, _ layout: EntityLayout) -> [DataSourceError] {
        let limit = stack.root.store.longestValue
        let tooLong = layout.storedColumns.filter { column in
            let storage = layout.columns[column].storage
            return (storage == .text || storage == .blob) && row.withBytes(column) { $0.count > limit }
        }.map { column in
            DataSourceError(
                .valueTooLarge,
                "\(layout.name).\(layout.columns[column].name) is longer than the \(limit) bytes that the store can hold. Keep it in a file and store the path.",
                entityName: layout.name, attributeName: layout.columns[column].name)
        }
        guard tooLong.isEmpty, row.liveByteCount(layout) > limit else { return tooLong }
        // A store that refused it later would refuse every later save with it.
        return [
            DataSourceError(
                .valueTooLarge,
                "The values of one \(layout.name) are together longer than the \(limit) bytes that the store can hold. Keep the largest in a file and store the path.",
                entityName: layout.name)
        ]
    }

    func throwFailures(_ failures: [DataSourceError]) throws(DataSourceError) {
        guard let first = failures.first else { return }
        if failures.count == 1 { throw first }
        var error = first
        error.message = "\(failures.count) rules of the model are broken; the first: \(first.message)"
        error.failures = failures
        throw error
    }
}

/// What an object holds in the columns of a uniqueness constraint.
private struct UniqueValues: Hashable {
    let owner: Int
    let columns: [Int]
    let values: [RowValue]

    init(_ object: ManagedObject, _ constraint: Int) {
        owner = object.layout.constraintOwners[constraint]
        columns = object.layout.constraints[constraint]
        values = columns.map { object.row.value($0, object.layout.columns[$0].storage) }
    }
}

extension ManagedObject {
    /// Whether any value differs from the saved one. Edits that end where they began are none.
    final var hasEdits: Bool {
        saved.map { !row.columnsChanged(since: $0, layout).isEmpty } ?? false
    }
}

extension RowSnapshot {
    /// The columns in which it differs from the row as it was.
    func columnsChanged(since saved: RowSnapshot, _ layout: EntityLayout) -> ColumnSet {
        var columns = ColumnSet()
        for column in layout.columns.indices
        where !isEqual(to: saved, column: column, storage: layout.columns[column].storage) {
            columns.insert(column)
        }
        return columns
    }
}
