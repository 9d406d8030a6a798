internal import RowStore

/// Changing or deleting many objects at once.
///
/// Each call is one save like any other: rules of the model, uniqueness, derived attributes and ownership hold, and
/// everything that shows the objects hears of it. Only rows that match and that really change are written: by one
/// statement if there are more than a few, and no attribute is derived.
///
/// No objects are made of the rows, unless the predicate asks them, an attribute that has to be unique or is derived or
/// transient is concerned, or a property does more than to set its attribute.
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
        let assign: @Sendable (Object) -> Void = { object in
            for assignment in assignments { assignment.apply(object) }
        }
        return try await change(type, predicate, level) { plan, context in
            let objects = context.objects
            let entity = objects.bindings[plan.query.entity].layout
            var values: [Int: RowValue] = [:]
            for assignment in assignments {
                guard let column = try? objects.column(assignment.keyPath, of: type, entity) else { return false }
                values[column] = assignment.value
            }
            return try objects.updateRows(plan, values, assign, checkCancellation)
        } each: { object, _ in
            assign(object)
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
        try await change(type, predicate, level) { plan, context in
            try context.objects.deleteRows(plan, checkCancellation)
        } each: { object, context in
            context.delete(object)
        }
    }

    /// - Parameters:
    ///   - rows: Does it to the rows; returns false if it has to be done to the objects.
    ///   - each: Does it to an object.
    private nonisolated func change<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate?, _ level: SaveLevel,
        rows: @Sendable (FetchPlan, isolated PrivateContext) throws -> Bool,
        each: @Sendable (Object, isolated PrivateContext) -> Void
    ) async throws -> SaveReport {
        try await context.perform(waitFor: level) { context in
            let entity = try context.objects.entity(of: type)
            for concrete in context.objects.bindings[entity].layout.concreteFamily {
                try context.objects.checkOwned(concrete)
            }
            try context.objects.checkClass(type, context.objects.bindings[entity].layout.concreteFamily)
            let plan = try context.objects.plan(FetchRequest(type, where: predicate))
            if try rows(plan, context) { return }
            let found: [Object] = try context.objects.typed(context.objects.unsortedObjects(plan), of: entity)
            for (index, object) in found.enumerated() {
                try checkCancellation(index)
                each(object, context)
            }
        }.report
    }
}

/// A value for one attribute of every object of an ``DataSource/update(_:where:set:waitFor:)``.
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    /// What is set to what, if it is an attribute.
    let keyPath: any PartialKeyPath<Object> & Sendable
    let value: RowValue
    let apply: @Sendable (Object) -> Void

    /// Sets the attribute to that value.
    ///
    /// What the property does is asked of one object of each entity, and taken to hold for all. Where a class of your own
    /// decides from object to object, set the property in `perform`.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: value.storedValue.value) { $0[keyPath: keyPath] = value }
    }
}
