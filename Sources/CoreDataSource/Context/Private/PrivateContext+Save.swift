internal import RowStore

/// The change set of a context's edits.
extension PrivateContext {
    /// Validates the edits, and returns their change set. The context forgets edits that have changed no value, and otherwise
    /// stays unchanged.
    ///
    /// - Throws: The error of a refused edit; `storeReadOnly`; the errors of validation.
    func collectChanges() throws(DataSourceError) -> ChangeSet {
        if let refusal { throw refusal }
        if stack.root.store.isReadOnly, needsWriting { throw DataSourceError.storeReadOnly }
        // Throw now. The store would refuse the save later, together with the saves that may depend on this save.
        for change in scopeChanges { try change.check() }
        var entities: [EntityChanges?] = Array(repeating: nil, count: bindings.count)
        var (failures, duplicates): ([DataSourceError], Set<UniqueValues>) = ([], [])
        if bindings.contains(where: { !$0.derivations.isEmpty }) {
            // Derive all values first, because uniqueness depends on the values of all objects.
            for object in changed where object.isInserted || object.isUpdated && object.hasEdits { derive(object) }
        }
        let absent = try absentUniqueValues()
        for object in changed {
            let entity = object.layout.index
            if entities[entity] == nil { entities[entity] = EntityChanges(entity: entity) }
            switch object.state {
            case .inserted:
                object.row.compact(object.layout)
                try validate(object, absent: absent, &failures, &duplicates)
                entities[entity]?.inserted.append(StoredRow(key: object.key, row: object.row))
            case .edited:
                guard let saved = object.saved else { continue }
                let columns = object.row.columnsChanged(since: saved, object.layout)
                if columns.isEmpty {
                    // No value has changed. Use the saved row, to release the space that the edits used.
                    object.row = saved
                    continue
                }
                object.row.compact(object.layout)
                try validate(object, absent: absent, &failures, &duplicates)
                entities[entity]?.updated.append(
                    UpdatedRow(key: object.key, row: object.row, previous: saved, columns: columns))
            case .deleted:
                entities[entity]?.deleted.append(StoredRow(key: object.key, row: object.saved ?? object.row))
            case .saved, .gone: continue
            }
        }
        try throwFailures(failures)
        var changes = ChangeSet(entities: entities.compactMap { $0 }.filter { !$0.isEmpty })
        for rows in bulkChanges { changes.add(rows) }
        return changes
    }

    /// Whether the store would have to write anything for the edits.
    private var needsWriting: Bool {
        !changed.isEmpty || !bulkChanges.isEmpty || !scopeChanges.isEmpty || passesStep
    }

    /// Returns the changes of scopes. The batch may store a list that the server has sent. If a delete rule or a hook has deleted
    /// an object of that list, the stored objects no longer match the entity tag and the cursor of the list, so the store keeps
    /// neither. The call also clears ``listedObjects``.
    ///
    /// The server may still have an evicted object. So the store forgets that the object was requested, and the next look-up
    /// requests it again. The store also forgets the request for an object that delete rules have deleted because of the
    /// eviction, but not for an object that was deleted before the eviction.
    ///
    /// - Parameter changes: The changes of the whole batch.
    func scopeChanges(savedWith changes: ChangeSet) -> [ScopeChange] {
        let listChanges = listChanges(savedWith: changes)
        guard let deletedBeforeEviction else { return listChanges }
        let forgotten = ObjectScope.forgetting(
            changes, stack.layout,
            unless: { deletedBeforeEviction.contains(LinkEnd(entity: $0, key: $1)) })
        return forgotten + listChanges
    }

    private func listChanges(savedWith changes: ChangeSet) -> [ScopeChange] {
        if scopeChanges.isEmpty || listedObjects.isEmpty { return scopeChanges }
        defer { listedObjects = [] }
        let deleted = Set(changes.entities.lazy.flatMap(\.deletedEnds))
        guard listedObjects.contains(where: { $0.isDeleted || deleted.contains(LinkEnd($0)) }) else {
            return scopeChanges
        }
        return scopeChanges.map { change in
            var change = change
            if case .loaded(_, _, isComplete: true) = change.event {
                change.event = .loaded(entityTag: nil, cursor: nil, isComplete: true)
            }
            return change
        }
    }

