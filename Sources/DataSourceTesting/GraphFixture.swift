public import CoreDataSource
public import Foundation

/// The objects before or after a test, from a readable JSON file.
///
/// ```swift
/// let fixture = try GraphFixture(
///     contentsOf: url, model: .contacts,
///     dataSources: [ContactDataSource.self, GroupDataSource.self])
/// let container = try await fixture.container()
/// try await container.dataSource(ContactDataSource.self).delete(
///     Contact(uid: "1", name: ""))
/// #expect(try await after.difference(from: container) == nil)
/// ```
///
/// `ObjectGraph` describes the JSON. To create the file, call `exportGraph` on a context, and write the graph's `json` to a
/// file.
public struct GraphFixture: Sendable {
    /// The objects.
    public let graph: ObjectGraph
    private let model: ManagedObjectModel
    private let dataSources: [EntityDataSource.Type]
    private let keys: [String: String]

    /// Makes a fixture from a graph.
    ///
    /// ```swift
    /// let graph = try await container.read {
    ///     try $0.exportGraph(of: [ContactEntity.self])
    /// }
    /// let fixture = GraphFixture(
    ///     graph, model: .contacts, dataSources: [ContactDataSource.self])
    /// ```
    ///
    /// - Parameters:
    ///   - graph: The objects.
    ///   - model: The model of the container.
    ///   - dataSources: The data source classes for all entities in the graph, and in the containers that you compare with the
    ///     fixture.
    ///   - keys: The key attribute of each entity, by entity name. By default, an entity's key is the attribute of the first
    ///     uniqueness constraint that has only one attribute.
    public init(
        _ graph: ObjectGraph, model: ManagedObjectModel, dataSources: [EntityDataSource.Type],
        keys: [String: String] = [:]
    ) {
        self.graph = graph
        self.model = model
        self.dataSources = dataSources
        self.keys = keys
    }

    /// Makes a fixture from a file.
    ///
    /// ```swift
    /// let fixture = try GraphFixture(
    ///     contentsOf: url, model: .contacts, dataSources: [ContactDataSource.self])
    /// ```
    ///
    /// - Parameters:
    ///   - url: A JSON file.
    ///   - model: The model of the container.
    ///   - dataSources: The data source classes for all entities in the graph, and in the containers that you compare with the
    ///     fixture.
    ///   - keys: The key attribute of each entity, by entity name. By default, an entity's key is the attribute of the first
    ///     uniqueness constraint that has only one attribute.
    /// - Throws: An error if the file cannot be read; `invalidGraph` if the JSON is not a valid graph.
    public init(
        contentsOf url: URL, model: ManagedObjectModel, dataSources: [EntityDataSource.Type],
        keys: [String: String] = [:]
    ) throws {
        self.init(
            try ObjectGraph(json: Data(contentsOf: url)), model: model, dataSources: dataSources, keys: keys)
    }

    /// Makes a container in memory, with the objects and the data sources. The caller must close the container.
    ///
    /// ```swift
    /// let container = try await fixture.container()
    /// let contacts = try await container.dataSource(ContactDataSource.self)
    /// ```
    ///
    /// - Complexity: the same as for importing the graph.
    /// - Throws: An error from creating the container or the data sources, or from `importGraph`.
    public func container() async throws -> PersistentContainer {
        let container = try await PersistentContainer.empty(model)
        do {
            for type in dataSources { _ = try await container.dataSource(type) }
            try await container.importGraph(graph, keys: keys)
        } catch {
            try? await container.close()
            throw error
        }
        return container
    }

    /// Returns the first difference between the objects of a container and the objects of the fixture, as a sentence; nil if
    /// there is no difference.
    ///
    /// ```swift
    /// #expect(try await after.difference(from: container) == nil)
    /// ```
    ///
    /// All objects of the data sources' entities are compared by their stored attributes and their links. IDs are not compared.
    /// Attributes that the fixture leaves out have their default values. The sentence can show values of objects.
    ///
    /// - Complexity: imports the graph into a new store, and reads all objects of both stores.
    /// - Throws: An error from ``container()``, or an error from reading the objects.
    public func difference(from container: PersistentContainer) async throws -> String? {
        let expected = try await self.container()
        let wanted: ObjectGraph
        do {
            wanted = try await contents(of: expected)
        } catch {
            try? await expected.close()
            throw error
        }
        try await expected.close()
        return try await contents(of: container).difference(from: wanted)
    }

    private func contents(of container: PersistentContainer) async throws -> ObjectGraph {
        let (entities, keys) = (dataSources.flatMap { $0.entities }, keys)
        return try await container.read { try $0.exportGraph(of: entities, keys: keys) }
    }
}
