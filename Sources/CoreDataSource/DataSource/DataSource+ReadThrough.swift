internal import QueryLanguage

/// Looking up objects that may have to be loaded first.
extension DataSource {
    /// The value of the object with that key. If there is no such object, the value that the loader returns is added first.
    ///
    /// ```swift
    /// let contact = try await contacts.value(where: \.uid, equals: "7", as: ContactValue.self) { uid in
    ///     try await server.contact(uid)
    /// }
    /// ```
    ///
    /// If several tasks ask for the same object at once, one loader is called, once, and all of them get its result or its
    /// error. Errors are not kept: the next call loads again. A cancelled task returns at once; the load is cancelled when all
    /// tasks that wait for it are.
    ///
    /// The look-up is made in the private context, after all earlier calls, and costs as much as
    /// ``ManagedObjectContext/first(_:where:equals:)``. On the main actor, the call returns when main shows the added object.
    ///
    /// **Isolation**: none. The loader runs in a task of its own, off the main actor. It must not ask for the same object,
    /// because it would wait for itself.
    ///
    /// - Parameters:
    ///   - attribute: The attribute to search. It should have a uniqueness constraint in the model.
    ///   - key: The value to look for. It is passed to the loader.
    ///   - type: The type of the value that is returned.
    ///   - load: Loads the value to add; returns nil if there is none.
    /// - Returns: Nil if nothing was loaded, or if the loaded object has another value of the attribute.
    /// - Throws: What the loader throws; what ``add(_:waitFor:)-([Value],_)`` throws; what the value's initializer throws;
    ///   `CancellationError`.
    public nonisolated func value<Result: ManagedObjectConvertible, Key: AttributeStorable>(
        where attribute: any KeyPath<Result.Object, Key> & Sendable, equals key: Key, as type: Result.Type,
        orLoad load: @escaping @Sendable (Key) async throws -> Value?
    ) async throws -> Result? {
        if let found = try await find(attribute, key, type) { return found }
        try await tier.loads.run(CoalescedLoads.Key(attribute: attribute, value: key.storedValue)) {
            // A load that ended between the look-up and now may have added it.
            if try await self.find(attribute, key, type) != nil { return }
            guard let value = try await load(key) else { return }
            try await self.add([value])
        }
        // Run as a write, because a write brings main up to date.
        return try await find(attribute, key, type, values: 1)
    }

    private nonisolated func find<Result: ManagedObjectConvertible, Key: AttributeStorable>(
        _ attribute: any KeyPath<Result.Object, Key> & Sendable, _ key: Key, _ type: Result.Type, values: Int = 0
    ) async throws -> Result? {
        try await tier.perform(waitFor: .store, values: values) { context in
            try context.first(Result.Object.self, where: attribute, equals: key).map { try Result($0) }
        }.result
    }
}
