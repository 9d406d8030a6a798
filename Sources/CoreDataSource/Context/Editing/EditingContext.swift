internal import QueryLanguage
internal import RowStore

/// A context in which objects are inserted, edited and deleted: the context of a data source or of a draft.
///
/// **Isolation**: the isolation of the context.
public class EditingContext: ManagedObjectContext {
    /// The entities of other data sources whose objects the batch has linked.
    var linkedEntities: Set<Int> = []
    /// Deleted objects whose delete rules have not been applied yet.
    // Safe: no code uses the array while it is being changed.
    @exclusivity(unchecked) final var deletions: [ManagedObject] = []
    /// The entities that the delete rules of the running batch reach; nil outside of a batch, and if the rules reach no other
    /// data source.
    final var batchReach: BatchReach?
    /// The number of link changes in the context.
    var linkEdits = 0

    /// The other contexts whose edits are saved together with the edits of this context.
    var otherEditingContexts: [EditingContext] { [] }

    /// Whether a data source owns the entity. During a batch, data sources that wait for the end of the batch do not count.
    final func isOwnedByAny(_ entity: Int) -> Bool {
        batchReach?.isOwned(entity) ?? stack.tierRegistry.isOwned(entity)
    }

    /// Returns the context that deletes an object: the object's own context if it is part of this save, otherwise this context.
    func editor(of object: ManagedObject) -> EditingContext { self }

    func didInsert(_ object: ManagedObject) {}

    /// Called for an object that is about to be deleted, or is already deleted.
    func willDelete(_ object: ManagedObject) {}

    /// - Parameter wasInserted: Whether the object was never saved.
    func didDelete(_ object: ManagedObject, wasInserted: Bool) throws(DataSourceError) {}

    /// Restores the pair row of a link that was deleted in this context. Returns nil if there is no such row.
    func restoreLink(
        _ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns
    ) throws(DataSourceError) -> ManagedObject? { nil }

    /// Called before the order of an ordered relationship changes, and before a position in the relationship is assigned.
    func willReorder(_ owner: ManagedObject, _ index: Int) throws {}

    /// Runs an edit that changes several objects.
    func withEditGroup<R, Failure>(_ body: () throws(Failure) -> R) throws(Failure) -> R { try body() }

    /// Inserts a new object with the default values of the model.
    ///
    /// ```swift
    /// let contact = try context.insert(ContactEntity.self)
    /// contact.uid = "4"
    /// ```
    ///
    /// The object has its permanent id at once. The save validates its values. In a shared store, an insert may wait until the
    /// store has reserved more keys.
    ///
    /// - Throws: `entityNotOwned`, `abstractEntity`, `unknownEntity`, `keysExhausted`; in a shared store, errors of the store.
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        try typed(insert(entity: entity(of: type), as: type))
    }

    /// Deletes an object. Its values stay readable.
    ///
    /// ```swift
    /// if let contact = try context.object(ContactEntity.self, id: id) {
    ///     context.delete(contact)
    /// }
    /// ```
    ///
    /// The save applies the model's delete rules to related objects. The save throws `entityNotOwned` if the data
    /// source does not own the object, and `deletionDenied` if a rule is Deny. The call traps for an object of a
    /// context that is not part of the save.
    public func delete(_ object: ManagedObject) {
        let context = editor(of: object)
        do throws(DataSourceError) { try context.delete(owned: object) } catch { context.refuse(error) }
    }

    /// Finds the object with the given value of an attribute, or inserts a new object with the value.
    ///
    /// ```swift
    /// let contact = try context.findOrInsert(
    ///     ContactEntity.self, where: \.uid, equals: "1")
    /// contact.name = "Guan Yu"
    /// ```
    ///
    /// **Ordering**: without a uniqueness constraint, several objects may have the value. The result is the first in the order
    /// of creation.
    ///
    /// **Complexity**: with a uniqueness constraint, the look-up of a registered object takes constant time and reads nothing
    /// from the store. Other look-ups may query the store. Without an index, such a query may read every row of the entity, and
    /// ``EntityDataSource/diagnostics`` reports the look-up.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - keyPath: An attribute, preferably with a uniqueness constraint.
    ///   - value: The value to find. A new object gets the value.
    /// - Throws: `entityNotOwned`, `unknownAttribute`, `abstractEntity`, `keysExhausted`; errors of the store.
    public func findOrInsert<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object {
        try reading { () throws(DataSourceError) in
            let entity = try entity(of: type)
            let column = try column(keyPath, of: type, bindings[entity].layout)
            try checkMayChange(entity)
            let stored = value.storedValue.value
            if let found = try find(entity: entity, column: column, value: stored) { return try typed(found) }
            return try typed(insert(entity: entity, as: type, column: column, value: stored))
        }
    }

    /// Inserts an object with a value. The caller has found no object with this value.
    func insert(
        entity: Int, as type: ManagedObject.Type?, column: Int, value: RowValue
    ) throws(DataSourceError) -> ManagedObject {
        let object = try insert(entity: entity, as: type)
        object.setValue(value, column)
        if let constraint = object.layout.constraint(onColumn: column), coversOneEntity(object, constraint) {
            object.checkedConstraint = Int32(constraint)
        }
        return object
    }

    /// Whether links of to-many relationships are cached. If so, a change of links must forget the cached links.
    var hasCachedEnds: Bool { related.hasCachedEnds || otherEditingContexts.contains { $0.related.hasCachedEnds } }

    /// Forgets the cached links of objects, because links to or from these objects have changed.
    func forgetEnds(of keys: [Int64]) {
        related.removeEnds(of: keys)
        for partner in otherEditingContexts { partner.related.removeEnds(of: keys) }
    }

    /// Whether a uniqueness constraint covers only one entity: the entity of the object.
    func coversOneEntity(_ object: ManagedObject, _ constraint: Int) -> Bool {
        bindings[object.layout.constraintOwners[constraint]].layout.concreteFamily.count == 1
    }
}

