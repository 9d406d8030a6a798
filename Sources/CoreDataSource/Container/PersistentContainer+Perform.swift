/// Saves that span several data sources.
extension PersistentContainer {
    /// Runs the work on the private contexts of the data sources, saves the edits of the work as one save, and returns the
    /// result of the work once the rows are in the store.
    ///
    /// ```swift
    /// try await container.perform(in: contacts, groups) { contacts, groups in
    ///     try contacts.delete(ContactEntity.self, where: \.age < 18)
    ///     try groups.delete(GroupEntity.self, where: \.gid == "1")
    /// }
    /// ```
    ///
    /// Each context edits the entities of its own data source, and reads the rows of all entities. The fetches of a context
    /// show the edits of this context, but not the edits of the other contexts. Objects of different contexts can be linked.
    /// Other batches of these data sources wait until the call ends. After the save, the data sources depend on each other: if
    /// a save of one data source is rolled back, the later saves of all these data sources are rolled back too.
    ///
    /// **Isolation**: the queues of the private contexts. All calls lock the queues in the same order, so calls cannot
    /// deadlock.
    ///
    /// - Parameters:
    ///   - sources: Data sources of this container, at least one.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - work: The work. It runs once, and gets the contexts in the order of the data sources.
    /// - Throws: Any error that the work throws; in this case nothing is saved. Otherwise the errors of
    ///   ``DataSource/add(_:waitFor:progress:)``.
    @discardableResult
    public func perform<each Source: DataSourceProtocol, Result: Sendable>(
        in sources: repeat each Source, waitFor level: SaveLevel = .store,
        _ work: @Sendable (repeat (each Source).Context) throws -> Result
    ) async throws -> Result {
        let tiers = tiers(of: repeat each sources, for: "perform(in:)")
        return try await perform(in: tiers, waitFor: level) { contexts in
            let contexts = ContextIterator(contexts)
            return try work(repeat contexts.next((each Source).Context.self))
        }
    }

    /// Runs the work with the contexts of the tiers.
    func perform<Result: Sendable>(
        in tiers: [PrivateTier], waitFor level: SaveLevel, _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> Result {
        try await TierCall(tiers).perform(waitFor: level, work).result
    }

    /// Returns the tiers of the data sources, in the same order. Traps if the list is empty, or if a data source belongs to
    /// another container.
    func tiers<each Source: DataSourceProtocol>(
        of sources: repeat each Source, for call: StaticString
    ) -> [PrivateTier] {
        var tiers: [PrivateTier] = []
        for source in repeat each sources {
            guard let source = source as? EntityDataSource else {
                preconditionFailure(
                    "A \(type(of: source)) was passed to \(call), but is not a data source. Subclass DataSource instead of conforming to DataSourceProtocol."
                )
            }
            requireOwn(source, for: call)
            tiers.append(source.tier)
        }
        precondition(!tiers.isEmpty, "\(call) was called without a data source. Pass at least one data source.")
        return tiers
    }

    package func owns(_ source: EntityDataSource) -> Bool { source.tier.stack === stack }

    /// Traps if the data source belongs to another container.
    package func requireOwn(_ source: EntityDataSource, for call: StaticString) {
        precondition(
            owns(source),
            "A \(source.tier.owner) of another container was passed to \(call). Use the data sources of this container."
        )
    }
}

/// Returns the contexts of a call one by one, each with the type that its data source declares.
///
/// The caller must pass all contexts to the work as one pack, not as a single value and a pack. In a tuple of both, Swift 6.3
/// over-releases the type of the single value.
final class ContextIterator {
    private let contexts: [PrivateContext]
    private var index = 0

    init(_ contexts: [PrivateContext]) {
        self.contexts = contexts
    }

    func next<Context: PrivateContext>(_ type: Context.Type) -> Context {
        defer { index += 1 }
        guard let context = contexts[index] as? Context else {
            preconditionFailure("The context of a data source is a PrivateContext, not a \(type).")
        }
        return context
    }
}
