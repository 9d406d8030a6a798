public import Foundation
internal import RowStore

/// The base class of all data sources: entities, a private context, and reading.
///
/// Apps subclass ``DataSource`` or ``KeyedDataSource``. Use this class as the type of any data source.
///
/// **Isolation**: reading objects and binding lists is on the main actor; `perform`, `update`, `delete` and `updates` can be
/// called anywhere.
@MainActor
open class EntityDataSource {
    package nonisolated let tier: PrivateTier
    package nonisolated let mainTier: MainTier
    /// The registered lists.
    let boundLists: BoundLists

    /// Only a container makes data sources.
    public required init(_ binding: borrowing DataSourceBinding) {
        tier = binding.tier
        mainTier = binding.mainTier
        boundLists = BoundLists(binding.mainTier)
        tier.source.setHandler { [weak self] in self?.handleError($0) }
    }

    /// The classes of the entities that only this data source may change.
    ///
    /// ```swift
    /// nonisolated override class var entities: [ManagedObject.Type] {
    ///     [ContactEntity.self, GroupEntity.self]
    /// }
    /// ```
    ///
    /// **Isolation**: none, because opening a store reads the property and never waits for the main actor.
    nonisolated open class var entities: [ManagedObject.Type] { [] }

    /// The context that the user interface reads; the same for all data sources of a container.
    public var main: MainContext { mainTier.context }

    /// Handles a save with `waitFor: .main` that cannot be written: once when the save is late, and once when it is rolled
    /// back.
    ///
    /// ```swift
    /// nonisolated override func handleError(_ failure: StoreFailure) {
    ///     print(failure)
    /// }
    /// ```
    ///
    /// The default does nothing. ``PersistentContainer/failures`` has the failures of all data sources.
    ///
    /// **Isolation**: none. The hook runs on a queue of its own, in the order of the failures, and may use the container.
    open nonisolated func handleError(_ failure: StoreFailure) {}
}

/// The argument with which a container makes a data source. Only containers can make a binding, and it cannot be kept.
public struct DataSourceBinding: ~Copyable {
    let tier: PrivateTier
    let mainTier: MainTier
}

/// Changing or deleting many objects at once.
///
/// Each call is one save like any other: the rules of the model, uniqueness, derived attributes and ownership apply, and all
/// objects and lists show the changes. Only matching rows that change are written. If there are more than a few such rows and
/// no attribute is derived, one statement writes them. The cost is that of a fetch and of the changed rows.
///
/// The call makes objects from the rows only if the predicate needs objects, an assigned attribute is unique, derived or
/// transient, or a property does more than set its attribute.
///
/// If more than 16,384 rows match, the store changes them in a transaction of their own, in bounded memory. The transaction
/// runs at once, whatever level the call waits for. Single rows are not reported then: objects are brought up to date, contexts
/// forget the rows of the entity, and lists read their rows again (``ListReason/Kind/bulkChange``). The rules of the model are
/// checked on some of the rows. The store makes the change if it is an exclusive SQLite store, the predicate uses no
/// relationships, and an updated entity has no derived attributes. Otherwise all rows are kept in memory, about 500 bytes each.
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
    ///   - predicate: A predicate for the objects; nil, the default, for all.
    ///   - assignments: The new values, the same for every object.
    ///   - level: How far the save must get before the call returns; `.store` by default.
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
    ///   - predicate: A predicate for the objects; nil for all.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `entityNotOwned`; errors of a fetch; errors of the store. If the call throws, it changes nothing.
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

/// Running work in the private context.
extension EntityDataSource {
    /// Runs the work in the private context, saves its edits as one save, and returns its result once the rows are in the
    /// store.
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
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: Runs once, on the queue of the private context. Objects cannot leave the work.
    /// - Throws: Errors of the work; otherwise errors of `add`. If the call throws, it changes nothing.
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
    /// The main thread may make the call, because private contexts never wait for main. When the call returns, fetches and
    /// objects of main show the save. Lists show the save when the main actor is free. A call inside a private context or
    /// `container.read` is a programmer error and traps.
    ///
    /// - Throws: Errors of the work; otherwise errors of `add`. If the call throws, it changes nothing.
    @discardableResult
    public nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> Result {
        try tier.performAndWait(work).result
    }
}

