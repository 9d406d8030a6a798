internal import RowStore

/// The context of one data source, in which its objects are inserted, edited and deleted.
///
/// ```swift
/// try await contacts.perform { context in
///     try context.delete(ContactEntity.self, where: \.age < 18)
///     for contact in try context.fetch(ContactEntity.self) {
///         contact.isFavorite = true
///     }
/// }
/// ```
///
/// Hooks and the work of `perform` get the context. One call of `add` or `perform` makes one save, which is shown and stored
/// either completely or not at all. The save checks the edits against the model. A save that fails leaves the context
/// unchanged. The context can read the objects of other data sources, but cannot edit them.
///
/// **Isolation**: the serial queue of its data source. The context is valid only during the call that gets it.
public final class PrivateContext: EditingContext {
    /// The other contexts whose edits are saved together with the edits of this context.
    var otherBatchContexts: [PrivateContext] = []
    /// All contexts whose edits are saved together. The first is this context.
    var batchContexts: [PrivateContext] { [self] + otherBatchContexts }
    /// The index of the first entity that the context owns. It puts the contexts of a batch in a fixed order.
    private(set) lazy var firstOwnedIndex = bindings.firstIndex(where: \.isOwned) ?? .max
    /// The other contexts whose objects the work of the batch may use.
    var workContexts: [PrivateContext] = []
    /// The sweeps of the batch.
    var sweeps = ChildSweeps()
    /// The changes that the batch makes to the store's scopes.
    var scopeChanges: [ScopeChange] = []
    /// The request whose answer the batch stores; nil if it stores none.
    var answered: AnsweredRequest?
    /// The objects of the list that the batch stores.
    var listedObjects: [ManagedObject] = []
    /// The objects that the batch had deleted before it began to evict objects of a scope; nil if it has evicted none.
    var deletedBeforeEviction: Set<LinkEnd>?
    /// Whether delete rules are being applied. Delete rules may change rows that no data source owns.
    private(set) var isApplyingRules = false
    /// The entities whose leases the batch has; nil in a store that is not shared, and during a dry run.
    var leasedEntities: Set<Int>?
    /// Whether cascades have already been applied during the batch.
    private var hasCascaded = false
    /// Whether the last application of delete rules threw an error, or is still running.
    private var hasFailedToCascade = false
    /// The data source, if it completes the save of the running batch; otherwise nil.
    var completer: (any SaveCompleting)?
    /// The running call of `willSave` for a bulk change, which the store could make itself; nil if there is none.
    var bulkTrial: BulkTrial?
    /// Whether the running batch reverts a record of the history.
    var isReverting = false
    /// Whether the running batch is saved even if it changes nothing, so that a step of an undo or a redo counts as done.
    var passesStep = false
    /// Whether any data source completes the save of the running batch.
    var isCompleted = false
    /// The changes of the running batch that the data source's hook already got.
    var told = ToldChanges()
    /// Whether the hook of another data source is running. That hook may only read the objects of this context.
    var isGuarded = false {
        didSet {
            if isGuarded == oldValue { return }
            for binding in bindings { binding.home.editing = isGuarded ? .guarded : .inBatch }
        }
    }
    /// The early write of the batch, which writes inserted rows to the store while the hooks still run.
    var earlyWrites = EarlyWriteBatch()
    private var lastSyncMark: Int32 = 0
    /// Whether a uniqueness constraint covers objects of this context and of another context.
    private(set) lazy var sharesConstraints = hasSharedConstraints()

    /// The layouts of the pair rows that link an object of this context to an object of another context.
    private(set) lazy var foreignLinks = Set(
        bindings.filter { binding in
            binding.layout.links != nil && !binding.isOwned
                && stack.graph.ends(ofLinks: binding.layout.index).contains { bindings[$0].isOwned }
        }.map(\.layout.index))

    override func editor(ofEntity entity: Int) -> ManagedObjectContext {
        let others = isApplyingRules || readsCompanions ? otherBatchContexts : workContexts
        if bindings[entity].isOwned || others.isEmpty { return self }
        if let owner = others.first(where: { $0.bindings[entity].isOwned }) { return owner }
        // Links between objects of two contexts belong to the context of the first end.
        let ends = bindings[entity].layout.links.flatMap { stack.layout.entity(named: $0.entity)?.concreteFamily } ?? []
        if let end = ends.first { return editor(ofEntity: end) }
        // Rows that no data source owns are changed in the first context of the batch.
        return others.reduce(self) { $1.firstOwnedIndex < $0.firstOwnedIndex ? $1 : $0 }
    }

    override func mayEdit(_ entity: Int) -> Bool {
        if isGuarded, !isApplyingRules { return false }
        if bindings[entity].isOwned { return true }
        if isApplyingRules, !isOwnedByAny(entity) {
            return bindings[entity].layout.links == nil || mayLink(entity)
        }
        return bindings[entity].layout.links != nil && mayLink(entity)
    }

