public import Foundation
internal import RowStore

/// Importing objects from plain values.
extension PersistentContainer {
    /// Imports the objects of a graph and their links, as one save over the data sources that own them.
    ///
    /// ```swift
    /// let graph = try ObjectGraph(json: Data(contentsOf: fixture))
    /// try await container.importGraph(graph)
    /// ```
    ///
    /// An object whose key is already stored is changed, any other is new. An attribute that is absent stays unchanged, or has
    /// its default value in a new object; null clears it. The same holds for links: an absent link stays unchanged, null
    /// removes it, and a list replaces the previous objects. A link may lead to any object of the graph or of the store.
    /// Nothing is deleted, and values that are already stored are not written. Objects of an entity without a key are always
    /// new.
    ///
    /// No hook is called: the objects are stored as they are. The rules of the model apply.
    ///
    /// **Isolation**: the queues of the container's data sources, which must be made before. Their batches wait meanwhile.
    ///
    /// - Parameters:
    ///   - graph: The objects and their links.
    ///   - keys: The key attribute of an entity, if it is not that of its first uniqueness constraint on a single attribute. It
    ///     also applies to sub-entities.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `invalidGraph`, `unknownEntity`, `unknownAttribute`, `abstractEntity`, each with the place in the graph, such
    ///   as `ContactEntity[3].group`; `entityNotOwned`; otherwise what ``DataSource/add(_:waitFor:)-([Value],_)`` throws.
    ///   Nothing has happened then.
    @discardableResult
    public func importGraph(
        _ graph: ObjectGraph, keys: [String: String] = [:], waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await importGraph(keys, level) { graphImport in
            for entity in graph.entityNames {
                try graphImport.check(entity)
                for (index, record) in (graph.records[entity] ?? []).enumerated() {
                    try graphImport.add(entity, index, record)
                }
            }
        }
    }

    /// Imports the objects of a graph from a JSON file, as ``importGraph(_:keys:waitFor:)``.
    ///
    /// The file is read a part at a time, so that its objects are in memory, and never its whole text. Data sources wait only after it
    /// was read to its end, however long that takes, and a task that is cancelled meanwhile waits no longer.
    ///
    /// - Parameters:
    ///   - url: A JSON file, as ``ObjectGraph`` describes.
    ///   - keys: As for ``importGraph(_:keys:waitFor:)``.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: What ``importGraph(_:keys:waitFor:)`` throws, `invalidGraph` for a file that cannot be read, and
    ///   `CancellationError`.
    @discardableResult
    public func importGraph(
        contentsOf url: URL, keys: [String: String] = [:], waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        // Before the file is read, which may take long.
        _ = try importingTiers(keys)
        return try await importGraph(GraphFile.graph(url), keys: keys, waitFor: level)
    }

    private func importGraph(
        _ chosen: [String: String], _ level: SaveLevel, _ addAll: @Sendable (inout GraphImport) throws -> Void
    ) async throws -> SaveReport {
        let layout = stack.layout
        return try await TierCall(importingTiers(chosen)).perform(waitFor: level) { contexts in
            var graphImport = GraphImport(contexts, layout, try TransferKeys(chosen, layout))
            try addAll(&graphImport)
            try graphImport.end()
        }.report
    }

    /// The tiers that own what can be imported; checks the keys.
    private func importingTiers(_ chosen: [String: String]) throws(DataSourceError) -> [PrivateTier] {
        let layout = stack.layout
        _ = try TransferKeys(chosen, layout)
        var tiers: [PrivateTier] = []
        for tier in stack.tiers(owning: Set(layout.entities.indices)) where !tiers.contains(where: { $0 === tier }) {
            tiers.append(tier)
        }
        guard !tiers.isEmpty else {
            throw DataSourceError(
                .entityNotOwned,
                "A graph was imported into a container without data sources. Make the data sources that own its entities first."
            )
        }
        return tiers
    }
}

extension PrivateContext {
    /// An object that shares its value in a column with another object of those entities, among the given values; nil if there
    /// is none.
    ///
    /// - Complexity: One statement of each entity for 1,000 values, and no more rows than values.
    func double(of values: [RowValue], _ column: Int, in family: [Int]) throws -> ManagedObject? {
        for start in stride(from: 0, to: values.count, by: 1000) {
            let part = Array(values[start..<min(start + 1000, values.count)])
            var met: Set<RowValue> = []
            for entity in family {
                let editor = editor(ofEntity: entity)
                // If there are more rows than values, two have the same value.
                let query = RowQuery(
                    entity: entity, predicate: .isMember(.column(column), ValueList(part, .natural)),
                    limit: part.count + 1)
                let objects = try editor.reading { () throws(DataSourceError) in
                    try editor.objects(FetchPlan(query))
                }
                for object in objects {
                    let value = object.row.value(column, object.layout.columns[column].storage)
                    if !met.insert(value).inserted { return object }
                }
            }
        }
        return nil
    }
}

extension TransferKeys {
    /// Whether no two objects of an entity and its sub-entities can have the same value in a column.
    static func isUnique(_ column: Int, _ entity: EntityLayout) -> Bool { entity.constraint(onColumn: column) != nil }

    /// The error if two objects have the same chosen key.
    ///
    /// - Parameter place: A place in a graph, or a relationship.
    static func duplicateError(_ place: String, _ value: JSONValue, of entity: EntityLayout, column: Int)
        -> DataSourceError
    {
        let name = entity.columns[column].name
        return DataSourceError(
            .invalidGraph,
            "\(place): two objects of \(entity.name) have the \(name) \(value.text), so it identifies neither of them. Choose an attribute with unique values: keys: [\"\(entity.name)\": ...].",
            entityName: entity.name, attributeName: name)
    }
}
