internal import RowStore

/// A data source whose values stand for one object each, matched by one key on either side.
///
/// Adding, deleting and syncing are derived from the key, and the objects of a batch are looked up together.
///
/// ```swift
/// final class ContactDataSource: KeyedDataSource<Contact, ContactEntity> {
///     nonisolated override class var key: ObjectKey<Contact, ContactEntity> { ObjectKey(\.uid, \.uid) }
///
///     nonisolated override func update(_ entity: ContactEntity, from contact: Contact) {
///         entity.name = contact.name
///     }
/// }
/// ```
///
/// Give the attribute a uniqueness constraint in the model. The data source owns the entity of `Object`; override
/// ``AnyDataSource/entities`` to own others too.
///
/// **Isolation**: as ``DataSource``.
@MainActor
open class KeyedDataSource<Value: Sendable, Object: ManagedObject>: DataSource<Value> {
    /// The property of a value and the attribute of an object that are the key.
    nonisolated open class var key: ObjectKey<Value, Object> {
        preconditionFailure("\(self) has no key. Override the class property key.")
    }

    /// Sets the contents of an object from its value. The key is already set.
    ///
    /// **Isolation**: the queue of the private context, which is the object's ``ManagedObject/context``.
    ///
    /// - Parameters:
    ///   - object: The object to change: the one with the value's key, or a new one.
    ///   - value: The value that was added or synced.
    /// - Throws: Any error; nothing of the whole batch is saved then. The default throws `hookNotOverridden`.
    open nonisolated func update(_ object: Object, from value: Value) throws {
        throw DataSourceError(hook: "update(_:from:)", of: self, for: "add")
    }

    /// Links an object to others, which may come later in the list than its value.
    ///
    /// Called for each value once all values of the batch were added, as ``DataSource/onLink(_:for:in:)``. The default does
    /// nothing. For example:
    ///
    /// ```swift
    /// nonisolated override func link(_ entity: TaskEntity, from task: TaskValue) throws {
    ///     entity.follows = try task.followed.flatMap {
    ///         try entity.context?.first(TaskEntity.self, where: \.uid, equals: $0)
    ///     }
    /// }
    /// ```
    ///
    /// **Isolation**: the queue of the private context, which is the object's ``ManagedObject/context``.
    ///
    /// - Parameters:
    ///   - object: The object of the value.
    ///   - value: The value that was added or synced.
    /// - Throws: Any error; nothing of the whole batch is saved then.
    open nonisolated func link(_ object: Object, from value: Value) throws {}

    nonisolated open override class var entities: [ManagedObject.Type] { [Object.self] }

    open nonisolated override func onAdd(_ value: Value, in context: PrivateContext) throws -> ManagedObject? {
        let object = try Self.key.findOrInsert(value, context)
        try update(object, from: value)
        return object
    }

    open nonisolated override func onLink(
        _ object: ManagedObject, for value: Value, in context: PrivateContext
    ) throws {
        if let object = object as? Object { try link(object, from: value) }
    }

    open nonisolated override func onDelete(_ value: Value, in context: PrivateContext) throws {
        if let object = try Self.key.find(value, context) { context.delete(object) }
    }

    open nonisolated override func prepare(_ values: [Value], in context: PrivateContext) throws {
        try Self.key.preload(values, context)
    }

    /// Makes the objects in scope equal to the list, as ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///
    /// - Parameters:
    ///   - values: The whole list.
    ///   - scope: As for ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - deleting: As for ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - operations: As for ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - options: As for ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:)``.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: What ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:)`` throws. Nothing has happened
    ///   then.
    @discardableResult
    public nonisolated func sync(
        _ values: [Value], scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .all,
        operations: SyncOperations = .all, options: SyncOptions = [], waitFor level: SaveLevel = .store
    ) async throws -> SyncReport {
        try await sync(
            values, entity: Object.self, scope: scope, deleting: deleting, operations: operations, options: options,
            waitFor: level)
    }
}
