public import Foundation
internal import RowStore

/// The base class of all data sources, with entities, a private context, and functions for reading.
///
/// In an app, subclass ``DataSource`` or ``KeyedDataSource``. Use this class as a type for any data source.
///
/// **Isolation**: read objects and register lists on the main actor. Call `perform`, `update`, `delete` and `updates` on any
/// actor.
@MainActor
open class EntityDataSource {
    package nonisolated let tier: PrivateTier
    package nonisolated let mainTier: MainTier
    /// The registered lists.
    let boundLists: BoundLists

    /// Makes a data source. Only a container calls this initializer.
    public required init(_ binding: borrowing DataSourceBinding) {
        tier = binding.tier
        mainTier = binding.mainTier
        boundLists = BoundLists(binding.mainTier)
        tier.source.setHandler { [weak self] in self?.handleError($0) }
        if tier.completes { tier.connect(self as? any SaveCompleting) }
    }

    /// The classes of the entities that only this data source may change.
    ///
    /// ```swift
    /// nonisolated override class var entities: [ManagedObject.Type] {
    ///     [ContactEntity.self, GroupEntity.self]
    /// }
    /// ```
    ///
    /// **Isolation**: none, because the property is read while a store is opened, and opening never waits for the main actor.
    nonisolated open class var entities: [ManagedObject.Type] { [] }

    /// The ``DataSource/mappingVersion`` of the class; 0 for a class without one.
    nonisolated class var answerMappingVersion: Int { 0 }

    /// The context that the user interface reads. All data sources of a container have the same main context.
    public var main: MainContext { mainTier.context }

    /// Called when a save with `waitFor: .main` cannot be written: once when the save is late, and once when it is
    /// rolled back. Also called when a `writeAsync` without a callback fails.
    ///
    /// ```swift
    /// nonisolated override func handleError(_ failure: StoreFailure) {
    ///     print(failure)
    /// }
    /// ```
    ///
    /// The default does nothing. ``PersistentContainer/failures`` has the failures of all data sources.
    ///
    /// **Isolation**: none. The hook runs on its own queue, in the order of the failures, and may use the container.
    open nonisolated func handleError(_ failure: StoreFailure) {}
}

/// The argument with which a container makes a data source. Only containers can make a binding, and a binding cannot be kept.
public struct DataSourceBinding: ~Copyable {
    let tier: PrivateTier
    let mainTier: MainTier
}

/// Changes or deletes many objects at once.
///
/// Each call makes one save. As in any save, the rules of the model, uniqueness, derived attributes and ownership apply, and
/// all objects and lists show the changes. Only matching rows whose values change are written. If there are more than a few
/// such rows and no attribute is derived, a single statement writes them. The call costs one fetch plus the writing of the
/// changed rows.
///
/// The call makes objects from the rows only in these cases:
/// - The predicate needs objects.
/// - An assigned attribute is unique or derived.
/// - An assigned property does more than set its attribute.
/// - An updated entity has a transient attribute, or a derived attribute that must be unique.
/// - A deleted entity has delete rules that affect other objects.
/// - A deleted entity is the destination of a relationship that has a minimum or maximum count.
///
/// If more than 16,384 rows match, an exclusive SQLite store without a kept history changes the rows itself. This requires that
/// the predicate uses no relationships, and that an updated entity has no derived attributes. The store then needs bounded
/// memory and a separate transaction, which runs at once, whatever level the call waits for. The changed rows are not reported
/// one by one: objects are brought up to date, contexts forget the rows of the entity, and lists read their rows again
/// (``ListReason/Kind/bulkChange``). The rules of the model are checked on only 256 rows of each entity. In all other cases,
/// all rows are kept in memory, with about 500 bytes for each row.
extension EntityDataSource {
    /// Sets the same values in all matching objects.
    ///
    /// ```swift
    /// try await contacts.update(
    ///     ContactEntity.self, where: \.age >= 18, set: [.set(\.isFavorite, true)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all objects.
    ///   - assignments: The new values, which are the same for every object.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Throws: `validationFailed`, `uniquenessViolated`, `entityNotOwned`; errors of a fetch; errors of the store. If the
    ///   call throws, it changes nothing.
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

