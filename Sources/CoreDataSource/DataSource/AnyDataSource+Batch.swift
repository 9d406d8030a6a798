internal import RowStore

/// Changing or deleting many objects at once.
///
/// Each call is one save like any other: rules of the model, uniqueness, derived attributes and ownership apply, and everything
/// that shows the objects is updated. Only rows that match and really change are written, by one statement if there are more
/// than a few and no attribute is derived.
///
/// No objects are made from the rows, unless the predicate needs them, an assigned attribute is unique, derived or transient,
/// or a property does more than set its attribute.
///
/// More than 16,384 rows are changed by the store in a transaction of their own, so that any number of them takes little memory:
/// at once, with whatever level the call waits for. Nobody is notified of single rows then: objects are brought up to date, contexts
/// forget what they know of the entity, and lists read their rows again (``ListReason/Kind/bulkChange``). The rules of the model
/// are checked on some of the rows. This is so in an exclusive SQLite store, for a predicate that uses no relationships, and
/// for updates only without derived attributes; otherwise the rows are held in memory, about 500 bytes each.
extension AnyDataSource {
    /// Gives every object that matches the same values.
    ///
    /// ```swift
    /// try await mail.update(Message.self, where: !\.isRead, set: [.set(\.isRead, true)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - assignments: The new values, the same for every object.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `validationFailed`, `uniquenessViolated`, `entityNotOwned`; what a fetch throws; what the store throws.
    ///   Nothing has happened then.
    @discardableResult
    public nonisolated func update<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, set assignments: [FetchAssignment<Object>],
        waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        let saved = try await tier.perform(waitFor: level) { [tier] context in
            try context.updateAll(type, predicate, assignments, from: tier.source)
        }
        return saved.result ?? saved.report
    }

    /// Deletes every object that matches.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil for all.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `entityNotOwned`; what a fetch throws; what the store throws. Nothing has happened then.
    @discardableResult
    public nonisolated func delete<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>?, waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        let saved = try await tier.perform(waitFor: level) { [tier] context in
            try context.deleteAll(type, predicate, from: tier.source)
        }
        return saved.result ?? saved.report
    }
}
