/// The data of one feature of an app: a set of entities that no other data source may change, and a private context.
///
/// Subclass it, list the entities, and say how a plain value becomes an object:
///
/// ```swift
/// final class ContactDataSource: DataSource {
///     override class var entities: [ManagedObject.Type] { [ContactEntity.self] }
///
///     override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
///         guard let data = object as? ContactData else { return nil }
///         let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: data.uid)
///         contact.name = data.name
///         return contact
///     }
/// }
/// ```
///
/// ``PersistentContainer/dataSource(_:)`` makes the one instance of each subclass.
///
/// **Isolation**: reading is on the main actor; adding, deleting and syncing may be called from anywhere; hooks run in the
/// private context, where the compiler lets them touch nothing else.
@MainActor
open class DataSource: MainReader {
    /// The context in which the hooks run.
    public nonisolated let context: PrivateContext
    /// The context that ``fetch(_:where:sortBy:limit:offset:)`` reads.
    public nonisolated let main: MainContext
    /// The lists that are registered, by data key.
    var boundLists: [String: BoundList] = [:]

    /// A container makes data sources.
    public required init(_ binding: borrowing DataSourceBinding) {
        context = binding.context
        main = binding.main
        context.source.setHandler { [weak self] in self?.handleError($0) }
    }

    /// The classes of the entities that this data source alone may change.
    ///
    /// **Isolation**: none, since opening a store asks for it and never waits for the main actor.
    nonisolated open class var entities: [ManagedObject.Type] { [] }

    /// Called when something becomes of a save that no call waits for: one that was made with `waitFor: .main`. Once when it
    /// is late, and once when it is taken back.
    ///
    /// It does nothing unless it is overridden. ``PersistentContainer/failures`` tells of all data sources.
    ///
    /// **Isolation**: none; it is called on a queue of its own, in the order of the failures, and may use the container.
    open nonisolated func handleError(_ failure: StoreFailure) {}

    /// Makes or finds the object for a value, and gives it the value's content.
    ///
    /// Called for each value of `add` and `sync`. Find the object by its key first, so that adding a value twice is the
    /// same as adding it once.
    ///
    /// **Isolation**: the private context.
    ///
    /// - Returns: The object, or nil for a value that is not for this data source; reports count it.
    /// - Throws: Anything; then nothing of the whole batch is saved.
    open func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        preconditionFailure("\(type(of: self)) was given a value to add. Override onAdd(_:in:).")
    }

    /// Deletes the object that stands for a value, if there is one.
    ///
    /// Called for each value of `delete`.
    ///
    /// **Isolation**: the private context.
    ///
    /// - Throws: Anything; then nothing of the whole batch is saved.
    open func onDelete(_ object: any Sendable, in context: isolated PrivateContext) throws {
        preconditionFailure("\(type(of: self)) was given a value to delete. Override onDelete(_:in:).")
    }
}

/// What a container makes a ``DataSource`` from. Only containers can make one, and nobody can keep it.
public struct DataSourceBinding: ~Copyable {
    let context: PrivateContext
    let main: MainContext
}