    /// Deletes all matching objects.
    ///
    /// ```swift
    /// let report = try await contacts.delete(ContactEntity.self, where: \.age < 18)
    /// print("\(report.deleted) gone")
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil for all objects.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Throws: `deletionDenied`, `validationFailed`, `entityNotOwned`; errors of a fetch; errors of the store. If the
    ///   call throws, it changes nothing.
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

/// Runs work in the private context.
extension EntityDataSource {
    /// Runs the work in the private context, saves its edits in one save, and returns the result of the work when the rows are
    /// in the store.
    ///
    /// ```swift
    /// let count = try await contacts.perform { context in
    ///     let minors = try context.fetch(ContactEntity.self, where: \.age < 18)
    ///     for minor in minors { minor.note = "minor" }
    ///     return minors.count
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - work: A closure that runs once, on the queue of the private context. Objects cannot leave the closure.
    /// - Throws: Any error that the work throws; otherwise errors of `add`. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel = .store, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        try await tier.perform(waitFor: level, work).result
    }

    /// Runs the work in the private context, and blocks the calling thread until the rows are in the store.
    ///
    /// ```swift
    /// try contacts.performAndWait { try $0.insert(ContactEntity.self).uid = "1" }
    /// ```
    ///
    /// You can call this function on the main thread, because private contexts never wait for the main actor. When the
    /// call returns, fetches and objects of the main context show the save. Lists show the save when the main actor is
    /// free. A call inside a private context or `container.read` is a programmer error and traps.
    ///
    /// The call waits for earlier batches of this data source, and for running batches of other data sources, if these batches
    /// may delete objects and their delete rules reach this data source.
    ///
    /// - Throws: Any error that the work throws; otherwise errors of `add`. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> Result {
        try tier.performAndWait(work).result
    }
}

extension EntityDataSource {
    /// Diagnostics about the use of this data source since the container was opened. The oldest diagnostic is the first. Each
    /// diagnostic is reported once, and there are at most 64.
    ///
    /// An attribute is reported if `findOrInsert` or `first(where:equals:)` searches for its values, and the attribute has
    /// neither a uniqueness constraint nor a fetch index. In this case, the store reads every row of the entity. An attribute
    /// is also reported if a batch looks up its values one by one, with many queries: 16 for a store on a server, and 1,024 for
    /// any other store. A relationship is reported if a batch reads it for one object at a time, and makes that many queries.
    public nonisolated var diagnostics: [DataSourceDiagnostic] { tier.stack.diagnostics(of: tier.owner) }
}

/// Makes drafts, whose edits on the main actor can be discarded.
extension EntityDataSource {
    /// Makes a draft with an editable copy of an object. The relationships of the copy lead to copies, too.
    ///
    /// ```swift
    /// let draft = try contacts.draft(of: contact)
    /// draft.object.name = "Zhang Yide"
    /// try await draft.save()
    /// ```
    ///
    /// - Parameter object: An object of ``main``. Passing an object of another context is a programmer error and traps.
    /// - Throws: `objectGone` if the object was deleted; `storeClosed`; errors of the store if a large value of the object must be
    ///   read.
    public func draft<Object: ManagedObject>(of object: Object) throws -> Draft<Object> {
        precondition(
            object.context === main,
            "An object of another context was passed to draft(of:). Look the object up in the main context by its objectID first."
        )
        mainTier.prepareToFetch()
        if object.isDeleted {
            throw DataSourceError(
                .objectGone, "\(object.objectID) has been deleted and cannot be edited. Insert a new object.",
                entityName: object.layout.name)
        }
        return try Draft(mainTier) { context in try context.typed(try context.copy(of: object)) }
    }

    /// Makes a draft with an editable copy of the object that has the given id. The main context need not have the object.
    ///
    /// ```swift
    /// let draft = try contacts.draft(of: ContactEntity.self, id: id)
    /// draft.object.name = "Zhang Yide"
    /// try await draft.save()
    /// ```
    ///
    /// **Complexity**: at most one row is read from the store.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - id: The id of an object of the same store.
    /// - Throws: `objectGone` if the store has no such object; `unknownEntity` for an object of another class; `storeClosed`;
    ///   errors of the store.
    public func draft<Object: ManagedObject>(of type: Object.Type, id: ManagedObjectID) throws -> Draft<Object> {
        mainTier.prepareToFetch()
        return try Draft(mainTier) { context in
            if let object = try context.object(type, id: id) { return object }
            throw DataSourceError(
                .objectGone,
                "The store has no object \(id). The object was deleted, or the id belongs to another store. Insert a new object.",
                entityName: type.entityName)
        }
    }

