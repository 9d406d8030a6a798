internal import Foundation
internal import ManagedModel
internal import QueryLanguage
internal import RowStore

/// Loading one object of a server.
extension DataSource {
    /// Returns the value of the object with a key. If the object is missing or old, the call loads a value and adds it first.
    ///
    /// ```swift
    /// let contact = try await contacts.value(
    ///     where: \.uid, equals: "7", as: ContactValue.self
    /// ) { uid in
    ///     try await server.contact(uid)
    /// }
    /// ```
    ///
    /// If several tasks look up the same missing object at the same time, the loader runs only once, and all tasks get its
    /// result or its error. Errors are not kept: the next call loads again. In a canceled task, the call throws at once. The
    /// load is canceled when all tasks that wait for it are canceled. Each task waits at most for its own time limit. If
    /// another answer has stored or deleted the object meanwhile, the result of the loader is not stored.
    ///
    /// With a `maxAge`, the call is a ``load(_:maxAge:whenStale:timeLimit:deleting:options:_:)`` of a separate scope:
    /// ``SyncScope/init(where:equals:)``. So the store keeps the time of the request, and loads pause after a failure. If several
    /// processes that share the store load the object, one of them makes the request. The store keeps 10,000 scopes. Beyond this
    /// number, it forgets the scopes with the oldest requests, and their objects count as old.
    ///
    /// With ``StalePolicy/serveStale``, an object that is in the store is returned at once. If it is old, it is loaded in the
    /// background, and no error of the loader is thrown. An object that was never loaded alone, for example an object of a
    /// list, counts as old. If the object is missing, the call waits, as without this policy.
    ///
    /// If the loader returns nil, the objects with the key are deleted. Until `maxAge` has passed since this request, the call
    /// returns nil without calling the loader again. The call also returns nil without calling the loader if the object was
    /// deleted after its last request: by the app, or because it was not in a list of the server. An object that a
    /// ``ScopeEviction`` has deleted is loaded again, if the attribute has a uniqueness constraint and is a string, a whole
    /// number or a UUID.
    ///
    /// If the loader returns a value, the call deletes no other object, even if the object has the same key. There is one
    /// exception: if the attribute has a uniqueness constraint, and the loaded value has another key, the call deletes the
    /// object with the requested key.
    ///
    /// ```swift
    /// let fresh = try await contacts.value(
    ///     where: \.uid, equals: "7", as: ContactValue.self, maxAge: .seconds(60)
    /// ) { uid in
    ///     try await server.contact(uid)
    /// }
    /// ```
    ///
    /// The look-up runs in the private context, after all earlier calls. Its cost is the same as for
    /// ``ManagedObjectContext/first(_:where:equals:)``. On the main actor, the call returns after the main context
    /// shows the added object. If the load fails, the call throws after lists show the failure.
    ///
    /// **Isolation**: none. The loader runs in its own task, off the main actor. The loader must not call this function
    /// for the same object, because the loader would wait for itself.
    ///
    /// - Parameters:
    ///   - attribute: The attribute to search. Give the attribute a uniqueness constraint in the model.
    ///   - key: The value to search for. The loader gets the same value.
    ///   - type: The type of the returned value.
    ///   - maxAge: The age from which the object is loaded again, counted from the request; nil, the default, to load only a
    ///     missing object.
    ///   - whenStale: Whether to wait for the server if the object is in the store, but is old; `.wait` by default. Without a
    ///     `maxAge`, no object is old, and this argument has no effect.
    ///   - timeLimit: The longest time for each call of the loader, at most a week; a minute by default. If the
    ///     call waits for the loader of another task, it waits at most this time for each call of that loader.
    ///   - load: Loads and returns the value to add. Returns nil if the server has no such value.
    /// - Returns: The value; nil if nothing was loaded, or if the loaded object has a different value of the attribute.
    /// - Throws: Errors of the loader; `loadTimedOut`; `scopeChanged` if other answers have changed the same objects during
    ///   each of three requests; `storeReset` if the store was reset meanwhile; errors of ``add(_:waitFor:progress:)``; errors
    ///   of the value's initializer; `CancellationError`; with a `maxAge`, also the errors of
    ///   ``load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``, such as `valueTooLarge` for a key of about 1 KB.
    public nonisolated func value<Result: ManagedObjectConvertible, Key: AttributeStorable>(
        where attribute: any KeyPath<Result.Object, Key> & Sendable, equals key: Key, as type: Result.Type,
        maxAge: Duration? = nil, whenStale: StalePolicy = .wait, timeLimit: Duration = .seconds(60),
        orLoad load: @escaping @Sendable (Key) async throws -> Value?
    ) async throws -> Result? {
        let generation = tier.stack.root.generation
        if let maxAge {
            let scope = SyncScope(where: attribute, equals: key)
            let deletion: SyncDeletion = isUnique(attribute, of: Result.Object.self) ? .all : .none
            let request = { @Sendable (_: ScopeRequest) async throws -> ServerAnswer<Value> in
                try await load(key).map { .list([$0]) } ?? .gone
            }
            if whenStale == .serveStale, let found = try await find(attribute, key, type) {
                try await refresh(
                    scope, maxAge: maxAge, timeLimit: timeLimit, deleting: deletion, generation: generation, request)
                return found
            }
            try await self.load(scope, maxAge: maxAge, timeLimit: timeLimit, deleting: deletion, request)
        } else if let found = try await find(attribute, key, type) {
            return found
        } else {
            try await loadMissing(
                attribute, key, as: type, generation: generation, timeLimit: timeLimit, orLoad: load)
        }
        // Run the look-up as a write, because a write brings the main context up to date.
        return try await find(attribute, key, type, values: 1)
    }

