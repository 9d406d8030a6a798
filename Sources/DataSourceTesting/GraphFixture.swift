public import CoreDataSource
public import Foundation

/// Objects that a test begins with, or ends with, as a file of JSON that people can read and compare.
///
/// ```swift
/// let fixture = try GraphFixture(
///     contentsOf: url, model: .contacts, dataSources: [ContactDataSource.self, GroupDataSource.self])
/// let container = try await fixture.container()
/// try await container.dataSource(ContactDataSource.self).delete(Contact(uid: "1", name: ""))
/// #expect(try await after.difference(from: container) == nil)
/// ```
///
/// `ObjectGraph` says what the JSON is like; `exportGraph` of a context makes one, and its `json` is what to write into the file.
public struct GraphFixture: Sendable {
    /// The objects.
    public let graph: ObjectGraph
    private let model: ManagedObjectModel
    private let dataSources: [AnyDataSource.Type]
    private let keys: [String: String]

    /// - Parameters:
    ///   - dataSources: The classes of data sources that own the entities of the graph, and of all that it is compared with.
    ///   - keys: The attributes by which objects are named, where that is not the first one with a uniqueness constraint.
    public init(
        _ graph: ObjectGraph, model: ManagedObjectModel, dataSources: [AnyDataSource.Type], keys: [String: String] = [:]
    ) {
        self.graph = graph
        self.model = model
        self.dataSources = dataSources
        self.keys = keys
    }

    /// A fixture from a file.
    ///
    /// - Throws: What reading the file throws; `invalidGraph`.
    public init(
        contentsOf url: URL, model: ManagedObjectModel, dataSources: [AnyDataSource.Type], keys: [String: String] = [:]
    ) throws {
        self.init(
            try ObjectGraph(json: Data(contentsOf: url)), model: model, dataSources: dataSources, keys: keys)
    }

    /// A new container in memory that has the objects, with its data sources made. The caller closes it.
    ///
    /// - Throws: As `importGraph` of a container.
    public func container() async throws -> PersistentContainer {
        let container = try await PersistentContainer(model: model, store: .inMemory)
        do {
            for type in dataSources { _ = try await container.dataSource(type) }
            try await container.importGraph(graph, keys: keys)
        } catch {
            try? await container.close()
            throw error
        }
        return container
    }

    /// The first thing in which the objects of a container differ from those of the fixture, in a sentence; nil if none does.
    ///
    /// All objects of the data sources' entities are compared by their stored attributes and their links, and not by their ids.
    /// What the fixture leaves out has its default value. The sentence may show values.
    ///
    /// - Throws: As ``container()``; what reading throws.
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
