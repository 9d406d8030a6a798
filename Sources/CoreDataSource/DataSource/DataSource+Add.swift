internal import QueryLanguage

/// Adding and deleting plain values.
///
/// Each call is one save. Values reach the hooks in their order; calls of one task are saved in the order in which they were
/// made.
///
/// When a call throws, none of its changes remain: not in the store, and not in any context or list. Main may have shown them
/// before; lists report that they are gone. Later saves of the same data source that were still waiting for the store may
/// depend on them, so they are taken back too, and throw `saveTakenBack`.
///
/// When a call is made on the main actor, fetches, objects and lists there show its save when it returns. A call from elsewhere
/// never waits for the main actor, unless with `waitFor: .main`.
///
/// While too much is waiting to be written, calls are held before they begin, for at most 10 seconds; then they throw
/// `storeUnavailable`. Forms with a callback get that error at once.
extension DataSource {
    /// Adds the values through ``onAdd(_:in:)``, and links their objects through ``onLink(_:for:in:)``.
    ///
    /// - Parameters:
    ///   - values: The values. All of them are one save.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: What a hook throws; `validationFailed`, `uniquenessViolated`, `entityNotOwned`; what the store throws.
    @discardableResult
    public nonisolated func add(_ values: [Value], waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await tier.perform(waitFor: level, values: max(1, values.count), deletes: false) {
            try self.onAdd(all: values, in: $0)
        }.reportWithIgnored
    }

    /// Adds one value.
    ///
    /// - Throws: What a hook throws; `validationFailed`, `uniquenessViolated`, `entityNotOwned`; what the store throws.
    @_disfavoredOverload
    @discardableResult
    public nonisolated func add(_ value: Value, waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await add([value], waitFor: level)
    }

    /// Adds the values in the background; calls are saved in the order in which they were made.
    ///
    /// - Parameters:
    ///   - values: The values. All of them are one save.
    ///   - callback: Called on the main actor, in the order of the calls: when the rows are in the store and the objects and
    ///     lists of main show them, or when the save has failed. It is not called while the main thread is blocked.
    public nonisolated func add(
        _ values: [Value], callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void
    ) {
        saveLater(values, deletes: false, callback) { try self.onAdd(all: values, in: $0) }
    }

    /// Deletes the objects of the values through ``onDelete(_:in:)``.
    ///
    /// - Parameters:
    ///   - values: The values. All of them are one save.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: What a hook throws; `entityNotOwned`; what the store throws.
    @discardableResult
    public nonisolated func delete(_ values: [Value], waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await tier.perform(waitFor: level, values: max(1, values.count)) {
            try self.onDelete(all: values, in: $0)
        }.report
    }

    /// Deletes the object of one value.
    ///
    /// - Throws: What a hook throws; `entityNotOwned`; what the store throws.
    @_disfavoredOverload
    @discardableResult
    public nonisolated func delete(_ value: Value, waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await delete([value], waitFor: level)
    }

    /// Deletes the objects of the values in the background.
    ///
    /// - Parameters:
    ///   - values: The values. All of them are one save.
    ///   - callback: Called on the main actor, in the order of the calls: when the rows are gone from the store and from the
    ///     lists of main, or when the save has failed. It is not called while the main thread is blocked.
    public nonisolated func delete(
        _ values: [Value], callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void
    ) {
        saveLater(values, deletes: true, callback) {
            try self.onDelete(all: values, in: $0)
            return 0
        }
    }

    /// - Parameter work: Returns how many values were ignored.
    private nonisolated func saveLater(
        _ values: [Value], deletes: Bool,
        _ callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void,
        _ work: @escaping @Sendable (PrivateContext) throws -> Int
    ) {
        tier.performLater(values: max(1, values.count), deletes: deletes, work) {
            callback($0.map(\.reportWithIgnored))
        }
    }

    /// Gives the values to the hook one by one; returns for how many it returned nil.
    private nonisolated func onAdd(all values: [Value], in context: PrivateContext) throws -> Int {
        var ignored = 0
        let objects = try add(values, in: context) { if $0 == nil { ignored += 1 } }
        try context.endSweeps(objects)
        return ignored
    }

    /// Gives all values to the hook that adds, and then to the one that links.
    ///
    /// - Parameter meet: Called with the object of each value, before the next value.
    /// - Returns: The object of each value.
    @discardableResult
    nonisolated func add(
        _ values: [Value], in context: PrivateContext, _ meet: (ManagedObject?) throws -> Void
    ) throws -> [ManagedObject?] {
        context.expectInserts(values.count)
        try prepare(values, in: context)
        var objects: [ManagedObject?] = []
        objects.reserveCapacity(values.count)
        // Where they are, not copied: a copy of a value retains everything in it.
        try values.withUnsafeBufferPointer { values in
            for index in values.indices {
                try checkCancellation(index)
                let object = try onAdd(checked: values[index], in: context)
                try meet(object)
                objects.append(object)
            }
        }
        for index in values.indices {
            try checkCancellation(index)
            if let object = objects[index], !object.isDeleted { try onLink(object, for: values[index], in: context) }
        }
        return objects
    }

    private nonisolated func onDelete(all values: [Value], in context: PrivateContext) throws {
        try prepare(values, in: context)
        for (index, value) in values.enumerated() {
            try checkCancellation(index)
            try refuseClass(value, "deleted", "Pass where: nil to delete all objects of the class.")
            try onDelete(value, in: context)
        }
    }

    /// Gives a value to the hook. If the hook returns nil, the value must not be a class.
    private nonisolated func onAdd(checked value: Value, in context: PrivateContext) throws -> ManagedObject? {
        if let object = try onAdd(value, in: context) { return object }
        try refuseClass(value, "added", "Give values to add, or insert an object in perform.")
        return nil
    }
}

/// A hook for any kind of value would ignore a class of objects like any other value that is not for its data source, so a
/// class is refused here.
private func refuseClass(_ value: some Sendable, _ done: String, _ advice: String) throws(DataSourceError) {
    guard let type = value as? ManagedObject.Type else { return }
    throw DataSourceError(
        .classAsValue, "The class \(type) was passed as a value, and cannot be \(done). \(advice)",
        entityName: type.entityName)
}

extension SavedWork where Result == Int {
    /// The report, with the number that the work returned as ignored values.
    fileprivate var reportWithIgnored: SaveReport {
        var report = report
        report.ignored = result
        return report
    }
}

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
