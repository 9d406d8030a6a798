internal import RowStore

/// The data of one feature of an app: a set of entities that no other data source may change, and a private context.
///
/// Subclass it, list the entities, and define how a plain value becomes an object:
///
/// ```swift
/// struct Contact: Sendable { var uid: String; var name: String }
///
/// final class ContactDataSource: DataSource<Contact> {
///     nonisolated override class var entities: [ManagedObject.Type] { [ContactEntity.self] }
///
///     nonisolated override func onAdd(_ contact: Contact, in context: PrivateContext) throws -> ManagedObject? {
///         let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
///         entity.name = contact.name
///         return entity
///     }
///
///     nonisolated override func onDelete(_ contact: Contact, in context: PrivateContext) throws {
///         try context.delete(ContactEntity.self, where: \.uid == contact.uid)
///     }
/// }
/// ```
///
/// ``PersistentContainer/dataSource(_:)`` makes the only instance of each subclass. If values and objects have one key each,
/// ``KeyedDataSource`` needs less code. For several kinds of values, use an enum or `any Sendable` as the value.
///
/// **Isolation**: reading is on the main actor; adding, deleting and syncing can be called anywhere; hooks run on the queue of
/// the private context, where the compiler lets them touch nothing else.
@MainActor
open class DataSource<Value: Sendable>: EntityDataSource {
    /// Finds or makes the object for a value, and sets its contents.
    ///
    /// Called for each value of `add` and `sync`, in their order. Look for the object by its key first, so that adding a value
    /// twice is the same as adding it once.
    ///
    /// **Isolation**: the queue of the private context. Neither the context nor an object can be kept.
    ///
    /// - Parameters:
    ///   - value: One of the values of the call.
    ///   - context: The private context that the batch runs in.
    /// - Returns: The object, or nil to ignore the value; reports count ignored values.
    /// - Throws: Any error; nothing of the whole batch is saved then. The default throws `hookNotOverridden`.
    open nonisolated func onAdd(_ value: Value, in context: PrivateContext) throws -> ManagedObject? {
        throw DataSourceError(hook: "onAdd(_:in:)", of: self, for: "add")
    }

    /// Links the object of a value to objects that may come later in the list.
    ///
    /// Called once all values of `add` or `sync` were added, in their order, for each value whose object ``onAdd(_:in:)``
    /// returned and which still exists. So this hook can find every object of the list, wherever it is in the list:
    ///
    /// ```swift
    /// nonisolated override func onLink(_ object: ManagedObject, for task: TaskValue, in context: PrivateContext) throws {
    ///     guard let entity = object as? TaskEntity else { return }
    ///     entity.follows = try task.followed.flatMap { try context.first(TaskEntity.self, where: \.uid, equals: $0) }
    /// }
    /// ```
    ///
    /// An object that `first` does not find is neither stored nor in the list: link to nothing, or throw. The default does
    /// nothing.
    ///
    /// **Isolation**: the queue of the private context. Neither the context nor an object can be kept.
    ///
    /// - Parameters:
    ///   - object: What ``onAdd(_:in:)`` returned for the value.
    ///   - value: One of the values of the call.
    ///   - context: The private context that the batch runs in.
    /// - Throws: Any error; nothing of the whole batch is saved then.
    open nonisolated func onLink(_ object: ManagedObject, for value: Value, in context: PrivateContext) throws {}

    /// Deletes the object that stands for a value, if there is one.
    ///
    /// Called for each value of `delete`, in their order.
    ///
    /// **Isolation**: the queue of the private context. Neither the context nor an object can be kept.
    ///
    /// - Parameters:
    ///   - value: One of the values of the call.
    ///   - context: The private context that the batch runs in.
    /// - Throws: Any error; nothing of the whole batch is saved then. The default throws `hookNotOverridden`.
    open nonisolated func onDelete(_ value: Value, in context: PrivateContext) throws {
        throw DataSourceError(hook: "onDelete(_:in:)", of: self, for: "delete")
    }

    /// Called once for each batch of values, before the hook gets the first of them.
    ///
    /// Override it to read at once, with ``PrivateContext/preload(_:where:in:)``, what the hooks will look up one by one. The
    /// default does nothing.
    ///
    /// - Parameters:
    ///   - values: All values of the call, in their order.
    ///   - context: The private context that the batch runs in.
    /// - Throws: Any error; nothing of the whole batch is saved then.
    open nonisolated func prepare(_ values: [Value], in context: PrivateContext) throws {}
}

extension DataSourceError {
    /// A hook that a data source needs for a value, and does not override.
    init(hook: String, of source: EntityDataSource, for use: String) {
        self.init(
            .hookNotOverridden,
            "\(type(of: source)) got a value to \(use), but does not override \(hook). Override it. Nothing was saved.")
    }
}

/// Any data source, as a constraint of functions that take several of them.
///
/// ``PersistentContainer/perform(in:waitFor:_:)`` takes a parameter pack of data sources and passes one context for each. The
/// type of the context has to be an associated type for that: Swift cannot repeat a type that is the same for every element of
/// a pack.
///
/// Do not conform to it: subclass ``DataSource``. A type of your own that conforms to it ends the process when it is passed to a
/// container.
public nonisolated protocol DataSourceProtocol: AnyObject, Sendable {
    /// The context in which the entities of the data source are changed: always ``PrivateContext``.
    associatedtype Context: PrivateContext = PrivateContext
}

extension EntityDataSource: DataSourceProtocol {}

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
/// ``EntityDataSource/entities`` to own others too.
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

/// The property of a value and the attribute of an object by which the two are matched.
public struct ObjectKey<Value: Sendable, Object: ManagedObject>: Sendable {
    let find: @Sendable (Value, PrivateContext) throws -> Object?
    let findOrInsert: @Sendable (Value, PrivateContext) throws -> Object
    let preload: @Sendable ([Value], PrivateContext) throws -> Void

    /// The key of values and of objects.
    ///
    /// - Parameters:
    ///   - property: The key of a value.
    ///   - attribute: The key of an object. It should have a uniqueness constraint in the model.
    public init<Key: AttributeStorable>(
        _ property: any KeyPath<Value, Key> & Sendable, _ attribute: any KeyPath<Object, Key> & Sendable
    ) {
        find = { try $1.first(Object.self, where: attribute, equals: $0[keyPath: property]) }
        findOrInsert = { try $1.findOrInsert(Object.self, where: attribute, equals: $0[keyPath: property]) }
        preload = { values, context in
            try context.preload(Object.self, where: attribute, in: values.lazy.map { $0[keyPath: property] })
        }
    }

    /// The same for an optional attribute.
    ///
    /// - Parameters:
    ///   - property: The key of a value.
    ///   - attribute: The key of an object. It should have a uniqueness constraint in the model.
    public init<Key: AttributeStorable>(
        _ property: any KeyPath<Value, Key> & Sendable, _ attribute: any KeyPath<Object, Key?> & Sendable
    ) {
        find = { try $1.first(Object.self, where: attribute, equals: $0[keyPath: property]) }
        findOrInsert = { try $1.findOrInsert(Object.self, where: attribute, equals: $0[keyPath: property]) }
        preload = { values, context in
            try context.preload(Object.self, where: attribute, in: values.lazy.map { Optional($0[keyPath: property]) })
        }
    }
}
