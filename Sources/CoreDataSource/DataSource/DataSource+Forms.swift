public import Foundation

/// Changing, deleting and syncing by Foundation's predicates, and by conditions on key paths; and fetching values so.
extension DataSource {
    /// Gives every object that matches the same values.
    @discardableResult
    public nonisolated func update<Object: ManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>, set assignments: [FetchAssignment<Object>],
        waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await update(type, where: FetchPredicate(predicate), set: assignments, waitFor: level)
    }

    /// Gives every object that matches the same values.
    ///
    /// ```swift
    /// try await mail.update(Message.self, where: !\.isRead, set: [.set(\.isRead, true)])
    /// ```
    @discardableResult
    public nonisolated func update<Object: ManagedObject>(
        _ type: Object.Type, where condition: FetchCondition<Object>, set assignments: [FetchAssignment<Object>],
        waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await update(type, where: condition.predicate, set: assignments, waitFor: level)
    }

    /// Deletes every object that matches.
    @discardableResult
    public nonisolated func delete<Object: ManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>, waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await delete(type, where: FetchPredicate(predicate), waitFor: level)
    }

    /// Deletes every object that matches.
    @discardableResult
    public nonisolated func delete<Object: ManagedObject>(
        _ type: Object.Type, where condition: FetchCondition<Object>, waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await delete(type, where: condition.predicate, waitFor: level)
    }

    /// Makes the objects in scope equal to the list, as ``sync(_:entity:scope:allowsEmpty:waitFor:)``.
    @discardableResult
    public nonisolated func sync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope predicate: Predicate<Object>, allowsEmpty: Bool = false,
        waitFor level: SaveLevel = .store
    ) async throws -> SyncReport {
        try await sync(
            values, entity: entity, scope: FetchPredicate(predicate), allowsEmpty: allowsEmpty, waitFor: level)
    }

    /// Makes the objects in scope equal to the list, as ``sync(_:entity:scope:allowsEmpty:waitFor:)``.
    @discardableResult
    public nonisolated func sync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope condition: FetchCondition<Object>, allowsEmpty: Bool = false,
        waitFor level: SaveLevel = .store
    ) async throws -> SyncReport {
        try await sync(values, entity: entity, scope: condition.predicate, allowsEmpty: allowsEmpty, waitFor: level)
    }

    /// Syncs in the background.
    public nonisolated func sync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope predicate: Predicate<Object>, allowsEmpty: Bool = false,
        callback: @escaping @MainActor @Sendable (Result<SyncReport, any Error>) -> Void
    ) {
        sync(values, entity: entity, scope: FetchPredicate(predicate), allowsEmpty: allowsEmpty, callback: callback)
    }

    /// Syncs in the background.
    public nonisolated func sync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope condition: FetchCondition<Object>, allowsEmpty: Bool = false,
        callback: @escaping @MainActor @Sendable (Result<SyncReport, any Error>) -> Void
    ) {
        sync(values, entity: entity, scope: condition.predicate, allowsEmpty: allowsEmpty, callback: callback)
    }

    /// What a sync with the same arguments would do. Nothing is saved.
    public nonisolated func planSync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope predicate: Predicate<Object>, allowsEmpty: Bool = false
    ) async throws -> SyncReport {
        try await planSync(values, entity: entity, scope: FetchPredicate(predicate), allowsEmpty: allowsEmpty)
    }

    /// What a sync with the same arguments would do. Nothing is saved.
    public nonisolated func planSync<Value: Sendable, Object: ManagedObject>(
        _ values: [Value], entity: Object.Type, scope condition: FetchCondition<Object>, allowsEmpty: Bool = false
    ) async throws -> SyncReport {
        try await planSync(values, entity: entity, scope: condition.predicate, allowsEmpty: allowsEmpty)
    }

    // MARK: Values

    /// The values of the objects that match, in order.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: Predicate<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Value] {
        try await fetch(as: type, where: FetchPredicate(predicate), sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The values of the objects that match, in order.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, where condition: FetchCondition<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Value] {
        try await fetch(as: type, where: condition.predicate, sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The value of the first object that matches; nil if there is none.
    public nonisolated func first<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: Predicate<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = []
    ) async throws -> Value? {
        try await first(as: type, where: FetchPredicate(predicate), sortBy: sortBy)
    }

    /// The value of the first object that matches; nil if there is none.
    public nonisolated func first<Value: ManagedObjectConvertible>(
        as type: Value.Type, where condition: FetchCondition<Value.Object>, sortBy: [SortDescriptor<Value.Object>] = []
    ) async throws -> Value? {
        try await first(as: type, where: condition.predicate, sortBy: sortBy)
    }
}
