internal import RowStore

/// Which links an exported graph contains.
public struct GraphLinks: Sendable, Hashable {
    private let rawValue: Int

    /// Links between exported objects, so that no link of the graph leads nowhere: a list has only exported objects, and a
    /// relationship that leads to objects of which none is exported is left out.
    public static let exported = GraphLinks(rawValue: 0)
    /// All links. Objects that are not exported must exist where the graph is imported.
    public static let all = GraphLinks(rawValue: 1)
}

/// Exporting objects as plain values.
extension ManagedObjectContext {
    /// The objects of a request as a graph, together with the objects that chosen relationships lead to.
    ///
    /// ```swift
    /// let request = FetchRequest<GroupEntity>(where: \.gid == "7")
    /// let graph = try await container.read { try $0.exportGraph(request, following: [\GroupEntity.members]) }
    /// ```
    ///
    /// A chosen relationship is followed from every object, including those that were reached by another relationship. Unsaved
    /// edits are exported as well. On main, and in ``PersistentContainer/read(_:)``, everything is of one moment. Transient and
    /// derived attributes are left out.
    ///
    /// - Parameters:
    ///   - request: The objects to begin with.
    ///   - following: Key paths to relationships, of any class; none by default.
    ///   - keys: The key attribute of an entity, if it is not that of its first uniqueness constraint on a single attribute. It
    ///     also applies to sub-entities.
    ///   - links: Which links are written.
    /// - Throws: What ``fetch(_:)`` throws; `unknownAttribute`; `damagedValue`; `invalidGraph` for a link to an entity without
    ///   a key, for an object without a value for its key, and for two objects with the same key.
    ///
    /// - Complexity: A few statements for each 1,000 objects of an entity. All objects are in memory together.
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
    /// - Throws: What ``exportGraph(_:following:keys:links:)`` throws.
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

    /// Exports on main from a snapshot, so that a save that comes in meanwhile is not seen in part.
    private func inOneState(_ body: (ManagedObjectContext) throws -> ObjectGraph) throws -> ObjectGraph {
        guard self is MainContext else {
            let leftValuesApart = leavesValuesApart
            leavesValuesApart = false
            defer { leavesValuesApart = leftValuesApart }
            return try checked(body)
        }
        return try stack.root.withSnapshot { snapshot throws(DataSourceError) in
            Result { try ReadContext(stack, .snapshot(snapshot), leavesValuesApart: false).checked(body) }
        }.get()
    }

    private func allObjects(ofEntity entity: Int) throws -> [ManagedObject] {
        try reading { () throws(DataSourceError) in
            try unsortedObjects(FetchPlan(RowQuery(entity: entity)))
        }
    }

    /// Throws the error of a relationship that could not be read.
    private func checked(_ body: (ManagedObjectContext) throws -> ObjectGraph) throws -> ObjectGraph {
        let graph = try body(self)
        if let refusal { throw refusal }
        return graph
    }
}
