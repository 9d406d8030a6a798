internal import QueryLanguage

/// Adds and deletes plain values.
///
/// Each call makes one save. The hooks get the values in order, and the calls of a task are saved in order. The cost of a call
/// grows with the number of its values. Override ``prepare(_:in:)`` to look up the objects of all values together.
///
/// If a call throws, all its changes are rolled back, in the store and in every context and list. If the main context
/// has already shown the changes, lists report their removal. Later saves of the same data source may depend on the
/// changes. So later saves that still wait for the store are also rolled back, and their calls throw `saveRolledBack`.
///
/// After a call on the main actor returns, fetches, objects and lists of the main context show the save. A call outside
/// the main actor waits for the main actor only with `waitFor: .main`.
///
/// While too many saves wait for the store, a call waits before it begins, for at most 10 seconds. After that, the call throws
/// `storeUnavailable`. A call with a callback does not wait: its callback gets the error at once.
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
    ///   - values: The values to add in one save.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - progress: Gets the number of added values; nil, the default, for no reports.
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `validationFailed`, `uniquenessViolated`,
    ///   `deletionDenied`, `entityNotOwned`; errors of the store; `CancellationError`.
    @discardableResult
    public nonisolated func add(
        _ values: [Value], waitFor level: SaveLevel = .store, progress: BatchProgress? = nil
    ) async throws -> SaveReport {
        let saved = try await tier.perform(
            waitFor: level, values: max(1, values.count), deletes: false, kind: .incoming
        ) {
            try self.onAdd(all: values, in: $0, progress)
        }
        progress?.end(values.count)
        return saved.reportWithIgnored
    }

    /// Adds one value. See ``add(_:waitFor:progress:)``.
    ///
    /// ```swift
    /// try await contacts.add(Contact(uid: "1", name: "Guan Yu"))
    /// ```
    ///
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `validationFailed`, `uniquenessViolated`,
    ///   `deletionDenied`, `entityNotOwned`; errors of the store; `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated func add(_ value: Value, waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await add([value], waitFor: level)
    }

    /// Adds the values in the background, and returns at once. Calls are saved in order.
    ///
    /// ```swift
    /// contacts.add([Contact(uid: "1", name: "Guan Yu")]) { result in
    ///     if case .failure(let error) = result { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values to add in one save.
    ///   - callback: Called on the main actor when the save has failed, or when the rows are in the store and the
    ///     objects and lists of the main context show the rows. Callbacks are called in the order of their calls. While
    ///     the main thread is blocked, callbacks wait.
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
    ///   - values: The values whose objects are deleted in one save.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `deletionDenied`, `validationFailed`,
    ///   `entityNotOwned`; errors of the store; `CancellationError`.
    @discardableResult
    public nonisolated func delete(_ values: [Value], waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await tier.perform(waitFor: level, values: max(1, values.count), kind: .incoming) {
            try self.onDelete(all: values, in: $0)
        }.report
    }

    /// Deletes the object of one value. See ``delete(_:waitFor:)-([Value],_)``.
    ///
    /// ```swift
    /// try await contacts.delete(Contact(uid: "1", name: "Guan Yu"))
    /// ```
    ///
    /// - Throws: Errors of a hook; `hookNotOverridden`, `classAsValue`, `deletionDenied`, `validationFailed`,
    ///   `entityNotOwned`; errors of the store; `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated func delete(_ value: Value, waitFor level: SaveLevel = .store) async throws -> SaveReport {
        try await delete([value], waitFor: level)
    }

    /// Deletes the objects of the values in the background, and returns at once. Calls are saved in order.
    ///
    /// ```swift
    /// contacts.delete([Contact(uid: "1", name: "Guan Yu")]) { result in
    ///     if case .failure(let error) = result { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values whose objects are deleted in one save.
    ///   - callback: Called on the main actor when the save has failed, or when the rows have left the store and the lists of
    ///     the main context. Callbacks are called in the order of their calls. While the main thread is blocked, callbacks
    ///     wait.
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
        tier.performLater(values: max(1, values.count), deletes: deletes, kind: .incoming, work) {
            callback($0.map(\.reportWithIgnored))
        }
    }

    /// Adds the values through the hooks, and returns the number of values that ``onAdd(_:in:)`` ignored.
    nonisolated func onAdd(
        all values: [Value], in context: PrivateContext, _ progress: BatchProgress? = nil
    ) throws -> Int {
        var ignored = 0
        let objects = try add(values, in: context, progress) { if $0 == nil { ignored += 1 } }
        try context.endSweeps(objects)
        return ignored
    }

    /// Calls ``onAdd(_:in:)`` for all values, and afterwards ``onLink(_:for:in:)`` for their objects.
    ///
    /// - Parameter onObject: Gets the object of each value, before the next value is added.
    /// - Returns: The object of each value; nil for an ignored value.
    @discardableResult
    nonisolated func add(
        _ values: [Value], in context: PrivateContext, _ progress: BatchProgress? = nil,
        _ onObject: (ManagedObject?) throws -> Void
    ) throws -> [ManagedObject?] {
        context.expectInserts(values.count)
        try progress?.check(0, of: values.count)
        try prepare(values, in: context)
        var objects: [ManagedObject?] = []
        objects.reserveCapacity(values.count)
        // Read the values without copying them, because a copy of a value retains everything in it.
        try values.withUnsafeBufferPointer { values in
            for index in values.indices {
                try checkCancellation(index)
                if index & 0xFF == 0, index > 0 { try progress?.check(index, of: values.count) }
                let object = try onAdd(checked: values[index], in: context)
                try onObject(object)
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
            try refuseClass(value, "deleted", "To delete all objects of the class, pass where: nil.")
            try onDelete(value, in: context)
        }
    }

    /// Calls ``onAdd(_:in:)``. Throws if the value is a class and the hook ignores it.
    private nonisolated func onAdd(checked value: Value, in context: PrivateContext) throws -> ManagedObject? {
        if let object = try onAdd(value, in: context) { return object }
        try refuseClass(value, "added", "Pass values instead, or insert an object in perform.")
        return nil
    }
}

/// Throws if the value is a class of objects. Otherwise, a hook that accepts any kind of value would ignore the class, as if it
/// were a value for another data source.
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
