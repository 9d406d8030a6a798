public import Foundation
internal import RowStore

/// Objects into a store, from plain values.
extension PersistentContainer {
    /// Makes the objects of a graph, and links them, as one save over the data sources that own them.
    ///
    /// ```swift
    /// let graph = try ObjectGraph(json: Data(contentsOf: fixture))
    /// try await container.importGraph(graph)
    /// ```
    ///
    /// An object whose key is stored already is changed, any other is new. An attribute that is absent is left as it is, or
    /// has its default value in a new object; null clears it. The same holds for links: an absent link is left as it is, null
    /// removes it, and a list replaces what was there. A link may lead to any object of the graph or of the store. Nothing is
    /// deleted, and what is stored already is not written. Objects of an entity without a key are always new.
    ///
    /// No hook is called: the objects are made as they are. The rules of the model hold.
    ///
    /// **Isolation**: the queues of the data sources of the container, which have to be made before. Their batches wait
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - graph: The objects and their links.
    ///   - keys: The key attribute of each entity, where it is not the first one with a uniqueness constraint of its own. It
    ///     counts for sub-entities too.
    ///   - level: How far the save must have come when the call returns; `.store` by default.
    /// - Throws: `invalidGraph`, `unknownEntity`, `unknownAttribute`, `abstractEntity`, each with the place in the graph,
    ///   `ContactEntity[3].group`; `entityNotOwned`; otherwise as ``DataSource/add(_:waitFor:)-([Value],_)``. Then nothing has
    ///   happened.
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

    /// Makes the objects of a graph that is a file of JSON, as ``importGraph(_:keys:waitFor:)``.
    ///
    /// The file is read a part at a time, so that only its objects are in memory, and never its text.
    ///
    /// - Parameters:
    ///   - url: A file of JSON, as ``ObjectGraph`` says.
    ///   - keys: As for ``importGraph(_:keys:waitFor:)``.
    ///   - level: How far the save must have come when the call returns; `.store` by default.
    /// - Throws: As ``importGraph(_:keys:waitFor:)``, `invalidGraph` also for a file that cannot be read.
    @discardableResult
    public func importGraph(
        contentsOf url: URL, keys: [String: String] = [:], waitFor level: SaveLevel = .store
    ) async throws -> SaveReport {
        try await importGraph(keys, level) { graphImport in
            let file = try GraphFile(url)
            var reader = JSONReader(file.next)
            try reader.forEachRecord {
                try graphImport.add($0, $1, $2)
            } list: {
                try graphImport.check($0)
            }
        }
    }

    private func importGraph(
        _ chosen: [String: String], _ level: SaveLevel, _ addAll: @Sendable (inout GraphImport) throws -> Void
    ) async throws -> SaveReport {
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
        return try await PrivateTier.perform(in: tiers, waitFor: level) { contexts in
            var graphImport = GraphImport(contexts, layout, try TransferKeys(chosen, layout))
            try addAll(&graphImport)
            try graphImport.end()
        }.report
    }
}

/// A file that is read a part at a time.
private final class GraphFile {
    private let handle: FileHandle

    init(_ url: URL) throws(DataSourceError) {
        do { handle = try FileHandle(forReadingFrom: url) } catch { throw GraphFile.unreadable(error) }
    }

    func next() throws -> [UInt8] {
        do { return Array(try handle.read(upToCount: 1 << 16) ?? Data()) } catch { throw GraphFile.unreadable(error) }
    }

    deinit { try? handle.close() }

    private static func unreadable(_ error: any Error) -> DataSourceError {
        DataSourceError(
            .invalidGraph, "The file of a graph cannot be read. Check that it is there and may be read.",
            cause: "\(error)")
    }
}
