public import Foundation
internal import RowStore

/// The base of all data sources, whatever their values are: entities, a private context, and reading.
///
/// Apps subclass ``DataSource`` or ``KeyedDataSource``. Use this class as a type where any data source is accepted.
///
/// **Isolation**: reading objects and binding lists is on the main actor; `perform`, `update`, `delete` and `updates` can be
/// called anywhere.
@MainActor
open class EntityDataSource {
    /// Where batches run.
    package nonisolated let tier: PrivateTier
    package nonisolated let mainTier: MainTier
    /// The lists that are registered.
    let boundLists: BoundLists

    /// Only a container makes data sources.
    public required init(_ binding: borrowing DataSourceBinding) {
        tier = binding.tier
        mainTier = binding.mainTier
        boundLists = BoundLists(binding.mainTier)
        tier.source.setHandler { [weak self] in self?.handleError($0) }
    }

    /// The classes of the entities that this data source alone may change.
    ///
    /// **Isolation**: none, because opening a store calls it and never waits for the main actor.
    nonisolated open class var entities: [ManagedObject.Type] { [] }

    /// The context that the user interface reads; the same for all data sources of a container.
    public var main: MainContext { mainTier.context }

    /// Called when a save with `waitFor: .main` cannot be written: once when it is late, and once when it is taken back.
    ///
    /// The default does nothing. ``PersistentContainer/failures`` has the failures of all data sources.
    ///
    /// **Isolation**: none; it is called on a queue of its own, in the order of the failures, and may use the container.
    open nonisolated func handleError(_ failure: StoreFailure) {}
}

/// What a container makes a data source from. Only containers can make one, and it cannot be kept.
public struct DataSourceBinding: ~Copyable {
    let tier: PrivateTier
    let mainTier: MainTier
}

/// Changing or deleting many objects at once.
///
/// Each call is one save like any other: rules of the model, uniqueness, derived attributes and ownership apply, and everything
/// that shows the objects is updated. Only rows that match and really change are written, by one statement if there are more
/// than a few and no attribute is derived.
///
/// No objects are made from the rows, unless the predicate needs them, an assigned attribute is unique, derived or transient,
/// or a property does more than set its attribute.
///
/// More than 16,384 rows are changed by the store in a transaction of their own, so that any number of them takes little memory:
/// at once, with whatever level the call waits for. Nobody is notified of single rows then: objects are brought up to date, contexts
/// forget what they know of the entity, and lists read their rows again (``ListReason/Kind/bulkChange``). The rules of the model
/// are checked on some of the rows. This is so in an exclusive SQLite store, for a predicate that uses no relationships, and
/// for updates only without derived attributes; otherwise the rows are held in memory, about 500 bytes each.
extension EntityDataSource {
    /// Gives every object that matches the same values.
    ///
    /// ```swift
    /// try await mail.update(Message.self, where: !\.isRead, set: [.set(\.isRead, true)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - assignments: The new values, the same for every object.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `validationFailed`, `uniquenessViolated`, `entityNotOwned`; what a fetch throws; what the store throws.
    ///   Nothing has happened then.
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

    /// Deletes every object that matches.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil for all.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `entityNotOwned`; what a fetch throws; what the store throws. Nothing has happened then.
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

/// Running any work in the private context.
extension EntityDataSource {
    /// Runs the work in the private context, saves its edits, and returns its result once the rows are in the store.
    ///
    /// - Parameters:
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: It runs on the queue of the private context. The call returns its result.
    /// - Throws: What the work throws; nothing has happened then. Otherwise what `add` throws.
    @discardableResult
    public nonisolated func perform<Result: Sendable>(
        waitFor level: SaveLevel = .store, _ work: @Sendable (PrivateContext) throws -> Result
    ) async throws -> Result {
        try await tier.perform(waitFor: level, work).result
    }

