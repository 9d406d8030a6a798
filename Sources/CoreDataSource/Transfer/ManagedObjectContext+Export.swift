internal import RowStore

/// Which links a graph has.
public struct GraphLinks: Sendable, Hashable {
    private let rawValue: Int

    /// Those between exported objects, so that the graph can be imported into an empty store: a list has the exported objects
    /// only, and a relationship that leads to others alone is left out.
    public static let exported = GraphLinks(rawValue: 0)
    /// All of them. Objects that are not exported have to exist where the graph is imported.
    public static let all = GraphLinks(rawValue: 1)
}

/// Objects out of a context, as plain values.
extension ManagedObjectContext {
    /// The objects of a request as a graph, with those to which chosen relationships lead.
    ///
    /// ```swift
    /// let request = FetchRequest<GroupEntity>(where: \.gid == "7")
    /// let graph = try await container.read { try $0.exportGraph(request, following: [\GroupEntity.members]) }
    /// ```
    ///
    /// A chosen relationship is followed from every object, also from those that were reached by another one. Edits that are
    /// not saved yet are exported as well. On main, and in ``PersistentContainer/read(_:)``, all of it is of one moment.
    /// Transient and derived attributes are left out.
    ///
    /// - Parameters:
    ///   - request: The objects to begin with.
    ///   - following: Key paths to relationships, of any class; none by default.
    ///   - keys: The key attribute of each entity, where it is not the first one with a uniqueness constraint of its own. It
    ///     counts for sub-entities too.
    ///   - links: Which links are written.
    /// - Throws: As ``fetch(_:)``; `unknownAttribute`; `damagedValue`; `invalidGraph` for a link to an entity without a key, for an
    ///   object without a value for its key, and for two with the same.
    ///
    /// - Complexity: a few statements for 1,000 objects of each entity. All objects are in memory together.
    public func exportGraph<Object: ManagedObject>(
        _ request: FetchRequest<Object>, following: [AnyKeyPath] = [], keys: [String: String] = [:],
        links: GraphLinks = .exported
    ) throws -> ObjectGraph {
        try inOneState { context in
            var export = try GraphExport(context, keys, links)
            let paths = try following.map { keyPath throws(DataSourceError) in try TransferPath(keyPath, stack.layout) }
            try export.add(context.fetch(request), following: paths)
            let family = try stack.layout.entities[context.entity(of: Object.self)].concreteFamily
            return try export.graph(Set(family))
        }
    }

    /// All objects of some entities and their sub-entities as a graph.
    ///
    /// - Parameters:
    ///   - types: Classes of objects.
    ///   - keys: As for ``exportGraph(_:following:keys:links:)``.
    ///   - links: Which links are written.
    /// - Throws: As ``exportGraph(_:following:keys:links:)``.
    public func exportGraph(
        of types: [ManagedObject.Type], keys: [String: String] = [:], links: GraphLinks = .exported
    ) throws -> ObjectGraph {
        try inOneState { context in
            var export = try GraphExport(context, keys, links)
            var entities: Set<Int> = []
            for type in types {
                for entity in try stack.layout.entities[context.entity(of: type)].concreteFamily
                where entities.insert(entity).inserted {
                    try export.add(context.allObjects(ofEntity: entity), following: [])
                }
            }
            return try export.graph(entities)
        }
    }

    /// Exports on main from a snapshot, so that no save that comes in meanwhile is seen by half.
    private func inOneState(_ body: (ManagedObjectContext) throws -> ObjectGraph) throws -> ObjectGraph {
        guard self is MainContext else { return try checked(body) }
        return try stack.root.withSnapshot { snapshot throws(DataSourceError) in
            Result { try ReadContext(stack, .snapshot(snapshot)).checked(body) }
        }.get()
    }

    private func allObjects(ofEntity entity: Int) throws -> [ManagedObject] {
        try reading { () throws(DataSourceError) in
            try unsortedObjects(FetchPlan(RowQuery(entity: entity)))
        }
    }

    /// Throws what could not be read of a relationship.
    private func checked(_ body: (ManagedObjectContext) throws -> ObjectGraph) throws -> ObjectGraph {
        let graph = try body(self)
        if let refusal { throw refusal }
        return graph
    }
}
