public import Foundation
internal import RowStore

extension PersistentContainer {
    /// Imports the objects and links of a graph in one save of the data sources that own the entities.
    ///
    /// ```swift
    /// let graph = try ObjectGraph(json: Data(contentsOf: fixture))
    /// try await container.importGraph(graph)
    /// ```
    ///
    /// If an object's key is already in the store, the import changes the stored object; otherwise the object is inserted.
    /// Objects of an entity without a key are always inserted.
    ///
    /// A property that is absent in the graph stays unchanged. In a new object, an absent attribute gets its default value.
    /// Null clears an attribute, or removes the links of a relationship. A key replaces the linked object, and a list of keys
    /// replaces all linked objects. A link can lead to any object in the graph or in the store. The import deletes no
    /// objects, and writes only values that differ from the store.
    ///
    /// The import calls the hook `willSave` of the data sources, and none of their other hooks. The rules of the model
    /// apply.
    ///
    /// **Complexity**: linear in the number of objects and links.
    ///
    /// **Isolation**: the queues of the container's data sources. Make the data sources before the call. Other batches of the
    /// data sources wait until the import has ended.
    ///
    /// - Parameters:
    ///   - graph: The objects and their links.
    ///   - keys: For each entity name, the name of the entity's key attribute. A key also applies to sub-entities. By default,
    ///     the key is the attribute of the entity's first uniqueness constraint on a single attribute.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - progress: Gets the number of imported objects, and can cancel the import; nil, the default, for no reports.
    /// - Throws: `invalidGraph`, `unknownEntity`, `unknownAttribute` or `abstractEntity`, each with the position in the graph,
    ///   for example `ContactEntity[3].group`; `entityNotOwned`; otherwise errors of ``DataSource/add(_:waitFor:progress:)``.
    ///   If the call throws, it changes nothing.
    @discardableResult
    public func importGraph(
        _ graph: ObjectGraph, keys: [String: String] = [:], waitFor level: SaveLevel = .store,
        progress: BatchProgress? = nil
    ) async throws -> SaveReport {
        let (layout, total) = (stack.layout, graph.records.values.reduce(0) { $0 + $1.count })
        let report = try await TierCall(importingTiers(keys), kind: .imported).perform(waitFor: level) { contexts in
            var graphImport = try GraphImport(
                contexts, layout, try TransferKeys(keys, layout), total: total, progress: progress)
            for entity in graph.entityNames {
                try graphImport.check(entity)
                for (index, record) in (graph.records[entity] ?? []).enumerated() {
                    try graphImport.add(entity, index, record)
                }
            }
            try graphImport.end()
        }.report
        progress?.end(total)
        return report
    }

    /// Imports the objects of a graph from a JSON file. See ``importGraph(_:keys:waitFor:progress:)``.
    ///
    /// ```swift
    /// let report = try await container.importGraph(contentsOf: file)
    /// print("\(report.inserted) new, \(report.updated) changed")
    /// ```
    ///
    /// The file is read in parts, so the objects are in memory, but never the whole file. Other batches of the data
    /// sources can run while the file is read, and wait only during the import. If the task is canceled while the file
    /// is read, the call throws at once. The progress begins after the file was read, because the number of objects is not
    /// known before:
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: 0)
    /// try await container.importGraph(
    ///     contentsOf: file, progress: BatchProgress(progress))
    /// ```
    ///
    /// - Parameters:
    ///   - url: The location of a JSON file. ``ObjectGraph`` describes the format.
    ///   - keys: The key attributes, as in ``importGraph(_:keys:waitFor:progress:)``.
    ///   - level: The level that the save must reach before the call returns; `.store` by default.
    ///   - progress: Gets the number of imported objects, and can cancel the import; nil, the default, for no reports.
    /// - Throws: Errors of ``importGraph(_:keys:waitFor:progress:)``; `invalidGraph` if the file cannot be read;
    ///   `CancellationError`.
    @discardableResult
    public func importGraph(
        contentsOf url: URL, keys: [String: String] = [:], waitFor level: SaveLevel = .store,
        progress: BatchProgress? = nil
    ) async throws -> SaveReport {
        // Check the keys and the data sources before reading the file, because reading can take a long time.
        _ = try importingTiers(keys)
        return try await importGraph(GraphFile.graph(url), keys: keys, waitFor: level, progress: progress)
    }

    /// Returns the private tiers of all data sources that own entities. Throws if a key is invalid, or if there is no such data
    /// source.
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
                "A graph was imported into a container without data sources. Make the data sources that own the entities of the graph first."
            )
        }
        return tiers
    }
}

extension PrivateContext {
    /// Searches for two objects that share one of the given values in a column, and returns the second of them; nil if
    /// no two objects share a value.
    ///
    /// - Complexity: One statement for each 1,000 values and each entity. A statement for n values returns at most n + 1 rows.
    func duplicate(of values: [RowValue], _ column: Int, in family: [Int]) throws -> ManagedObject? {
        for part in values.chunks(ofSize: 1000) {
            var seenValues: Set<RowValue> = []
            for entity in family {
                let editor = editor(ofEntity: entity)
                // One row more than there are values is enough to find a duplicate: then two rows have the same value.
                let query = RowQuery(
                    entity: entity, predicate: .isMember(.column(column), ValueList(Array(part), .natural)),
                    limit: part.count + 1)
                let objects = try editor.reading { () throws(DataSourceError) in
                    try editor.objects(FetchPlan(query))
                }
                for object in objects {
                    let value = object.row.value(column, object.layout.columns[column].storage)
                    if !seenValues.insert(value).inserted { return object }
                }
            }
        }
        return nil
    }
}

extension TransferKeys {
    /// Whether a constraint makes the values of a column unique in an entity and its sub-entities.
    static func isUnique(_ column: Int, _ entity: EntityLayout) -> Bool { entity.constraint(onColumn: column) != nil }

    /// Returns the error for two objects with the same key.
    ///
    /// - Parameter location: A position in a graph, or a relationship.
    static func duplicateError(_ location: String, _ value: JSONValue, of entity: EntityLayout, column: Int)
        -> DataSourceError
    {
        let name = entity.columns[column].name
        return DataSourceError(
            .invalidGraph,
            "\(location): two objects of \(entity.name) have the \(name) \(value.text), so the value identifies neither object. Choose an attribute with unique values: keys: [\"\(entity.name)\": ...].",
            entityName: entity.name, attributeName: name)
    }
}
