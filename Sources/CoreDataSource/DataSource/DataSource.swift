internal import RowStore

/// The data of one feature of an app: a private context, and a set of entities that only this data source may change.
///
/// In a subclass, list the entities and define how plain values become objects:
///
/// ```swift
/// struct Contact: Sendable {
///     var uid: String
///     var name: String
/// }
///
/// final class ContactDataSource: DataSource<Contact> {
///     nonisolated override class var entities: [ManagedObject.Type] {
///         [ContactEntity.self]
///     }
///
///     nonisolated override func onAdd(
///         _ contact: Contact, in context: PrivateContext
///     ) throws -> ManagedObject? {
///         let entity = try context.findOrInsert(
///             ContactEntity.self, where: \.uid, equals: contact.uid)
///         entity.name = contact.name
///         return entity
///     }
///
///     nonisolated override func onDelete(
///         _ contact: Contact, in context: PrivateContext
///     ) throws {
///         try context.delete(ContactEntity.self, where: \.uid == contact.uid)
///     }
/// }
/// ```
///
/// ``PersistentContainer/dataSource(_:)`` makes the only instance of each subclass. If each value has one object with the same
/// key, a ``KeyedDataSource`` needs less code. For several kinds of values, use an enum or `any Sendable` as the value type.
///
/// **Isolation**: read on the main actor. Add, delete and sync on any actor. Hooks run on the queue of the private context, and
/// the compiler prevents hooks from using any other context.
@MainActor
open class DataSource<Value: Sendable>: EntityDataSource {
    /// The version of the mapping from values to objects, which the hooks define.
    ///
    /// ```swift
    /// nonisolated override class var mappingVersion: Int { 2 }
    /// ```
    ///
    /// Raise the version if a new release of the app stores more of each value than before, or stores it in another way. All
    /// scopes of the data source then count as never loaded. So the next load of each scope requests the whole list, without the
    /// entity tag and the cursor of the old objects. The objects stay until then. The default is 0.
    ///
    /// All processes that share a store should have the same version. Otherwise, after a load with one version, the scope is
    /// unknown to processes with another version, and they request the list again.
    ///
    /// **Isolation**: none, because the property is read while the data source is made.
    nonisolated open class var mappingVersion: Int { 0 }

    nonisolated override class var answerMappingVersion: Int { mappingVersion }

    /// Finds or inserts the object for a value, and sets the attributes of the object.
    ///
    /// ```swift
    /// nonisolated override func onAdd(
    ///     _ contact: Contact, in context: PrivateContext
    /// ) throws -> ManagedObject? {
    ///     let entity = try context.findOrInsert(
    ///         ContactEntity.self, where: \.uid, equals: contact.uid)
    ///     entity.name = contact.name
    ///     return entity
    /// }
    /// ```
    ///
    /// The library calls the hook for each value of `add` and `sync`, in order. Find the object by its key first, so that a
    /// value that is added twice has only one object.
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context or an object.
    ///
    /// - Parameters:
    ///   - value: A value of the call.
    ///   - context: The private context in which the batch runs.
    /// - Returns: The object, or nil to ignore the value. Ignored values are counted in reports.
    /// - Throws: Any error. After an error, the whole batch is rolled back. The default throws `hookNotOverridden`.
    open nonisolated func onAdd(_ value: Value, in context: PrivateContext) throws -> ManagedObject? {
        throw DataSourceError(hook: "onAdd(_:in:)", of: self, for: "add")
    }

    /// Links the object of a value to objects whose values may come later in the list.
    ///
    /// After all values of `add` or `sync` were added, the library calls the hook, in order, for each object that
    /// ``onAdd(_:in:)`` returned, unless the object was deleted. Therefore the hook can find the object of every value in the
    /// list:
    ///
    /// ```swift
    /// nonisolated override func onLink(
    ///     _ object: ManagedObject, for recruit: Recruit, in context: PrivateContext
    /// ) throws {
    ///     guard let contact = object as? ContactEntity else { return }
    ///     contact.group = try recruit.gid.flatMap {
    ///         try context.first(GroupEntity.self, where: \.gid, equals: $0)
    ///     }
    /// }
    /// ```
    ///
    /// If `first` finds no object, the object to link is missing in the store and in the list. In this case, link nothing or
    /// throw. The default does nothing.
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context or an object.
    ///
    /// - Parameters:
    ///   - object: The object that ``onAdd(_:in:)`` returned for the value.
    ///   - value: A value of the call.
    ///   - context: The private context in which the batch runs.
    /// - Throws: Any error. After an error, the whole batch is rolled back.
    open nonisolated func onLink(_ object: ManagedObject, for value: Value, in context: PrivateContext) throws {}

