/// One save over several data sources.
extension PersistentContainer {
    /// Runs the work with the private contexts of two data sources, saves what it edited as one save, and returns its result
    /// once the rows are in the store.
    ///
    /// ```swift
    /// try await container.perform(in: contacts, messages) { contacts, messages in
    ///     try contacts.delete(ContactEntity.self, where: \.uid == uid)
    ///     try messages.delete(MessageEntity.self, where: \.sender == uid)
    /// }
    /// ```
    ///
    /// Each context edits the entities of its own data source; both see the rows of all. Batches of the data sources wait
    /// meanwhile. After such a save, if a save of one of them is taken back, later saves of both are taken back too.
    ///
    /// **Isolation**: the queues of both private contexts. They are taken in one fixed order, so calls cannot deadlock.
    ///
    /// - Parameters:
    ///   - first: A data source of this container.
    ///   - second: Another one.
    ///   - level: How far the save must have come when the call returns; `.store` by default.
    ///   - work: It gets the contexts in the order of the data sources, and runs once.
    /// - Throws: What the work throws, then nothing has happened; otherwise as ``DataSource/add(_:waitFor:)-([Value],_)``.
    @discardableResult
    public func perform<Result: Sendable>(
        in first: AnyDataSource, _ second: AnyDataSource, waitFor level: SaveLevel = .store,
        _ work: @Sendable (PrivateContext, PrivateContext) throws -> Result
    ) async throws -> Result {
        try await perform(in: [first, second], waitFor: level) { try work($0[0], $0[1]) }
    }

    /// The same with any number of data sources, whose contexts come in the order of the data sources.
    ///
    /// - Parameters:
    ///   - sources: Data sources of this container.
    ///   - level: How far the save must have come when the call returns; `.store` by default.
    ///   - work: It gets the contexts in the order of the data sources, and runs once.
    /// - Throws: As ``perform(in:_:waitFor:_:)``.
    @discardableResult
    public func perform<Result: Sendable>(
        in sources: [AnyDataSource], waitFor level: SaveLevel = .store,
        _ work: @Sendable ([PrivateContext]) throws -> Result
    ) async throws -> Result {
        requireOwn(sources, "perform(in:)")
        return try await PrivateTier.perform(in: sources.map(\.tier), waitFor: level, work).result
    }

    /// Traps unless the data sources are of this container.
    func requireOwn(_ sources: [AnyDataSource], _ call: StaticString) {
        for source in sources {
            precondition(
                source.tier.stack === stack,
                "A \(source.tier.owner) of another container was passed to \(call). Use the data sources of this one.")
        }
    }
}