/// Inserting and deleting by entity indexes.
extension EditingContext {
    /// - Parameters:
    ///   - type: The class that the app wants to insert, for error messages; nil if the app has named no class.
    ///   - key: A key that was in use before the batch: the key of a deleted object, or of a new object of a
    ///     draft; nil for a new key.
    func insert(
        entity: Int, as type: ManagedObject.Type? = nil, key: Int64? = nil
    ) throws(DataSourceError) -> ManagedObject {
        checkInBatch()
        let layout = bindings[entity].layout
        if layout.isAbstract {
            let problem = type.flatMap { DeclaredEntity.missingOverride(of: $0) }
            throw DataSourceError(
                .abstractEntity,
                "\(layout.name) is abstract and cannot have objects. \(problem ?? "Insert an object of a sub-entity.")",
                entityName: layout.name)
        }
        try checkOwned(entity)
        let row = RowSnapshot(copying: bindings[entity].template, spareWords: bindings[entity].spareWords)
        let isNew = key == nil
        if !isNew { hasGivenKeys = true }
        let key = if let key { key } else { try newKey(entity) }
        let object = register(StoredRow(key: key, row: row), bindings[entity], .inserted, asOf: .beforeFirst)
        changed.insert(object)
        bindings[entity].recordInsert(object)
        didInsert(object)
        if isNew { object.setInitialValues() }
        return object
    }

    /// Returns a key that no registered object has. The next key may be in use already: another program may have stored a row
    /// with this key, and this context may have read that row.
    private func newKey(_ entity: Int) throws(DataSourceError) -> Int64 {
        while true {
            let key = try stack.keys.next()
            if bindings[entity].objects[key] == nil { return key }
        }
    }

    func delete(owned object: ManagedObject) throws(DataSourceError) {
        precondition(
            object.context === self,
            "An object of another context was passed to delete(_:). Look the object up in this context by its objectID first."
        )
        checkInBatch()
        try checkOwned(object.layout.index)
        try withEditGroup { () throws(DataSourceError) in
            let (isFirst, wasInserted) = (!object.isDeleted, object.isInserted)
            willDelete(object)
            forgetEnds(of: object)
            if object.state == .saved { changed.insert(object) }
            bindings[object.layout.index].delete(object)
            if isFirst { try didDelete(object, wasInserted: wasInserted) }
        }
    }

}

extension ManagedObject {
    /// Whether a link column of this object leads to the other object.
    final func leads(to other: ManagedObject, _ column: LinkColumns) -> Bool {
        row.end(column, [other.layout.index])?.key == other.key
    }

    /// Whether this object is a pair row that links the two objects.
    final func links(_ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns) -> Bool {
        leads(to: first, pairs.own) && leads(to: second, pairs.other)
    }

    /// Sets the destination of a link column. Does nothing if the link already exists and `position` is nil.
    final func setLink(_ column: LinkColumns, _ other: ManagedObject?, position: Int64? = nil) {
        let before = row.isNull(column.key) ? nil : row.integer(column.key)
        let leadsThere = if let other { leads(to: other, column) } else { before == nil }
        if leadsThere && position == nil { return }
        setValue(other.map { .integer($0.key) } ?? .null, column.key)
        if let entity = column.entity { setValue(other.map { .integer(Int64($0.layout.index)) } ?? .null, entity) }
        if let positionColumn = column.position { setValue(position.map { .integer($0) } ?? .null, positionColumn) }
        guard let context = context as? EditingContext else { return }
        context.linkEdits += 1
        if context.hasCachedEnds { context.forgetEnds(of: [key, before, other?.key].compactMap(\.self)) }
    }
}

extension EditingContext {
    /// Forgets the cached links of a deleted object, and the cached links of its destinations.
    func forgetEnds(of object: ManagedObject) {
        guard hasCachedEnds else { return }
        let columns = stack.graph.linkColumns[object.layout.index]
        guard !columns.isEmpty || !object.layout.relationships.isEmpty else { return }
        forgetEnds(of: [object.key] + columns.filter { !object.row.isNull($0) }.map { object.row.integer($0) })
    }

    /// Records, in all contexts of the batch, the position of the last object of an ordered relationship.
    func recordLastPosition(_ position: Int64, _ key: EntityRelationship, _ owner: Int64) {
        for context in [self] + otherEditingContexts { context.related.setLastPosition(position, key, owner) }
    }

