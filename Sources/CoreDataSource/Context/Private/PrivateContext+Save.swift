internal import RowStore

/// Turning the edits of a context into a change set.
extension PrivateContext {
    /// What a save would change; throws if it must not be saved. The context does not change, except that edits which changed
    /// nothing are forgotten.
    func collectChanges() throws(DataSourceError) -> ChangeSet {
        if let refusal { throw refusal }
        if stack.root.store.isReadOnly, !changed.isEmpty || !noted.isEmpty { throw DataSourceError.storeReadOnly }
        var entities: [EntityChanges?] = Array(repeating: nil, count: bindings.count)
        var failures: [DataSourceError] = []
        var duplicates: Set<UniqueValues> = []
        if bindings.contains(where: { !$0.derivations.isEmpty }) {
            // All of them first, because whether a value is unique depends on the values of the others.
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
                    // The same values, without the space that the edits used.
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
        var changes = ChangeSet(entities: entities.compactMap { $0 }.filter { !$0.isEmpty })
        for rows in noted { changes.add(rows) }
        return changes
    }

    /// Ends the save of that number: its changes count as saved now.
    func didSave(_ number: Int64) {
        for object in changed { bindings[object.layout.index].didSave(object, asOf: number) }
        if let last = changed.last {
            let tail = last.row.byteCount / 8 - RowSnapshot.headWords(last.row.columnCount)
            bindings[last.layout.index].spareWords = max(8, min(tail + tail / 4, 512))
        }
        changed.removeAll()
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

    /// - Parameter duplicates: Values that are already reported as not unique.
    private func validate(
        _ object: ManagedObject, _ failures: inout [DataSourceError], _ duplicates: inout Set<UniqueValues>
    ) throws(DataSourceError) {
        let known = failures.count
        checkRules(object.row, bindings[object.layout.index], &failures)
        for constraint in object.layout.constraints.indices where object.checkedConstraint != Int32(constraint) {
            if try isUnique(object, constraint) { continue }
            // Both objects of a pair have the values.
            if duplicates.insert(UniqueValues(object, constraint)).inserted {
                failures.append(notUnique(object, constraint))
            }
        }
        if failures.count > known { name(object, in: &failures[known...]) }
        try throwIfMany(failures)
    }

    /// Adds to errors which object they are about.
    private func name(_ object: ManagedObject, in failures: inout ArraySlice<DataSourceError>) {
        let index = object.isInserted ? bindings[object.layout.index].inserted.firstIndex { $0 === object } : nil
        let name = index.map { "the new \(object.layout.name) number \($0 + 1) of this save" }
        for place in failures.indices {
            failures[place].objectIndex = index
            failures[place].message += " It is \(name ?? object.objectID.description)."
        }
    }

    func hasSharedConstraints() -> Bool {
        bindings.contains { binding in
            binding.isOwned
                && binding.layout.constraintOwners.contains { owner in
                    bindings[owner].layout.concreteFamily.contains { !bindings[$0].isOwned }
                }
        }
    }
}

/// The values of an object in the columns of a uniqueness constraint.
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

/// What a save changed.
///
/// ```swift
/// let report = try await contacts.add([
///     Contact(uid: "3", name: "Guan Ping"), Contact(uid: "4", name: "Zhao Yun"),
/// ])
/// print("\(report.inserted) new, \(report.updated) changed")
/// ```
public struct SaveReport: Sendable, Hashable {
    /// Objects that are new.
    public var inserted: Int
    /// Objects that have at least one value that differs from before. An object of which only links in a join
    /// table changed is not counted.
    public var updated: Int
    /// Objects that are gone.
    public var deleted: Int
    /// Values for which the hook returned nil.
    public var ignored: Int

    /// Makes a report, for example to compare with in a test.
    public init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0, ignored: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.ignored = ignored
    }

    /// Links with rows of their own do not count as objects.
    init(_ changes: ChangeSet, _ layout: ModelLayout) {
        let entities = changes.entities.lazy.filter { layout.entities[$0.entity].links == nil }
        self.init(
            inserted: entities.reduce(0) { $0 + $1.inserted.count },
            updated: entities.reduce(0) { $0 + $1.updated.count },
            deleted: entities.reduce(0) { $0 + $1.deleted.count })
    }
}
