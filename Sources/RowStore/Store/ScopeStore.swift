/// A custom store that keeps scopes: how old the lists of a server are.
///
/// ``InMemoryRows`` keeps the scopes, and its readers find them. A store that implements this protocol writes them together
/// with the rows, and loads them when it is opened:
///
/// ```swift
/// let scopes = try rows.scopes(after: accepted)
/// ```
///
/// The readers of ``PersistentStore/read(_:_:)`` must be ``ScopeReader``s. If a store does not implement this protocol, loads
/// of lists throw `scopesNotKept`.
public protocol ScopeStore: PersistentStore {}

/// A reader of a store that keeps scopes. The readers of ``InMemoryRows`` are such readers.
public protocol ScopeReader: StoreReader {
    /// Returns what the store knows of a scope; nil if it knows nothing.
    ///
    /// ```swift
    /// let scope = try rows.read(.statement) { (reader) throws(DataSourceError) in
    ///     try (reader as? any ScopeReader)?.scope(named: "contacts")
    /// }
    /// ```
    ///
    /// - Throws: `storeClosed`; an error if the store cannot be read.
    func scope(named name: String) throws(DataSourceError) -> StoredScope?
}

extension ChangeSet {
    /// The names of the scopes whose rows this change set replaces with an answer. Its deletions do not make their tags wrong.
    package var loadedScopes: [String] {
        scopes.compactMap { if case .loaded = $0.event { $0.name } else { nil } }
    }

    /// The names of the entities that contain rows which this change set deletes, including the parents of these entities. If
    /// the change set takes a record of the history back, all its entities: the record may have been an answer of a server.
    package func entitiesWithDeletions(_ layout: ModelLayout) -> Set<String> {
        let isReversal = facts?.reversal != nil
        return layout.names(
            ofEntitiesContaining: entities.lazy.filter { isReversal || !$0.deleted.isEmpty }.map(\.entity))
    }
}

extension ModelLayout {
    /// Returns the names of the given entities and of their parents.
    package func names(ofEntitiesContaining found: some Sequence<Int>) -> Set<String> {
        let found = Set(found)
        if found.isEmpty { return [] }
        return Set(entities.lazy.filter { !found.isDisjoint(with: $0.concreteFamily) }.map(\.name))
    }
}