    /// The highest position among the objects of an owner's relationship; nil if there are none.
    func lastPosition(
        _ relationship: RelationshipLayout, _ owner: ManagedObject, _ column: Int
    ) throws -> Int64? {
        var last: Int64?
        let key = ValueList([.integer(owner.key)], .natural)
        for source in relationship.linkSources where source.position == column {
            let query = RowQuery(
                entity: source.layout, predicate: source.ownerColumns.leads(to: owner.layout.index, key),
                sort: [SortKey(column: column, isAscending: false)], limit: 1)
            let context = editor(ofEntity: source.layout)
            let rows = try context.reading { () throws(DataSourceError) in
                try context.linkRows(query, columns: [column], isStoreRead: !owner.hasOnlyUnsavedLinks)
            }
            if let row = rows.first?.row, !row.isNull(column) { last = max(last ?? .min, row.integer(column)) }
        }
        return last
    }
}

/// The model's rules for the values of one object, and for unique values.
extension EditingContext {
    /// Checks a row by the rules that do not depend on other rows, and adds the errors.
    func checkRules(_ row: RowSnapshot, _ binding: EntityBinding, _ failures: inout [DataSourceError]) {
        let broken = binding.rules.failures(row, binding.layout)
        if !broken.isEmpty { failures.append(contentsOf: broken) }
        if row.byteCount > stack.root.store.longestValue { failures.append(contentsOf: tooLarge(row, binding.layout)) }
    }

    /// Throws if there are a hundred errors or more, because nobody reads more errors.
    func throwIfErrorLimitReached(_ failures: [DataSourceError]) throws(DataSourceError) {
        if failures.count >= 100 { try throwFailures(failures) }
    }

    /// - Parameter absent: Values that no stored row has.
    func isUnique(
        _ object: ManagedObject, _ constraint: Int, absent: AbsentUniqueValues = AbsentUniqueValues()
    ) throws(DataSourceError) -> Bool {
        guard let values = newUniqueValues(of: object, constraint) else { return true }
        for entity in uniqueFamily(of: object, constraint) {
            let binding = binding(editing: entity)
            if binding.find(constraint, values, except: object) != nil { return false }
            if binding.hasAllRows || absent.contains(entity, constraint: constraint, values) { continue }
            let (stored, _) = try source.row(
                entity: entity, constraint: constraint, values: values, binding.layout, lookupIsolation)
            guard let stored, stored.key != object.key else { continue }
            // The stored row of an object in this save may be outdated. The object's current values are in the unique
            // index, which was searched above. But if an object of a draft has no edits, another context may have
            // changed the object, so its stored row counts.
            let registered = binding.isOwned ? binding.objects[stored.key] : nil
            guard let registered, binding.rights == .own || registered.hasChanges else { return false }
        }
        return true
    }

    /// Returns the object's values in the columns of a uniqueness constraint. Returns nil if the values have not
    /// changed since the last save. Returns nil also if one of the values is null, because such values need not be
    /// unique.
    func newUniqueValues(of object: ManagedObject, _ constraint: Int) -> [RowValue]? {
        let columns = object.layout.constraints[constraint]
        if let saved = object.saved,
            columns.allSatisfy({
                object.row.isEqual(to: saved, column: $0, storage: object.layout.columns[$0].storage)
            })
        {
            return nil
        }
        let values = columns.map { object.row.value($0, object.layout.columns[$0].storage) }
        return values.contains(.null) ? nil : values
    }

    /// The entities that a uniqueness constraint of the object covers.
    func uniqueFamily(of object: ManagedObject, _ constraint: Int) -> [Int] {
        bindings[object.layout.constraintOwners[constraint]].layout.concreteFamily
    }

    /// Returns the binding of an entity in the context of this save that may edit the entity. If there is no such context,
    /// returns the binding in this context.
    private func binding(editing entity: Int) -> EntityBinding {
        if bindings[entity].isOwned || otherEditingContexts.isEmpty { return bindings[entity] }
        return otherEditingContexts.lazy.map { $0.bindings[entity] }.first(where: \.isOwned) ?? bindings[entity]
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
        // Refuse the row here, because the store would refuse every later save that contains the row.
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
        error.message = "\(failures.count) rules of the model are broken. The first error: \(first.message)"
        error.failures = failures
        throw error
    }
}

extension ManagedObject {
    /// Runs the body, and makes all its edits one undo step of the object's draft. If the object is not in a draft, the call only
    /// runs the body.
    ///
    /// ```swift
    /// draft.object.editTogether {
    ///     draft.object.name = "Zhang Yide"
    ///     draft.object.phone = "120"
    /// }
    /// draft.undo()
    /// ```
    ///
    /// Generated code calls this function to set all parts of a composite.
    ///
    /// **Isolation**: the isolation of the object's context.
    public final func editTogether(_ body: () -> Void) {
        guard editing == .inDraft, let context = context as? EditingContext else { return body() }
        context.withEditGroup(body)
    }
}