    override var otherEditingContexts: [EditingContext] { otherBatchContexts }

    override var editing: ObjectEditing { .inBatch }

    /// Hooks look up many objects one by one. With this isolation, a store can use one transaction for several look-ups.
    override var lookupIsolation: ReadIsolation { .lookup }

    override func editor(of object: ManagedObject) -> EditingContext {
        (readsCompanions ? otherBatchContexts : workContexts).first { $0 === object.context } ?? self
    }

    override func willDelete(_ object: ManagedObject) {
        if !object.isDeleted, stack.graph.hasEffects[object.layout.index] { deletions.append(object) }
    }

    override func willUse(_ relationship: RelationshipLayout, of object: ManagedObject) {
        answered?.use(relationship, of: LinkEnd(object), object.layout)
    }

    override func didInsert(_ object: ManagedObject) {
        let binding = bindings[object.layout.index]
        if binding.inserted.count & (EarlyWriteBatch.partSize - 1) == 0 { writeEarly(binding) }
    }

    override func forgetDeletions() {
        deletions.removeAll()
        (hasCascaded, hasFailedToCascade) = (false, false)
        sweeps = ChildSweeps()
        told.removeAll()
        (scopeChanges, listedObjects, deletedBeforeEviction) = ([], [], nil)
    }

    /// Applies the cascades of the deletions so far, so that a query does not find the deleted objects.
    ///
    /// - Complexity: O(n) in the number of objects that the cascades delete. Each object is visited once.
    override func completeEdits() throws {
        if deletions.isEmpty, otherBatchContexts.isEmpty || otherBatchContexts.allSatisfy(\.deletions.isEmpty) {
            return
        }
        if isApplyingRules || !isInBatch { return }
        try applyingRules(onlyCascades: true) {}
    }

    /// Applies the delete rules to the objects that the batch has deleted in all its contexts, and then runs the body.
    ///
    /// - Parameter onlyCascades: Whether to apply only cascades, and to leave all other rules to the end of the batch.
    func applyingRules(onlyCascades: Bool = false, _ body: () throws -> Void) throws {
        let contexts = batchContexts
        if contexts.contains(where: { !$0.deletions.isEmpty || $0.hasCascaded }) { batchReach?.beginRules() }
        for context in contexts {
            context.isApplyingRules = true
            // An earlier call may have applied only some of the rules, or may have failed. Collect all deletions again.
            if context.hasCascaded, !onlyCascades || context.hasFailedToCascade { context.collectDeletions() }
            context.hasCascaded = context.hasCascaded || onlyCascades
            context.hasFailedToCascade = true
        }
        defer { for context in contexts { context.isApplyingRules = false } }
        var rules = DeleteRules(
            contexts, leasedEntities: leasedEntities, onlyCascades: onlyCascades, deletesRows: !isCompleted)
        try rules.apply()
        try body()
        for context in contexts { context.hasFailedToCascade = false }
    }

    /// Applies the delete rules to everything that the batch has deleted so far. Rules that were applied before are applied
    /// again, because a hook may have made links since.
    func applyRulesAgain() throws {
        for context in batchContexts { context.hasCascaded = true }
        try applyingRules {}
    }

    private func collectDeletions() {
        deletions = changed.filter { $0.isDeleted && stack.graph.hasEffects[$0.layout.index] }
    }

    /// Whether the owners of both ends of links take part in the batch.
    private func mayLink(_ layout: Int) -> Bool {
        let others = isApplyingRules ? otherBatchContexts : readsCompanions ? [] : workContexts
        return stack.graph.ends(ofLinks: layout).allSatisfy { end in
            bindings[end].isOwned || others.contains { $0.bindings[end].isOwned }
                || isApplyingRules && !isOwnedByAny(end)
        }
    }

    override func notOwned(_ layout: EntityLayout) -> DataSourceError {
        if isGuarded { return DataSourceError(guarding: layout) }
        guard let links = layout.links else { return super.notOwned(layout) }
        let unownedEntities = stack.graph.ends(ofLinks: layout.index).filter { !bindings[$0].isOwned }
            .map { bindings[$0].layout.name }
        return DataSourceError(
            .entityNotOwned,
            "\(owner ?? "") does not own \(unownedEntities.joined(separator: " and ")), and cannot change links of \(links.entity).\(links.name) alone. Use container.perform(in:) with the data sources of both ends.",
            entityName: links.entity, attributeName: links.name)
    }

