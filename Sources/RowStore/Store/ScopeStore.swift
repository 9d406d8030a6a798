package import Foundation
internal import ManagedModel

/// A custom store that keeps scopes. A scope records how old a list of a server is.
///
/// ``InMemoryRows`` keeps the scopes, and its readers find them. A store that implements this protocol writes the scopes
/// together with the rows, and loads the scopes when the store is opened:
///
/// ```swift
/// let scopes = try rows.scopes(after: accepted)
/// ```
///
/// The readers of ``PersistentStore/read(_:_:)`` must be ``ScopeReader``s. If a store does not implement this protocol,
/// loading a list throws `scopesNotKept`.
public protocol ScopeStore: PersistentStore {}

/// A reader of a store that keeps scopes. The readers of ``InMemoryRows`` are such readers.
public protocol ScopeReader: StoreReader {
    /// Returns the stored state of a scope; nil if the store does not know the scope.
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

/// A reader of a store that several members can have open.
package protocol RequestReader: StoreReader {
    /// Returns the position of the answer that was stored last; 0 if there is none. Each answer gets a higher position than all
    /// answers that were stored before.
    func lastAnswerPosition() throws(DataSourceError) -> Int64

    /// Returns the scopes whose answers were stored after a position, and requested at the given time or later. The entity tag,
    /// the cursor and the failure of each scope are left out, because these texts can have any length.
    ///
    /// - Parameters:
    ///   - position: The result of ``lastAnswerPosition()``.
    ///   - listTime: A time before `time`. An answer for a list or for a page of a list is also returned if it was requested
    ///     at `listTime` or later. The scope of a single object is no list. There may be many such scopes.
    /// - Complexity: O(*k* log *n*) for *k* answers after the position and *n* scopes.
    func scopes(
        after position: Int64, requestedSince time: Date, listsSince listTime: Date
    ) throws(DataSourceError) -> [StoredScope]
}

extension ChangeSet {
    /// The names of the scopes for which this change set stores an answer of the server. The change set also stores the new
    /// entity tags of these scopes, so its own deletions do not make the tags wrong.
    package var loadedScopes: [String] {
        scopes.compactMap { if case .loaded = $0.event { $0.name } else { nil } }
    }

    /// Returns the changes of scopes in groups, without changing their order. Successive scopes to forget are in one group, so
    /// that a store forgets them with one statement. Each other change is a group of its own.
    ///
    /// - Parameter limit: The largest number of scopes in a group.
    package func groupedScopes(upTo limit: Int) -> [ArraySlice<ScopeChange>] {
        var groups: [ArraySlice<ScopeChange>] = []
        var rest = scopes[...]
        while let first = rest.first {
            let count = first.isForgotten ? rest.prefix(limit).prefix(while: \.isForgotten).count : 1
            groups.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return groups
    }

    /// Returns the names of the entities whose rows this change set deletes, and of their parents.
    ///
    /// If the change set reverts a record of the history, the entities of all changed objects count, and the entities of the
    /// objects at both ends of changed links. If the record has an answer of a server, all entities count: an answer can also
    /// change objects of other entities than the entity of the scope, for example the children of the listed objects.
    package func entitiesWithDeletions(_ layout: ModelLayout) -> Set<String> {
        guard let reversal = facts?.reversal else {
            return layout.names(ofEntitiesContaining: entities.lazy.filter { !$0.deleted.isEmpty }.map(\.entity))
        }
        if entities.isEmpty { return [] }
        if reversal.isIncoming { return Set(layout.model.entities.map(\.name)) }
        return layout.names(ofEntitiesContaining: entities.flatMap(layout.linkedEntities))
    }
}

extension ModelLayout {
    /// Returns the names of the given entities and of their parents.
    package func names(ofEntitiesContaining found: some Sequence<Int>) -> Set<String> {
        let found = Set(found)
        if found.isEmpty { return [] }
        return Set(entities.lazy.filter { !found.isDisjoint(with: $0.concreteFamily) }.map(\.name))
    }

    /// Returns the entities of the changed objects, and of the objects at both ends of the changed links.
    fileprivate func linkedEntities(_ changes: EntityChanges) -> [Int] {
        let objects = objectEntities(changes.entity)
        return entities[changes.entity].relationships.reduce(into: objects) { found, relationship in
            guard case .column(let link) = relationship.storage else { return }
            let columns = [link.key, link.position].compactMap(\.self)
            let isChanged =
                !changes.inserted.isEmpty || !changes.deleted.isEmpty
                || changes.updated.contains { update in columns.contains { update.columns.contains($0) } }
            if isChanged { found += relationship.destinationFamily }
        }
    }
}