extension EntityDataSource {
    /// Diagnostics about the use of this data source since the container was opened, oldest first. Each is reported once; there
    /// are at most 64.
    ///
    /// An attribute is reported if `findOrInsert` or `first(where:equals:)` searches it, and it has neither a uniqueness
    /// constraint nor a fetch index. The store then reads every row of the entity. For a store on a server, an attribute is
    /// also reported if a batch has looked up 16 of its values, each with a query of its own.
    public nonisolated var diagnostics: [DataSourceDiagnostic] { tier.stack.diagnostics(of: tier.owner) }
}

/// Drafts: edits on the main actor that can be discarded.
extension EntityDataSource {
    /// Makes a draft with an editable copy of an object, and of the objects that its relationships lead to.
    ///
    /// ```swift
    /// let draft = try contacts.draft(of: contact)
    /// draft.object.name = "Zhang Yide"
    /// try await draft.save()
    /// ```
    ///
    /// - Parameter object: An object of ``main``. An object of another context traps.
    /// - Throws: `objectGone` if the object is deleted; errors of the store if a large value of the object has to be read.
    public func draft<Object: ManagedObject>(of object: Object) throws -> Draft<Object> {
        precondition(
            object.context === main,
            "An object of another context was passed to draft(of:). Look the object up on main by its objectID first.")
        mainTier.prepareToFetch()
        if object.isDeleted {
            throw DataSourceError(
                .objectGone, "\(object.objectID) has been deleted and cannot be edited. Insert a new object.",
                entityName: object.layout.name)
        }
        return try Draft(mainTier) { context in try context.typed(try context.copy(of: object)) }
    }

    /// Makes a draft with a new object, which has the default values of the model.
    ///
    /// ```swift
    /// let draft = try contacts.draft(inserting: ContactEntity.self)
    /// draft.object.uid = "5"
    /// try await draft.save()
    /// ```
    ///
    /// - Throws: `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public func draft<Object: ManagedObject>(inserting type: Object.Type) throws -> Draft<Object> {
        try Draft(mainTier) { context in try context.insert(type) }
    }
}

/// The most frequent reads of ``main``, and values from any thread.
extension EntityDataSource {
    /// The objects of a request, as ``ManagedObjectContext/fetch(_:)`` of ``main``.
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

    /// The objects that match, in order, as
    /// ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)`` of ``main``.
    ///
    /// ```swift
    /// let found = try contacts.fetch(
    ///     ContactEntity.self, where: \.name == "Guan Yu", order: [.ascending(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all.
    ///   - order: The sort keys, the most significant first. Objects with equal keys come in the order of creation.
    ///   - limit: The largest number of objects; nil, the default, for all.
    ///   - offset: The number of objects to skip; 0 by default.
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// The objects that match, in the order of Foundation's sort descriptors.
    ///
    /// ```swift
    /// let byName = try contacts.fetch(
    ///     ContactEntity.self, order: [SortDescriptor(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all.
    ///   - order: Sort descriptors, the most significant first; see ``FetchOrder/init(_:)``.
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

    /// The number of matching objects.
    ///
    /// ```swift
    /// let adults = try contacts.count(ContactEntity.self, where: \.age >= 18)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: A predicate for the objects; nil, the default, for all.
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Int {
        try main.count(type, where: predicate)
    }

    /// The values of the objects of a request, in its order.
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
    ///   - request: The request for the objects; by default all objects, in the order of creation.
    /// - Throws: Errors of `fetch`, and errors of the value's initializer.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: ObjectRequest<Value.Object> = ObjectRequest()
    ) async throws -> [Value] {
        try await tier.perform(waitFor: .store, values: 0) { try $0.fetch(as: type, request) }.result
    }
}

/// The functions behind the Skopelos interface.
extension EntityDataSource {
    /// Runs the work in the private context, after all earlier calls, and returns at once.
    ///
    /// - Parameter callback: Called on the main actor, when main and its lists show the save or when the save has failed.
    ///   Without a callback, a failure is reported.
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

    /// Deletes every object of the entities that this data source owns, in one save.
    package nonisolated func deleteAllOwned() async throws {
        _ = try await tier.perform(waitFor: .store) { [tier] in try $0.deleteAllOwned(from: tier.source) }
    }
}

extension DataSourceError {
    /// The error of a write that no caller awaits.
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