    /// Deletes the object of a value if the object exists.
    ///
    /// ```swift
    /// nonisolated override func onDelete(
    ///     _ contact: Contact, in context: PrivateContext
    /// ) throws {
    ///     try context.delete(ContactEntity.self, where: \.uid == contact.uid)
    /// }
    /// ```
    ///
    /// The library calls the hook for each value of `delete`, in order.
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context or an object.
    ///
    /// - Parameters:
    ///   - value: A value of the call.
    ///   - context: The private context in which the batch runs.
    /// - Throws: Any error. After an error, the whole batch is rolled back. The default throws `hookNotOverridden`.
    open nonisolated func onDelete(_ value: Value, in context: PrivateContext) throws {
        throw DataSourceError(hook: "onDelete(_:in:)", of: self, for: "delete")
    }

    /// Reads, all at once, the objects that the other hooks will look up.
    ///
    /// ```swift
    /// nonisolated override func prepare(
    ///     _ contacts: [Contact], in context: PrivateContext
    /// ) throws {
    ///     try context.preload(
    ///         ContactEntity.self, where: \.uid, in: contacts.map(\.uid))
    /// }
    /// ```
    ///
    /// The library calls the hook once for each batch, before the first value. After ``PrivateContext/preload(_:where:in:)``,
    /// later look-ups of the objects read nothing from the store. The default does nothing.
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context or an object.
    ///
    /// - Parameters:
    ///   - values: All values of the call, in order.
    ///   - context: The private context in which the batch runs.
    /// - Throws: Any error. After an error, the whole batch is rolled back.
    open nonisolated func prepare(_ values: [Value], in context: PrivateContext) throws {}
}

extension DataSourceError {
    /// Makes the error for a hook that the data source does not override.
    init(hook: String, of source: EntityDataSource, for use: String) {
        self.init(
            .hookNotOverridden,
            "\(type(of: source)) got a value to \(use), but does not override \(hook). Nothing was saved. Override the method."
        )
    }
}

/// Any data source, as a constraint for functions that take several data sources.
///
/// ``PersistentContainer/perform(in:waitFor:_:)`` takes a parameter pack of data sources and passes a context for each data
/// source. The context is an associated type, because Swift expands a parameter pack only in a type that depends on the
/// pack.
///
/// Subclass ``DataSource`` instead of conforming to this protocol. A function that gets another conforming type traps.
public nonisolated protocol DataSourceProtocol: AnyObject, Sendable {
    /// The context in which the entities of the data source are changed. Always ``PrivateContext``.
    associatedtype Context: PrivateContext = PrivateContext
}

extension EntityDataSource: DataSourceProtocol {}

/// A data source in which each value has one object with the same key.
///
/// Adding, deleting and syncing find objects by the key. The objects of a batch are looked up together.
///
/// ```swift
/// final class ContactDataSource: KeyedDataSource<Contact, ContactEntity> {
///     nonisolated override class var key: ObjectKey<Contact, ContactEntity> {
///         ObjectKey(\.uid, \.uid)
///     }
///
///     nonisolated override func update(
///         _ entity: ContactEntity, from contact: Contact,
///         in context: PrivateContext
///     ) {
///         entity.name = contact.name
///     }
/// }
/// ```
///
/// Give the attribute a uniqueness constraint in the model. The data source owns the entity of `Object`. To own more entities,
/// override ``EntityDataSource/entities``.
///
/// **Isolation**: the same as for ``DataSource``.
@MainActor
open class KeyedDataSource<Value: Sendable, Object: ManagedObject>: DataSource<Value> {
    /// The key, which connects a property of the value and an attribute of the object.
    ///
    /// ```swift
    /// nonisolated override class var key: ObjectKey<Contact, ContactEntity> {
    ///     ObjectKey(\.uid, \.uid)
    /// }
    /// ```
    nonisolated open class var key: ObjectKey<Value, Object> {
        preconditionFailure("\(self) has no key. Override the class property key.")
    }

    /// Sets the attributes of an object from its value. The key of the object is already set.
    ///
    /// ```swift
    /// nonisolated override func update(
    ///     _ entity: ContactEntity, from contact: Contact, in context: PrivateContext
    /// ) {
    ///     entity.name = contact.name
    ///     entity.phone = contact.phone
    /// }
    /// ```
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context or an object.
    ///
    /// - Parameters:
    ///   - object: The stored object with the value's key, or a new object.
    ///   - value: The value that was added or synced.
    ///   - context: The private context, in which the hook can look up, insert and delete other objects.
    /// - Throws: Any error. After an error, the whole batch is rolled back. The default throws `hookNotOverridden`.
    open nonisolated func update(_ object: Object, from value: Value, in context: PrivateContext) throws {
        throw DataSourceError(hook: "update(_:from:in:)", of: self, for: "add")
    }

