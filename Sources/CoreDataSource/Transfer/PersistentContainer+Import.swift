public import Foundation
internal import RowStore

/// Importing objects from graphs.
extension PersistentContainer {
    /// Imports the objects and links of a graph, as one save of the owning data sources.
    ///
    /// ```swift
    /// let graph = try ObjectGraph(json: Data(contentsOf: fixture))
    /// try await container.importGraph(graph)
    /// ```
    ///
    /// If the key of an object is already stored, the stored object is changed; otherwise the object is inserted. Objects of an
    /// entity without a key are always inserted. An absent attribute stays unchanged, or has its default value in a new object;
    /// null clears an attribute. An absent relationship stays unchanged, null removes its link, and a list replaces its
    /// objects. A link may lead to any object of the graph or of the store. The import deletes no objects, and writes only
    /// values that differ from the store.
    ///
    /// The import calls no hooks. The rules of the model apply. The cost is proportional to the number of objects and links.
    ///
    /// **Isolation**: the queues of the container's data sources, which must be made before the call. Other batches of the data
    /// sources wait meanwhile.
    ///
    /// - Parameters:
    ///   - graph: The objects and their links.
    ///   - keys: The names of key attributes by the names of entities. By default the key is the attribute of an entity's first
    ///     uniqueness constraint on a single attribute. A key also applies to sub-entities.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: `invalidGraph`, `unknownEntity`, `unknownAttribute`, `abstractEntity`, each with the position in the graph,
    ///   such as `ContactEntity[3].group`; `entityNotOwned`; otherwise errors of ``DataSource/add(_:waitFor:progress:)``. If
    ///   the call throws, it changes nothing.
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
    /// ```swift
    /// let report = try await container.importGraph(contentsOf: file)
    /// print("\(report.inserted) new, \(report.updated) changed")
    /// ```
    ///
    /// The file is read in parts, so memory has the objects but never the whole file. Other batches of the data sources wait
    /// only after the file has been read. If the task is cancelled while the file is read, the call returns at once.
    ///
    /// - Parameters:
    ///   - url: A JSON file, as ``ObjectGraph`` describes.
    ///   - keys: As for ``importGraph(_:keys:waitFor:)``.
    ///   - level: How far the save must get before the call returns; `.store` by default.
    /// - Throws: Errors of ``importGraph(_:keys:waitFor:)``, `invalidGraph` for a file that cannot be read, and
    ///   `CancellationError`.
    @discardableResult
    public func importGraph(
        contentsOf url: URL, keys: [String: String] = [:], waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        // Check the keys and the data sources before the file is read, because reading may take long.
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

    /// The tiers of all owned entities. Throws if a key is invalid.
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
    /// Finds two objects with the same value in a column, and returns the second. Only the given values are searched. Nil if no
    /// two objects have the same value.
    ///
    /// - Complexity: One statement for each 1,000 values and each entity, which returns at most one row more than values.
    func duplicate(of values: [RowValue], _ column: Int, in family: [Int]) throws -> ManagedObject? {
        for start in stride(from: 0, to: values.count, by: 1000) {
            let part = Array(values[start..<min(start + 1000, values.count)])
            var met: Set<RowValue> = []
            for entity in family {
                let editor = editor(ofEntity: entity)
                // If there are more rows than values, two rows have the same value.
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
    /// Whether a constraint makes the values of a column unique in an entity and its sub-entities.
    static func isUnique(_ column: Int, _ entity: EntityLayout) -> Bool { entity.constraint(onColumn: column) != nil }

    /// The error for two objects with the same chosen key.
    ///
    /// - Parameter location: A position in a graph, or a relationship.
    static func duplicateError(_ location: String, _ value: JSONValue, of entity: EntityLayout, column: Int)
        -> DataSourceError
    {
        let name = entity.columns[column].name
        return DataSourceError(
            .invalidGraph,
            "\(location): two objects of \(entity.name) have the \(name) \(value.text), so that value identifies neither object. Choose an attribute with unique values: keys: [\"\(entity.name)\": ...].",
            entityName: entity.name, attributeName: name)
    }
}
