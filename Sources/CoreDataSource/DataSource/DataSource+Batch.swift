/// Changing or deleting many objects at once.
///
/// Each call is one save like any other: rules of the model, uniqueness, derived attributes and ownership hold, and
/// everything that shows the objects hears of it. Only rows that match and that really change are written.
extension DataSource {
    /// Gives every object that matches the same values.
    ///
    /// ```swift
    /// try await mail.update(Message.self, where: unread, set: [.set(\.isRead, true)])
    /// ```
    ///
    /// - Parameter level: How far the save must have come when the call returns.
    /// - Throws: `validationFailed`, `uniquenessViolated`, `entityNotOwned`; what a fetch throws; what the store throws.
    ///   Then nothing has happened.
    @discardableResult
    public nonisolated func update<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate? = nil, set assignments: [FetchAssignment<Object>],
        waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await change(type, predicate, level) { object, _ in
            for assignment in assignments { assignment.apply(object) }
        }
    }

    /// Deletes every object that matches.
    ///
    /// - Parameter level: How far the save must have come when the call returns.
    /// - Throws: `entityNotOwned`; what a fetch throws; what the store throws. Then nothing has happened.
    @discardableResult
    public nonisolated func delete<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate?, waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await change(type, predicate, level) { object, context in context.delete(object) }
    }

    private nonisolated func change<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate?, _ level: SaveLevel,
        _ body: @Sendable (Object, isolated PrivateContext) -> Void
    ) async throws -> SaveReport {
        try await context.perform(waitFor: level) { context in
            let entity = try context.objects.entity(of: type)
            for concrete in context.objects.bindings[entity].layout.concreteFamily {
                try context.objects.checkOwned(concrete)
            }
            let found: [Object] = try context.objects.typed(context.objects.scope(type, predicate), of: entity)
            for (index, object) in found.enumerated() {
                try checkCancellation(index)
                body(object, context)
            }
        }.report
    }
}

/// A value for one attribute of every object of an ``DataSource/update(_:where:set:waitFor:)``.
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    let apply: @Sendable (Object) -> Void

    /// Sets the attribute to that value.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment { $0[keyPath: keyPath] = value }
    }
}