    /// Marks all changes as saved.
    func didSave(_ number: SaveNumber) {
        for object in changed { bindings[object.layout.index].didSave(object, asOf: number) }
        if let last = changed.last {
            let tail = last.row.byteCount / 8 - RowSnapshot.headWords(last.row.columnCount)
            bindings[last.layout.index].spareWords = max(8, min(tail + tail / 4, 512))
        }
        changed.removeAll()
        didSaveBulkChanges(number)
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

    /// - Parameters:
    ///   - absent: Values that no stored row has.
    ///   - duplicates: Values that were already reported as duplicates.
    private func validate(
        _ object: ManagedObject, absent: AbsentUniqueValues, _ failures: inout [DataSourceError],
        _ duplicates: inout Set<UniqueValues>
    ) throws(DataSourceError) {
        let known = failures.count
        checkRules(object.row, bindings[object.layout.index], &failures)
        for constraint in object.layout.constraints.indices where object.checkedConstraint != Int32(constraint) {
            if try isUnique(object, constraint, absent: absent) { continue }
            // Two objects have the same values, but report a duplicate only once.
            if duplicates.insert(UniqueValues(object.row, object.layout, constraint)).inserted {
                failures.append(notUnique(object, constraint))
            }
        }
        if failures.count > known { name(object, in: &failures[known...]) }
        try throwIfErrorLimitReached(failures)
    }

    /// Adds the name of the object to the messages of errors.
    private func name(_ object: ManagedObject, in failures: inout ArraySlice<DataSourceError>) {
        let index = object.isInserted ? bindings[object.layout.index].inserted.firstIndex { $0 === object } : nil
        let name = index.map { "new object \($0 + 1) of \(object.layout.name) in this save" }
        for number in failures.indices {
            failures[number].objectIndex = index
            failures[number].message += " The object is \(name ?? object.objectID.description)."
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

/// The numbers of objects that a save has changed.
///
/// ```swift
/// let report = try await contacts.add([
///     Contact(uid: "3", name: "Guan Ping"), Contact(uid: "4", name: "Zhao Yun"),
/// ])
/// print("\(report.inserted) new, \(report.updated) changed")
/// ```
public struct SaveReport: Sendable, Hashable {
    /// The number of inserted objects of all entities. For one added value, a hook can insert several objects, so the number can
    /// be higher than the number of added values.
    public var inserted: Int
    /// The number of objects, of all entities, that have at least one changed value. Changed links in a join table alone do not
    /// count.
    public var updated: Int
    /// The number of deleted objects of all entities, including deletions by delete rules.
    public var deleted: Int
    /// The number of values for which ``DataSource/onAdd(_:in:)`` returned nil.
    public var ignored: Int

    /// Creates a report, for example for a comparison in a test.
    ///
    /// ```swift
    /// #expect(try await contacts.add(list) == SaveReport(inserted: 2))
    /// ```
    public init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0, ignored: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.ignored = ignored
    }

    /// Counts the objects of a change set. Pair rows of links do not count as objects.
    init(_ changes: ChangeSet, _ layout: ModelLayout) {
        let entities = changes.entities.lazy.filter { layout.entities[$0.entity].links == nil }
        self.init(
            inserted: entities.reduce(0) { $0 + $1.inserted.count },
            updated: entities.reduce(0) { $0 + $1.updated.count },
            deleted: entities.reduce(0) { $0 + $1.deleted.count })
    }
}

extension SaveReport: CustomStringConvertible {
    /// The counts that are not 0, for a log: `2 inserted, 1 deleted`; `no changes` if all counts are 0.
    public var description: String {
        let counts = [(inserted, "inserted"), (updated, "updated"), (deleted, "deleted"), (ignored, "ignored")]
        let words = counts.filter { $0.0 != 0 }.map { "\($0) \($1)" }
        return words.isEmpty ? "no changes" : words.joined(separator: ", ")
    }
}