    /// Deletes all objects that match a predicate.
    ///
    /// ```swift
    /// try context.delete(ContactEntity.self, where: \.age < 18)
    /// ```
    ///
    /// The save applies the model's delete rules to related objects.
    ///
    /// **Complexity**: the objects are fetched and deleted one by one. `delete(_:where:)` of the data source makes no objects
    /// if no delete rule affects other rows.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate; nil for all objects.
    /// - Returns: The number of deleted objects.
    /// - Throws: `entityNotOwned`; the errors of ``ManagedObjectContext/fetch(_:)``.
    @discardableResult
    public func delete<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>?
    ) throws -> Int {
        try deleteEach(editableObjects(type, predicate))
    }

    /// Deletes the objects one by one, and returns their number.
    @discardableResult
    func deleteEach(_ objects: [some ManagedObject]) throws -> Int {
        for (index, object) in objects.enumerated() {
            try checkCancellation(index)
            delete(object)
        }
        return objects.count
    }

    /// Sets the same values in all objects that match a predicate.
    ///
    /// ```swift
    /// try context.update(
    ///     ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
    /// ```
    ///
    /// **Complexity**: the objects are fetched and changed one by one.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate; nil, the default, for all objects.
    ///   - assignments: The new values. All objects get the same values.
    /// - Returns: The number of matching objects.
    /// - Throws: `entityNotOwned`; the errors of ``ManagedObjectContext/fetch(_:)``.
    @discardableResult
    public func update<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, set assignments: [FetchAssignment<Object>]
    ) throws -> Int {
        let objects = try editableObjects(type, predicate)
        for (index, object) in objects.enumerated() {
            try checkCancellation(index)
            for assignment in assignments { assignment.apply(object) }
        }
        return objects.count
    }

    /// Returns the matching objects, in any order.
    ///
    /// - Throws: `entityNotOwned` if the context cannot edit all these objects; the errors of a fetch.
    private func editableObjects<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?
    ) throws -> [Object] {
        try reading { () throws(DataSourceError) in
            let plan = try changePlan(type, predicate)
            return try typed(unsortedObjects(plan), of: plan.query.entity)
        }
    }

    /// Returns a mark that no registered object has.
    func nextSyncMark() -> Int32 {
        lastSyncMark &+= 1
        if lastSyncMark == 0 { lastSyncMark = 1 }
        return lastSyncMark
    }

    /// Discards all edits of this batch so far. In a save over several data sources, discards the edits of all their contexts.
    ///
    /// ```swift
    /// try context.delete(ContactEntity.self, where: nil)
    /// context.rollback()
    /// ```
    ///
    /// The batch continues, and edits after this call are saved. If a hook of a sync calls this method, the report of the sync
    /// still counts the discarded changes. To refuse a batch, throw instead.
    ///
    /// **Complexity**: O(n) in the number of edited objects.
    public func rollback() {
        bulkTrial?.hasRolledBack = true
        for context in batchContexts { context.rollback(isEnd: false) }
    }

    // MARK: For tests

    /// The bytes of the registered objects.
    package var registeredByteCount: Int { registeredBytes }

    /// The bytes of the registered objects: the running count, and a new calculation from all objects.
    package var registeredByteCountCheck: (tracked: Int, recomputed: Int) {
        let owned = bindings.filter(\.isOwned).flatMap { $0.objects.objects }
        return (registeredByteCount, owned.reduce(0) { $0 + $1.row.byteCount + EntityBinding.objectBytes })
    }

    /// The number of index entries that were visited while values were added to unique indexes.
    package var uniqueIndexProbeCount: Int { bindings.reduce(0) { $0 + $1.uniqueIndexProbeCount } }

    /// Forgets all registered objects.
    package func forgetObjects() { forgetAll() }

}

extension PrivateContext: CustomStringConvertible {
    /// The name of the data source and its entities: `PrivateContext of ContactDataSource (ContactEntity)`.
    public var description: String {
        let names = bindings.filter { $0.isOwned && $0.layout.links == nil }.map(\.layout.name).sorted().joined(
            separator: ", ")
        return "PrivateContext of \(owner ?? "") (\(names))"
    }
}

/// Updating the registered objects after changes outside the context. This happens only between two batches.
extension PrivateContext {
    func apply(_ event: FeedEvent) {
        related.removeAll()
        switch event {
        case .changes(let changes):
            for entity in changes.entities { apply(entity, asOf: changes.saveNumber) }
        case .unknown(let entities):
            for entity in entities ?? Set(bindings.indices) { bindings[entity].forgetObjects() }
        }
    }

    private func apply(_ changes: EntityChanges, asOf number: SaveNumber) {
        let binding = bindings[changes.entity]
        for change in changes.updated {
            guard let object = binding.objects[change.key] else { continue }
            binding.replaceRow(of: object, by: change.row)
            object.checkedConstraint = -1
            for constraint in binding.layout.constraints.indices { binding.index(object, constraint) }
            if hasValueIndexes { binding.recordValues(of: object) }
        }
        for change in changes.deleted {
            if let object = binding.objects[change.key] { binding.forget(object) }
        }
        // The inserted rows are not registered, so the context no longer has all rows of the entity.
        if !changes.inserted.isEmpty { binding.recordUnregisteredRow() }
    }
}

/// Throws if the task is canceled, so that its batch ends and saves nothing. To save time, checks only every 256th
/// index.
func checkCancellation(_ index: Int) throws {
    if index & 0xFF == 0 { try Task.checkCancellation() }
}