    /// Makes a draft with a new object. The object has the default values of the model.
    ///
    /// ```swift
    /// let draft = try contacts.draft(inserting: ContactEntity.self)
    /// draft.object.uid = "5"
    /// try await draft.save()
    /// ```
    ///
    /// - Throws: `abstractEntity`, `unknownEntity`, `keysExhausted`, `storeClosed`.
    public func draft<Object: ManagedObject>(inserting type: Object.Type) throws -> Draft<Object> {
        try Draft(mainTier) { context in try context.insert(type) }
    }
}

/// Reads from ``main`` on the main actor, and reads values from any actor.
extension EntityDataSource {
    /// Returns the objects of a request. See ``ManagedObjectContext/fetch(_:)`` of ``main``.
    ///
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
    /// let adults = try contacts.fetch(request)
    /// ```
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`,
    ///   `predicateFailed`, and errors of the store.
    public func fetch<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> [Object] {
        try main.fetch(request)
    }

    /// Returns the matching objects, in order. See
    /// ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)`` of ``main``.
    ///
    /// ```swift
    /// let found = try contacts.fetch(
    ///     ContactEntity.self, where: \.name == "Guan Yu", order: [.ascending(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all objects.
    ///   - order: The sort order. The first attribute is the most significant. Objects that compare equal are in creation
    ///     order.
    ///   - limit: The largest number of objects; nil, the default, for all.
    ///   - offset: The number of objects to skip; 0 by default.
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// Returns the matching objects, sorted by Foundation's sort descriptors.
    ///
    /// ```swift
    /// let byName = try contacts.fetch(
    ///     ContactEntity.self, order: [SortDescriptor(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all objects.
    ///   - order: The sort descriptors. The first descriptor is the most significant. See ``FetchOrder/init(_:)``.
    ///   - limit: The largest number of objects; nil, the default, for all.
    ///   - offset: The number of objects to skip; 0 by default.
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    @_disfavoredOverload
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// Returns the number of matching objects.
    ///
    /// ```swift
    /// let adults = try contacts.count(ContactEntity.self, where: \.age >= 18)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all objects.
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Int {
        try main.count(type, where: predicate)
    }

    /// Returns values that are made from the objects of a request, in the order of the request.
    ///
    /// The values are read in the data source's private context, after all earlier calls. ``PersistentContainer/read(_:)`` does
    /// not wait for earlier calls.
    ///
    /// **Isolation**: none, because no object leaves its context.
    ///
    /// ```swift
    /// let grown = try await contacts.fetch(
    ///     as: ContactValue.self, ObjectRequest(where: \.age >= 18))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: The request for the objects; by default all objects, in creation order.
    /// - Throws: Errors of `fetch`, and errors of the value's initializer.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: ObjectRequest<Value.Object> = ObjectRequest()
    ) async throws -> [Value] {
        try await tier.perform(waitFor: .store, values: 0) { try $0.fetch(as: type, request) }.result
    }
}

/// The functions that the Skopelos interface calls.
extension EntityDataSource {
    /// Runs the work in the private context, after all earlier calls, and returns at once.
    ///
    /// - Parameter callback: Called on the main actor when the save has failed, or when the main context and its lists show the
    ///   save. Without a callback, ``PersistentContainer/failures`` reports a failure.
    package nonisolated func performLater(
        _ work: @escaping @Sendable (PrivateContext) throws -> Void,
        callback: (@MainActor @Sendable (Result<Void, any Error>) -> Void)?
    ) {
        let (failures, source) = (tier.stack.root.failures, tier.source)
        tier.performLater(work) { outcome in
            if let callback { return callback(outcome.map { _ in }) }
            guard case .failure(let error) = outcome else { return }
            failures.report(StoreFailure.Report(.writeFailed, DataSourceError(ofWrite: error, source.name), source))
        }
    }

    /// Deletes all objects of the entities that this data source owns, in one save.
    package nonisolated func deleteAllOwned() async throws {
        _ = try await tier.perform(waitFor: .store) { [tier] in try $0.deleteAllOwned(from: tier.source) }
    }
}

extension DataSourceError {
    /// Makes the error for a write that no caller waits for.
    fileprivate init(ofWrite error: any Error, _ source: String) {
        if let error = error as? DataSourceError {
            self = error
        } else {
            self.init(
                .writeFailed,
                "A write of \(source) threw an error, so none of its edits were saved. See the cause, or pass a callback to get the error itself.",
                cause: "\(error)")
        }
    }
}
