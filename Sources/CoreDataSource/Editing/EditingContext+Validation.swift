internal import RowStore

/// The rules of the model for the values of one object, and for unique values.
extension EditingContext {
    /// Adds the errors of a row that do not depend on other rows.
    func checkRules(_ row: RowSnapshot, _ binding: EntityBinding, _ failures: inout [DataSourceError]) {
        let broken = binding.rules.failures(row, binding.layout)
        if !broken.isEmpty { failures.append(contentsOf: broken) }
        if row.byteCount > stack.root.store.longestValue { failures.append(contentsOf: tooLarge(row, binding.layout)) }
    }

    /// Throws when there are so many errors that nobody reads more.
    func throwIfMany(_ failures: [DataSourceError]) throws(DataSourceError) {
        if failures.count >= 100 { try throwFailures(failures) }
    }

    func isUnique(_ object: ManagedObject, _ constraint: Int) throws(DataSourceError) -> Bool {
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
                entity: entity, constraint: constraint, values: values, binding.layout, lookupIsolation)
            guard let stored, stored.key != object.key else { continue }
            // A registered object of this save was tested by its present values above. In a draft, others may have changed one
            // that is not edited.
            let registered = binding.isOwned ? binding.objects[stored.key] : nil
            guard let registered, binding.rights == .own || registered.hasChanges else { return false }
        }
        return true
    }

    /// The binding of an entity in the context that may edit it, if that context is part of this save.
    private func binding(editing entity: Int) -> EntityBinding {
        if bindings[entity].isOwned || partners.isEmpty { return bindings[entity] }
        return partners.lazy.map { $0.bindings[entity] }.first(where: \.isOwned) ?? bindings[entity]
    }

    func notUnique(_ object: ManagedObject, _ constraint: Int) -> DataSourceError {
        let names = object.layout.constraints[constraint].map { object.layout.columns[$0].name }
        return DataSourceError(
            .uniquenessViolated,
            "Two objects of \(object.layout.name) would have the same \(names.joined(separator: " and ")). Use findOrInsert to edit the existing object.",
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
                "\(layout.name).\(layout.columns[column].name) is longer than the \(limit) bytes that the store can hold. Keep the data in a file and store its path.",
                entityName: layout.name, attributeName: layout.columns[column].name)
        }
        guard tooLong.isEmpty, row.liveByteCount(layout) > limit else { return tooLong }
        // If the store refused it later, it would also refuse every later save that contains it.
        return [
            DataSourceError(
                .valueTooLarge,
                "The values of one \(layout.name) are together longer than the \(limit) bytes that the store can hold. Keep the largest value in a file and store its path.",
                entityName: layout.name)
        ]
    }

    func throwFailures(_ failures: [DataSourceError]) throws(DataSourceError) {
        guard let first = failures.first else { return }
        if failures.count == 1 { throw first }
        var error = first
        error.message = "\(failures.count) rules of the model are broken. The first one: \(first.message)"
        error.failures = failures
        throw error
    }
}
