internal import QueryLanguage

/// Adding and deleting plain values.
///
/// Each call is one save. Values reach the hooks in their order. The calls of a task are saved in their order. The cost of a
/// call grows with the number of its values; ``prepare(_:in:)`` can look up their objects together.
///
/// If a call throws, all its changes are rolled back, in the store and in every context and list. Main may have shown the
/// changes before; lists then report their removal. Later saves of the same data source may depend on the changes. Those that
/// still wait for the store are rolled back too, and throw `saveRolledBack`.
///
/// After a call on the main actor has returned, fetches, objects and lists of main show its save. A call that is not on the
/// main actor waits for the main actor only with `waitFor: .main`.
///
/// While too many saves wait for the store, a call waits before it begins, for at most 10 seconds. Then it throws
/// `storeUnavailable`. A call with a callback does not wait: the callback gets that error at once.
extension DataSource {
    /// Adds the values through ``onAdd(_:in:)``, and links their objects through ``onLink(_:for:in:)``.
    ///
    /// ```swift
    /// let report = try await contacts.add([
    ///     Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")
    /// ])
    /// print("\(report.inserted) new, \(report.updated) changed")
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values of the save.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - progress: Gets the number of added values; nil, the default, for no reports.
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `validationFailed`, `uniquenessViolated`,
    ///   `entityNotOwned`; errors of the store; `CancellationError`.
    @discardableResult
    public nonisolated func add(
        _ values: [Value], waitFor level: SaveLevel = .store, progress: BatchProgress? = nil
    ) async throws -> SaveReport {
        let saved = try await tier.perform(waitFor: level, values: max(1, values.count), deletes: false) {
            try self.onAdd(all: values, in: $0, progress)
        }
        progress?.end(values.count)
        return saved.reportWithIgnored
    }

    /// Adds one value, as ``add(_:waitFor:progress:)``.
    ///
    /// ```swift
    /// try await contacts.add(Contact(uid: "1", name: "Guan Yu"))
    /// ```
    ///
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `validationFailed`, `uniquenessViolated`,
    ///   `entityNotOwned`; errors of the store; `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated func add(_ value: Value, waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await add([value], waitFor: level)
    }

    /// Adds the values in the background, and returns at once. Calls are saved in their order.
    ///
    /// ```swift
    /// contacts.add([Contact(uid: "1", name: "Guan Yu")]) { result in
    ///     if case .failure(let error) = result { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values of the save.
    ///   - callback: Called on the main actor, in the order of the calls: when the store has the rows and the objects and lists
    ///     of main show them, or when the save has failed. While the main thread is blocked, the callback has to wait.
    public nonisolated func add(
        _ values: [Value], callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void
    ) {
        saveLater(values, deletes: false, callback) { try self.onAdd(all: values, in: $0) }
    }

    /// Deletes the objects of the values through ``onDelete(_:in:)``.
    ///
    /// ```swift
    /// let report = try await contacts.delete([Contact(uid: "1", name: "Guan Yu")])
    /// print("\(report.deleted) gone")
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values of the save.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `entityNotOwned`; errors of the store;
    ///   `CancellationError`.
    @discardableResult
    public nonisolated func delete(_ values: [Value], waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await tier.perform(waitFor: level, values: max(1, values.count)) {
            try self.onDelete(all: values, in: $0)
        }.report
    }

    /// Deletes the object of one value, as ``delete(_:waitFor:)-([Value],_)``.
    ///
    /// ```swift
    /// try await contacts.delete(Contact(uid: "1", name: "Guan Yu"))
    /// ```
    ///
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `entityNotOwned`; errors of the store;
    ///   `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated func delete(_ value: Value, waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await delete([value], waitFor: level)
    }

    /// Deletes the objects of the values in the background, and returns at once. Calls are saved in their order.
    ///
    /// ```swift
    /// contacts.delete([Contact(uid: "1", name: "Guan Yu")]) { result in
    ///     if case .failure(let error) = result { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values of the save.
    ///   - callback: Called on the main actor, in the order of the calls: when the store and the lists of main no longer have
    ///     the rows, or when the save has failed. While the main thread is blocked, the callback has to wait.
    public nonisolated func delete(
        _ values: [Value], callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void
    ) {
        saveLater(values, deletes: true, callback) {
            try self.onDelete(all: values, in: $0)
            return 0
        }
    }

    /// - Parameter work: Returns the number of ignored values.
    private nonisolated func saveLater(
        _ values: [Value], deletes: Bool,
        _ callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void,
        _ work: @escaping @Sendable (PrivateContext) throws -> Int
    ) {
        tier.performLater(values: max(1, values.count), deletes: deletes, work) {
            callback($0.map(\.reportWithIgnored))
        }
    }

    /// Adds the values through the hooks. Returns the number of values that ``onAdd(_:in:)`` ignored.
    private nonisolated func onAdd(
        all values: [Value], in context: PrivateContext, _ progress: BatchProgress? = nil
    ) throws -> Int {
        var ignored = 0
        let objects = try add(values, in: context, progress) { if $0 == nil { ignored += 1 } }
        try context.endSweeps(objects)
        return ignored
    }

    /// Calls ``onAdd(_:in:)`` for all values, and then ``onLink(_:for:in:)`` for their objects.
    ///
    /// - Parameter meet: Called with the object of each value, before the next value.
    /// - Returns: The object of each value.
    @discardableResult
    nonisolated func add(
        _ values: [Value], in context: PrivateContext, _ progress: BatchProgress? = nil,
        _ meet: (ManagedObject?) throws -> Void
    ) throws -> [ManagedObject?] {
        context.expectInserts(values.count)
        try progress?.check(0, of: values.count)
        try prepare(values, in: context)
        var objects: [ManagedObject?] = []
        objects.reserveCapacity(values.count)
        // Reads the values in place, because a copy of a value retains everything in it.
        try values.withUnsafeBufferPointer { values in
            for index in values.indices {
                try checkCancellation(index)
                if index & 0xFF == 0, index > 0 { try progress?.check(index, of: values.count) }
                let object = try onAdd(checked: values[index], in: context)
                try meet(object)
                objects.append(object)
            }
        }
        for index in values.indices {
            try checkCancellation(index)
            if let object = objects[index], !object.isDeleted { try onLink(object, for: values[index], in: context) }
        }
        try progress?.check(values.count, of: values.count)
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

    /// Calls ``onAdd(_:in:)``, and throws if it ignores a class that was passed as a value.
    private nonisolated func onAdd(checked value: Value, in context: PrivateContext) throws -> ManagedObject? {
        if let object = try onAdd(value, in: context) { return object }
        try refuseClass(value, "added", "Give values to add, or insert an object in perform.")
        return nil
    }
}

