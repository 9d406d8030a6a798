/// One save over several data sources.
extension PersistentContainer {
    /// Runs the work with the private contexts of two data sources, saves its edits as one save, and returns the result once
    /// the rows are in the store.
    ///
    /// ```swift
    /// try await container.perform(in: contacts, messages) { contacts, messages in
    ///     try contacts.delete(ContactEntity.self, where: \.uid == uid)
    ///     try messages.delete(MessageEntity.self, where: \.sender == uid)
    /// }
    /// ```
    ///
    /// Each context edits the entities of its own data source and reads the rows of all: its fetches show its own edits, not
    /// those of the other context. Objects of both contexts can be linked. Batches of these data sources wait until the call
    /// ends. After such a save, the data sources depend on each other: if a save of one is taken back, later
    /// saves of both are taken back too.
    ///
    /// **Isolation**: the queues of both private contexts. They are always taken in the same order, so calls cannot deadlock.
    ///
    /// - Parameters:
    ///   - first: A data source of this container.
    ///   - second: Another one.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: It gets the contexts in the order of the data sources, and runs once.
    /// - Throws: What the work throws; nothing has happened then. Otherwise what ``DataSource/add(_:waitFor:)-([Value],_)``
    ///   throws.
    @discardableResult
    public func perform<Result: Sendable>(
        in first: AnyDataSource, _ second: AnyDataSource, waitFor level: SaveLevel = .store,
        _ work: @Sendable (PrivateContext, PrivateContext) throws -> Result
    ) async throws -> Result {
        try await perform(in: [first, second], waitFor: level) { try work($0[0], $0[1]) }
    }

    /// The same for any number of data sources. The contexts come in the order of the data sources.
    ///
    /// - Parameters:
    ///   - sources: Data sources of this container.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    ///   - work: It gets the contexts in the order of the data sources, and runs once.
    /// - Throws: What ``perform(in:_:waitFor:_:)`` throws.
    @discardableResult
    public func perform<Result: Sendable>(
        in sources: [AnyDataSource], waitFor level: SaveLevel = .store,
        _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> Result {
        requireOwn(sources, "perform(in:)")
        return try await PrivateTier.perform(in: sources.map(\.tier), waitFor: level, work).result
    }

    /// Traps if a data source belongs to another container.
    func requireOwn(_ sources: [AnyDataSource], _ call: StaticString) {
        for source in sources {
            precondition(
                source.tier.stack === stack,
                "A \(source.tier.owner) of another container was passed to \(call). Use the data sources of this container."
            )
        }
    }
}