    /// Loads a missing object, and adds it, for a call without `maxAge`. Callers that wait for the same object get the same
    /// load.
    private nonisolated func loadMissing<Result: ManagedObjectConvertible, Key: AttributeStorable>(
        _ attribute: any KeyPath<Result.Object, Key> & Sendable, _ key: Key, as type: Result.Type,
        generation: Int, timeLimit: Duration, orLoad load: @escaping @Sendable (Key) async throws -> Value?
    ) async throws {
        let root = tier.stack.root
        let work = CoalescedLoads.Key.object(
            attribute: attribute, value: key.storedValue, generation: generation)
        let patience = CoalescedLoads.Patience(
            timeLimit, root.scheduling, "the same object of \(Result.Object.entityName)",
            of: Result.Object.entityName)
        try await tier.loads.run(work, patience) {
            try await AnsweredRequest.repeating { canRequestAgain in
                // Another load may have added the object after the look-up.
                if try await self.find(attribute, key, type) != nil { return }
                var request = root.requests.begin(at: root.scheduling.now(), canRequestAgain: canRequestAgain)
                defer { root.requests.end(request) }
                try root.requests.recordLastAnswer(&request, in: root.store)
                self.tier.loads.willRequest(work)
                let value = try await AnsweredRequest.asking {
                    try await LoadRace.limited(
                        to: timeLimit, "an object of \(Result.Object.entityName)", of: Result.Object.entityName,
                        root.scheduling
                    ) {
                        try await load(key)
                    }
                }
                if let value { try await self.store(value, request, generation) }
            }
        }
    }

    /// Saves a loaded value.
    ///
    /// - Throws: `scopeChanged` if the save would replace another answer; `storeReset`; errors of the hook.
    private nonisolated func store(_ value: Value, _ request: AnsweredRequest, _ generation: Int) async throws {
        _ = try await tier.store(request, deletes: false) { [tier] context in
            if tier.stack.root.generation != generation { throw RootTier.storeReset }
            let objects = try self.add([value], in: context) { _ in }
            try context.endSweeps(objects)
            try context.checkLists()
            context.listedObjects = objects.compactMap { $0 }
        }
    }

    /// Whether each value of the attribute identifies at most one object.
    private nonisolated func isUnique<Object: ManagedObject>(_ attribute: AnyKeyPath, of type: Object.Type) -> Bool {
        guard let layout = tier.stack.layout.entity(named: type.entityName),
            let name = type.attributeKeyPaths[attribute],
            let column = layout.column(named: name)
        else { return false }
        return layout.constraint(onColumn: column) != nil
    }

    private nonisolated func find<Result: ManagedObjectConvertible, Key: AttributeStorable>(
        _ attribute: any KeyPath<Result.Object, Key> & Sendable, _ key: Key, _ type: Result.Type, values: Int = 0
    ) async throws -> Result? {
        try await tier.perform(waitFor: .store, values: values) { context in
            try context.first(Result.Object.self, where: attribute, equals: key).map { try Result($0) }
        }.result
    }
}