/// Throws if the value is a class of objects. A hook for any kind of value would ignore the class, as it ignores the values of
/// other data sources.
private func refuseClass(_ value: some Sendable, _ done: String, _ advice: String) throws(DataSourceError) {
    guard let type = value as? ManagedObject.Type else { return }
    throw DataSourceError(
        .classAsValue, "The class \(type) was passed as a value, and cannot be \(done). \(advice)",
        entityName: type.entityName)
}

extension SavedWork where Result == Int {
    /// The report, with the number of ignored values that the work returned.
    fileprivate var reportWithIgnored: SaveReport {
        var report = report
        report.ignored = result
        return report
    }
}

/// Looking up an object, or loading it if it is missing.
extension DataSource {
    /// Returns the value of the object with a key. If the object is missing, the call first adds the value that the loader
    /// returns.
    ///
    /// ```swift
    /// let contact = try await contacts.value(
    ///     where: \.uid, equals: "7", as: ContactValue.self
    /// ) { uid in
    ///     try await server.contact(uid)
    /// }
    /// ```
    ///
    /// If several tasks look up the same missing object at once, a single loader runs, and all of them get its result or its
    /// error. Errors are not kept: the next call loads again. A cancelled task returns at once. The load is cancelled after all
    /// its waiting tasks are cancelled.
    ///
    /// The look-up runs in the private context, after all earlier calls. Its cost is that of
    /// ``ManagedObjectContext/first(_:where:equals:)``. On the main actor, the call returns after main shows the added object.
    ///
    /// **Isolation**: none. The loader runs in a task of its own, off the main actor. It must not look up the same object with
    /// this function, because it would wait for itself.
    ///
    /// - Parameters:
    ///   - attribute: The attribute to search. Give the attribute a uniqueness constraint in the model.
    ///   - key: The value to look for, which the loader gets too.
    ///   - type: The type of the returned value.
    ///   - load: Loads the value to add, or returns nil.
    /// - Returns: Nil if nothing was loaded, or if the loaded object has another value of the attribute.
    /// - Throws: Errors of the loader; errors of ``add(_:waitFor:progress:)``; errors of the value's initializer;
    ///   `CancellationError`.
    public nonisolated func value<Result: ManagedObjectConvertible, Key: AttributeStorable>(
        where attribute: any KeyPath<Result.Object, Key> & Sendable, equals key: Key, as type: Result.Type,
        orLoad load: @escaping @Sendable (Key) async throws -> Value?
    ) async throws -> Result? {
        if let found = try await find(attribute, key, type) { return found }
        try await tier.loads.run(CoalescedLoads.Key(attribute: attribute, value: key.storedValue)) {
            // A load that ended since the look-up may have added the object.
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
