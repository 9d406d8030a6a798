/// Making stored objects equal to a list, as a server sends one.
extension DataSource {
    /// Makes the objects in scope equal to the list: new ones are added through ``onAdd(_:in:)``, changed ones updated,
    /// missing ones deleted, all in one save.
    ///
    /// Which objects the list stands for is known by what the hook returns. If the entity has a number `syncFlag`, the
    /// objects of the list get 1.
    ///
    /// ```swift
    /// let report = try await contacts.sync(serverList, entity: ContactEntity.self)
    /// ```
    ///
    /// - Parameters:
    ///   - entity: The entity to be made equal to the list. It has to be one of the data source's own.
    ///   - scope: Which of its objects the list is about; nil for all. Objects out of scope are never deleted.
    ///   - allowsEmpty: Whether an empty list, or one of ignored values only, may delete everything in scope.
    ///   - level: How far the save must have come when the call returns.
    /// - Throws: `emptySync`, `syncEntityMismatch`, and as `add`; then nothing has happened.
    @discardableResult
    public nonisolated func sync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate? = nil, allowsEmpty: Bool = false,
        waitFor level: SaveLevel = .store
    ) async throws -> SyncReport {
        let saved = try await context.perform(waitFor: level, values: max(1, values.count)) { context in
            try self.reconcile(values, entity, scope, allowsEmpty, in: context)
        }
        return saved.result
    }

    /// Syncs in the background.
    ///
    /// - Parameter callback: Called on the main actor, in the order of the calls: when the rows are in the store and main's
    ///   objects and lists show them, or when the save has failed.
    public nonisolated func sync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate? = nil, allowsEmpty: Bool = false,
        callback: @escaping @MainActor @Sendable (Result<SyncReport, any Error>) -> Void
    ) {
        context.performLater(values: max(1, values.count)) { context in
            try self.reconcile(values, entity, scope, allowsEmpty, in: context)
        } callback: {
            callback($0.map(\.result))
        }
    }

    /// What ``sync(_:entity:scope:allowsEmpty:waitFor:)`` would do with the same arguments. Nothing is saved.
    public nonisolated func planSync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope: FetchPredicate? = nil, allowsEmpty: Bool = false
    ) async throws -> SyncReport {
        try await context.performRehearsal(values: max(1, values.count)) { context in
            try self.reconcile(values, entity, scope, allowsEmpty, in: context)
        }
    }

    private func reconcile<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], _ entity: Object.Type, _ scope: FetchPredicate?, _ allowsEmpty: Bool,
        in context: isolated PrivateContext
    ) throws -> SyncReport {
        let stored = try context.objects.scope(entity, scope)
        var sweep = try SyncSweep(entity, in: context)
        for (index, value) in values.enumerated() {
            try checkCancellation(index)
            try sweep.meet(onAdd(checked: value, in: context), in: context)
        }
        if sweep.isEmpty && !stored.isEmpty && !allowsEmpty {
            throw DataSourceError(
                .emptySync,
                "A list without a value for \(entity.entityName) was synced to it, which would delete \(stored.count) objects. Pass allowsEmpty: true if that is meant.",
                entityName: entity.entityName)
        }
        return sweep.end(stored, in: context)
    }
}
