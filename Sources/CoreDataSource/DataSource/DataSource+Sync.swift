/// Making stored objects equal to a list, for example one from a server.
extension DataSource {
    /// Makes the objects in scope equal to the list: new objects are added through ``onAdd(_:in:)``, changed ones updated,
    /// missing ones deleted, all in one save.
    ///
    /// The objects that the hook returns are those of the list. Objects that already match the list are neither written nor
    /// reported. If the entity has an Integer or Boolean attribute `syncFlag`, it is set to 1 for the objects of the list.
    ///
    /// ```swift
    /// let report = try await contacts.sync(serverList, entity: ContactEntity.self, deleting: .atMost(0.2))
    /// ```
    ///
    /// If the hook ignores a value (returns nil), the sync deletes nothing, because it cannot know which object the value
    /// stands for, unless ``SyncOptions/allowsIgnoredValues`` is given. The report counts the objects as ``SyncReport/kept``.
    ///
    /// To go on at once, call it in a `Task`.
    ///
    /// - Parameters:
    ///   - values: The whole list, in the order in which the hooks get it.
    ///   - entity: The entity to make equal to the list. The data source must own it.
    ///   - scope: Which of its objects the list covers; nil, the default, for all. Objects out of scope are never deleted.
    ///   - deleting: Whether objects that the list lacks are deleted, and at most how many; `.all` by default.
    ///   - operations: What the sync may do to objects; `.all` by default. Objects that it may not insert or update are counted
    ///     as ``SyncReport/skipped``.
    ///   - options: Whether an empty list, or one with ignored values, may delete objects, and whether the report has ids; none
    ///     by default.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `emptySync` if the list is empty, or has only ignored values, and everything in scope would be deleted;
    ///   `syncDeletesTooMuch`; `syncEntityMismatch`; what `add` throws. Nothing has happened then.
    @discardableResult
    public nonisolated func sync<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .all,
        operations: SyncOperations = .all, options: SyncOptions = [], waitFor level: SaveLevel = .store
    ) async throws -> SyncReport {
        let rules = SyncRules(deletion: deleting, operations: operations, options: options)
        return try await tier.perform(waitFor: level, values: max(1, values.count)) { context in
            try self.reconcile(values, entity, scope, rules, in: context)
        }.result
    }

    /// What ``sync(_:entity:scope:deleting:operations:options:waitFor:)`` would do with the same arguments. Nothing is saved.
    ///
    /// - Parameters:
    ///   - values: The whole list.
    ///   - entity: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - scope: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - deleting: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - operations: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - options: As for ``sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    /// - Throws: What the sync itself would throw.
    public nonisolated func planSync<Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .all,
        operations: SyncOperations = .all, options: SyncOptions = []
    ) async throws -> SyncReport {
        let rules = SyncRules(deletion: deleting, operations: operations, options: options)
        return try await tier.performRehearsal(values: max(1, values.count)) { context in
            try self.reconcile(values, entity, scope, rules, in: context)
        }
    }

    private nonisolated func reconcile<Object: ManagedObject>(
        _ values: [Value], _ entity: Object.Type, _ scope: FetchPredicate<Object>?, _ rules: SyncRules,
        in context: PrivateContext
    ) throws -> SyncReport {
        let stored = try context.scope(entity, scope)
        var sweep = try SyncSweep(entity, rules, in: context)
        try add(values, in: context) { try sweep.meet($0, in: context) }
        return try sweep.end(stored, in: context)
    }
}