    /// Links an object to objects whose values may come later in the list.
    ///
    /// The library calls the hook for each value, after all values of the batch were added. See
    /// ``DataSource/onLink(_:for:in:)``. The default does nothing.
    ///
    /// ```swift
    /// nonisolated override func link(
    ///     _ contact: ContactEntity, from recruit: Recruit, in context: PrivateContext
    /// ) throws {
    ///     contact.group = try recruit.gid.flatMap {
    ///         try context.first(GroupEntity.self, where: \.gid, equals: $0)
    ///     }
    /// }
    /// ```
    ///
    /// **Isolation**: the queue of the private context. The hook must not keep the context or an object.
    ///
    /// - Parameters:
    ///   - object: The object of the value.
    ///   - value: The value that was added or synced.
    ///   - context: The private context of the batch.
    /// - Throws: Any error. After an error, the whole batch is rolled back.
    open nonisolated func link(_ object: Object, from value: Value, in context: PrivateContext) throws {}

    nonisolated open override class var entities: [ManagedObject.Type] { [Object.self] }

    open nonisolated override func onAdd(_ value: Value, in context: PrivateContext) throws -> ManagedObject? {
        let object = try Self.key.findOrInsert(value, context)
        try update(object, from: value, in: context)
        return object
    }

    open nonisolated override func onLink(
        _ object: ManagedObject, for value: Value, in context: PrivateContext
    ) throws {
        if let object = object as? Object { try link(object, from: value, in: context) }
    }

    open nonisolated override func onDelete(_ value: Value, in context: PrivateContext) throws {
        if let object = try Self.key.find(value, context) { context.delete(object) }
    }

    open nonisolated override func prepare(_ values: [Value], in context: PrivateContext) throws {
        try Self.key.preload(values, context)
    }

    /// Makes the objects in scope equal to a list. See
    /// ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///
    /// ```swift
    /// let report = try await contacts.sync(serverList, deleting: .atMost(0.2))
    /// print(
    ///     "\(report.inserted) new, \(report.updated) changed, \(report.deleted) gone")
    /// ```
    ///
    /// - Parameters:
    ///   - values: The whole list.
    ///   - scope: The scope, as in ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - deleting: The limit, as in ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - operations: The operations, as in ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - options: The options, as in ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - progress: Gets the number of added values; nil, the default, for no reports.
    /// - Throws: Errors of ``DataSource/sync(_:entity:scope:deleting:operations:options:waitFor:progress:)``. If the call
    ///   throws, it changes nothing.
    @discardableResult
    public nonisolated func sync(
        _ values: [Value], scope: FetchPredicate<Object>? = nil, deleting: SyncDeletion = .guarded,
        operations: SyncOperations = .all, options: SyncOptions = [], waitFor level: SaveLevel = .store,
        progress: BatchProgress? = nil
    ) async throws -> SyncReport {
        try await sync(
            values, entity: Object.self, scope: scope, deleting: deleting, operations: operations, options: options,
            waitFor: level, progress: progress)
    }
}

/// The property of a value and the attribute of an object that identify the value's object.
///
/// ```swift
/// let key = ObjectKey(\Contact.uid, \ContactEntity.uid)
/// ```
public struct ObjectKey<Value: Sendable, Object: ManagedObject>: Sendable {
    let find: @Sendable (Value, PrivateContext) throws -> Object?
    let findOrInsert: @Sendable (Value, PrivateContext) throws -> Object
    let preload: @Sendable ([Value], PrivateContext) throws -> Void

    /// Makes a key with an attribute that is not optional.
    ///
    /// ```swift
    /// let key = ObjectKey(\Contact.uid, \ContactEntity.uid)
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property with the key of a value.
    ///   - attribute: The attribute with the key of an object. It should have a uniqueness constraint in the model.
    public init<Key: AttributeStorable>(
        _ property: any KeyPath<Value, Key> & Sendable, _ attribute: any KeyPath<Object, Key> & Sendable
    ) {
        find = { try $1.first(Object.self, where: attribute, equals: $0[keyPath: property]) }
        findOrInsert = { try $1.findOrInsert(Object.self, where: attribute, equals: $0[keyPath: property]) }
        preload = { values, context in
            try context.preload(Object.self, where: attribute, in: values.lazy.map { $0[keyPath: property] })
        }
    }

    /// Makes a key with an optional attribute.
    ///
    /// ```swift
    /// let key = ObjectKey(\Caller.number, \ContactEntity.phone)
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property with the key of a value.
    ///   - attribute: The attribute with the key of an object. It should have a uniqueness constraint in the model.
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