    /// Blocks the calling thread until the work has run and the rows are in the store.
    ///
    /// You can call it on the main thread, because private contexts never wait for main. When it returns, fetches and objects
    /// of main show the save; lists show it when the main actor is free. Calling it inside a private context or
    /// `container.read` is a programmer error and traps.
    ///
    /// - Throws: What the work throws; nothing has happened then. Otherwise what `add` throws.
    @discardableResult
    public nonisolated func performAndWait<Result: Sendable>(
        _ work: @Sendable (PrivateContext) throws -> Result
    ) throws -> Result {
        try tier.performAndWait(work).result
    }
}

extension EntityDataSource {
    /// Remarks about the use of this data source since the container was opened, in the order in which they were made. Each is
    /// made once; there are at most 64.
    ///
    /// An attribute is listed when `findOrInsert` or `first(where:equals:)` looks its values up and it has neither a uniqueness
    /// constraint nor a fetch index: the store then reads every row of the entity. For a store on a server, it is also listed
    /// when one batch has looked up 16 of its values, each with a query of its own.
    public nonisolated var diagnostics: [DataSourceDiagnostic] { tier.stack.diagnostics(of: tier.owner) }
}

/// Drafts: edits on the main actor that can be thrown away.
extension EntityDataSource {
    /// A draft with an editable copy of an object, and of the objects that it leads to.
    ///
    /// ```swift
    /// let draft = try contacts.draft(of: contact)
    /// draft.object.name = "Zhang Yide"
    /// try await draft.save()
    /// ```
    ///
    /// - Parameter object: An object of ``main``. The copy has its values.
    /// - Throws: `objectGone` if it has been deleted; what the store throws if a large value of the object has to be read.
    public func draft<Object: ManagedObject>(of object: Object) throws -> Draft<Object> {
        precondition(
            object.context === main,
            "An object of another context was passed to draft(of:). Look the object up on main by its objectID first.")
        mainTier.prepareToFetch()
        if object.isDeleted {
            throw DataSourceError(
                .objectGone, "\(object.objectID) has been deleted, so it cannot be edited. Insert a new object.",
                entityName: object.layout.name)
        }
        return try Draft(mainTier) { context in try context.typed(try context.copy(of: object)) }
    }

    /// A draft with a new object, which has the default values of the model.
    ///
    /// - Throws: `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public func draft<Object: ManagedObject>(inserting type: Object.Type) throws -> Draft<Object> {
        try Draft(mainTier) { context in try context.insert(type) }
    }
}

/// The most frequent reading verbs of ``main``, and values from any thread.
extension EntityDataSource {
    /// The objects of a request, as ``ManagedObjectContext/fetch(_:)`` of ``main``.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`,
    ///   `predicateFailed`, and what the store throws.
    public func fetch<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> [Object] {
        try main.fetch(request)
    }

    /// The objects that match, in order, as
    /// ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)`` of ``main``.
    ///
    /// ```swift
    /// let found = try contacts.fetch(ContactEntity.self, where: \.name == "Guan Yu", order: [.ascending(\.name)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default.
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// The objects that match, in the order of Foundation's sort descriptors.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: Sort descriptors, the most significant first; see ``FetchOrder/init(_:)``.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default.
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    @_disfavoredOverload
    public func fetch<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, order: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        try main.fetch(type, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// How many objects match.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public func count<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil
    ) throws -> Int {
        try main.count(type, where: predicate)
    }

    /// The values of the objects of a request, in its order. You can call it anywhere, because no object leaves its context.
    ///
    /// They are read in the data source's private context, after all earlier calls. ``PersistentContainer/read(_:)`` does not
    /// wait for those.
    ///
    /// ```swift
    /// let grown = try await contacts.fetch(as: ContactValue.self, ObjectRequest(where: \.age >= 18))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: Which objects, in which order; by default all, in the order of creation.
    /// - Throws: What `fetch` throws, and what the value's initializer throws.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: ObjectRequest<Value.Object> = ObjectRequest()
    ) async throws -> [Value] {
        try await tier.perform(waitFor: .store, values: 0) { try $0.fetch(as: type, request) }.result
    }
}

/// What the forms of Skopelos are made of.
extension EntityDataSource {
    /// Runs the work in the private context, after all earlier calls, and returns at once.
    ///
    /// - Parameter callback: Called on the main actor, when main and its lists show the save or when it has failed. Without it, a
    ///   failure is reported.
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
    /// The outcome of a write that no caller awaits.
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
