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
open class DataSource<Value: Sendable>: AnyDataSource {
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
    init(hook: String, of source: AnyDataSource, for use: String) {
        self.init(
            .hookNotOverridden,
            "\(type(of: source)) got a value to \(use), but does not override \(hook). Override it. Nothing was saved.")
    }
}
