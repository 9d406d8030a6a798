internal import ManagedModel
internal import RowStore

/// Makes a graph from the objects of a context.
struct GraphExport {
    private let context: ManagedObjectContext
    private let keys: TransferKeys
    private let links: GraphLinks
    private var layout: ModelLayout { context.stack.layout }
    /// The exported objects by entity, in the order in which they were found.
    private var objects: [Int: [ManagedObject]] = [:]
    private var exported: Set<LinkEnd> = []
    /// For each entity that a relationship leads to, the keys that more than one exported object has.
    private var sharedKeys: [Int: Set<JSONValue>] = [:]

    init(_ context: ManagedObjectContext, _ keys: [String: String], _ links: GraphLinks) throws {
        self.context = context
        self.keys = try TransferKeys(keys, context.stack.layout)
        self.links = links
    }

    /// Adds objects, and all objects that the paths lead to, directly or indirectly.
    mutating func add(_ found: [ManagedObject], following paths: [TransferPath]) throws {
        var waiting = insert(found)
        while !waiting.isEmpty {
            var next: [ManagedObject] = []
            for (entity, objects) in Dictionary(grouping: waiting, by: \.layout.index).sorted(by: { $0.key < $1.key }) {
                FetchGroup.gather(objects)
                for path in paths where path.family.contains(entity) {
                    guard let index = layout.entities[entity].relationship(named: path.name) else { continue }
                    for object in objects {
                        next += insert(try context.relatedObjects(of: object, at: index))
                    }
                }
            }
            waiting = next
        }
    }

    /// Adds objects, and returns the objects that were not added before.
    private mutating func insert(_ found: [ManagedObject]) -> [ManagedObject] {
        let new = found.filter { exported.insert(LinkEnd($0)).inserted }
        for object in new { objects[object.layout.index, default: []].append(object) }
        return new
    }

    // MARK: The graph

    /// - Parameter entities: Entities that the graph lists even if they have no objects.
    mutating func graph(_ entities: Set<Int>) throws -> ObjectGraph {
        var records: [String: [[JSONName: JSONValue]]] = [:]
        for entity in entities { records[layout.entities[entity].name] = [] }
        for (entity, objects) in objects {
            let layout = layout.entities[entity]
            let fields = TransferField.fields(of: layout, self.layout.model)
            FetchGroup.gather(objects)
            var made: [(order: JSONValue, record: [JSONName: JSONValue])] = []
            for (index, object) in objects.enumerated() {
                try checkCancellation(index)
                try context.readDeferredValues(of: object)
                let record = try record(object, fields)
                made.append((try key(of: object) ?? .string(JSONValue.object(record).text), record))
            }
            made.sort { $0.order < $1.order }
            if let column = keys[layout],
                let duplicate = zip(made, made.dropFirst()).first(where: { $0.order == $1.order })
            {
                throw TransferKeys.duplicateError(layout.name, duplicate.0.order, of: layout, column: column)
            }
            records[layout.name] = made.map(\.record)
        }
        return ObjectGraph(records)
    }

    private mutating func record(_ object: ManagedObject, _ fields: [TransferField]) throws -> [JSONName: JSONValue] {
        var record: [JSONName: JSONValue] = [:]
        for field in fields {
            if case .relationship(let index) = field.kind {
                if let value = try self.links(of: object, index) { record[JSONName(field.name)] = value }
            } else if let value = try attribute(object, field.kind) {
                record[JSONName(field.name)] = value
            }
        }
        return record
    }

    private func attribute(_ object: ManagedObject, _ kind: TransferField.Kind) throws(DataSourceError) -> JSONValue? {
        switch kind {
        case .attribute(let column, let attribute):
            return try AttributeCoding.json(object.row, column, as: attribute, in: object.layout)
        case .composite(let leaves):
            var members: [JSONName: JSONValue] = [:]
            for leaf in leaves {
                if let value = try attribute(object, leaf.kind) { members[JSONName(leaf.name)] = value }
            }
            return members.values.allSatisfy { $0 == .null } ? .null : .object(members)
        case .relationship, .excluded: return nil
        }
    }

    private func key(of object: ManagedObject) throws -> JSONValue? {
        try keys[object.layout].map { try key(of: object, $0) }
    }

    private func key(of object: ManagedObject, _ column: Int) throws(DataSourceError) -> JSONValue {
        let layout = object.layout
        guard let attribute = layout.columns[column].attribute, !object.row.isNull(column) else {
            throw DataSourceError(
                .invalidGraph,
                "\(object.objectID) has no value for its key \(layout.columns[column].name). Set the attribute, or choose another key.",
                entityName: layout.name, attributeName: layout.columns[column].name)
        }
        return try AttributeCoding.json(object.row, column, as: attribute, in: layout)
    }

    /// Returns the keys of the objects that a relationship leads to; nil to leave the relationship out of the graph.
    private mutating func links(of object: ManagedObject, _ index: Int) throws -> JSONValue? {
        let relationship = object.layout.relationships[index]
        guard relationship.isExported else { return nil }
        let related = try context.relatedObjects(of: object, at: index)
        let shown = links == .all ? related : related.filter { exported.contains(LinkEnd($0)) }
        if shown.isEmpty {
            if !related.isEmpty { return nil }
            return relationship.isToMany ? .array([]) : .null
        }
        let location = "\(object.layout.name).\(relationship.name)"
        let column = try keys.destination(relationship, layout, location)
        var keys = try shown.map { try key(of: $0, column) }
        let shared = try findSharedKeys(relationship, column)
        if let duplicate = keys.first(where: shared.contains) {
            throw TransferKeys.duplicateError(
                location, duplicate, of: layout.entities[relationship.destination], column: column)
        }
        guard relationship.isToMany else { return keys[0] }
        if !relationship.description.isOrdered { keys.sort() }
        return .array(keys)
    }
}

extension GraphExport {
    /// Finds the keys that more than one exported object has, among the objects that a relationship can lead to.
    private mutating func findSharedKeys(_ relationship: RelationshipLayout, _ column: Int) throws -> Set<JSONValue> {
        let destination = layout.entities[relationship.destination]
        if TransferKeys.isUnique(column, destination) { return [] }
        if let known = sharedKeys[relationship.destination] { return known }
        var (once, twice) = (Set<JSONValue>(), Set<JSONValue>())
        for entity in relationship.destinationFamily {
            for object in objects[entity] ?? [] {
                let key = try key(of: object, column)
                if !once.insert(key).inserted { twice.insert(key) }
            }
        }
        sharedKeys[relationship.destination] = twice
        return twice
    }
}

/// A relationship to follow, with the entities that have the relationship.
struct TransferPath {
    let name: String
    let family: Set<Int>

    init(_ keyPath: AnyKeyPath, _ layout: ModelLayout) throws(DataSourceError) {
        guard let type = type(of: keyPath).rootType as? ManagedObject.Type,
            let entity = layout.entity(named: type.entityName), let name = type.relationshipKeyPaths[keyPath]
        else {
            throw DataSourceError(
                .unknownAttribute,
                "An export follows a property that is not a relationship of the model. Pass a relationship, as in following: [\\ThreadEntity.messages]."
            )
        }
        self.name = name
        family = Set(entity.concreteFamily)
    }
}

/// The links that an exported graph contains.
public struct GraphLinks: Sendable, Hashable {
    private let rawValue: Int

    /// Only links between exported objects, so that every link in the graph leads to an object in the graph. A to-many
    /// relationship lists only exported objects. If a relationship leads only to objects that are not exported, the
    /// relationship is left out.
    public static let exported = GraphLinks(rawValue: 0)
    /// All links. Each destination that is not exported must exist in the store that imports the graph.
    public static let all = GraphLinks(rawValue: 1)
}

extension ManagedObjectContext {
    /// Exports the objects of a request as a graph, together with the objects that the relationships in `following`
    /// lead to.
    ///
    /// ```swift
    /// let request = ObjectRequest<GroupEntity>(where: \.gid == "7")
    /// let graph = try await container.read {
    ///     try $0.exportGraph(request, following: [\GroupEntity.members])
    /// }
    /// ```
    ///
    /// Each relationship in `following` is followed from every exported object, including objects that were reached through
    /// another relationship. Unsaved edits are exported too. In the main context, and in ``PersistentContainer/read(_:)``, the
    /// graph shows the store at one moment. Transient and derived attributes are left out.
    ///
    /// - Parameters:
    ///   - request: The request for the first objects.
    ///   - following: Key paths of the relationships to follow, of any class; none by default.
    ///   - keys: For each entity name, the name of the entity's key attribute. A key also applies to sub-entities. By default,
    ///     the key is the attribute of the entity's first uniqueness constraint on a single attribute.
    ///   - links: The links to export; `.exported` by default.
    /// - Throws: Errors of ``fetch(_:)``; `unknownAttribute`; `damagedValue`; `invalidGraph` if a link leads to an entity
    ///   without a key, if an object has no value for its key, or if two objects have the same key.
    ///
    /// - Complexity: A few statements for each 1,000 objects of an entity. All objects are in memory at the same time.
    public func exportGraph<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, following: [AnyKeyPath] = [], keys: [String: String] = [:],
        links: GraphLinks = .exported
    ) throws -> ObjectGraph {
        try inSnapshot { context in
            var export = try GraphExport(context, keys, links)
            let paths = try following.map { keyPath throws(DataSourceError) in try TransferPath(keyPath, stack.layout) }
            try export.add(context.fetch(request), following: paths)
            let family = try stack.layout.entities[context.entity(of: Object.self)].concreteFamily
            return try export.graph(Set(family))
        }
    }

    /// Exports all objects of the given entities and their sub-entities as a graph.
    ///
    /// ```swift
    /// let everything = try await container.read {
    ///     try $0.exportGraph(of: [GroupEntity.self, ContactEntity.self])
    /// }
    /// try everything.json.write(to: file)
    /// ```
    ///
    /// **Complexity**: O(n log n) in the number of objects, which are sorted by their keys.
    ///
    /// - Parameters:
    ///   - types: The classes of the objects.
    ///   - keys: The key attributes, as in ``exportGraph(_:following:keys:links:)``.
    ///   - links: The links to export; `.exported` by default.
    /// - Throws: Errors of ``exportGraph(_:following:keys:links:)``.
    public func exportGraph(
        of types: [ManagedObject.Type], keys: [String: String] = [:], links: GraphLinks = .exported
    ) throws -> ObjectGraph {
        try inSnapshot { context in
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

    /// Calls the body with the context to export from. For the main context, this is another context with a snapshot, so that
    /// the graph contains no part of a later save.
    private func inSnapshot(_ body: (ManagedObjectContext) throws -> ObjectGraph) throws -> ObjectGraph {
        guard self is MainContext else {
            let deferredBefore = defersValues
            defersValues = false
            defer { defersValues = deferredBefore }
            return try checked(body)
        }
        return try stack.root.withSnapshot { snapshot throws(DataSourceError) in
            Result { try ReadContext(stack, .snapshot(snapshot), defersValues: false).checked(body) }
        }.get()
    }

    private func allObjects(ofEntity entity: Int) throws -> [ManagedObject] {
        try reading { () throws(DataSourceError) in
            try unsortedObjects(FetchPlan(RowQuery(entity: entity)))
        }
    }

    /// Returns the graph, or throws the error of a relationship that could not be read.
    private func checked(_ body: (ManagedObjectContext) throws -> ObjectGraph) throws -> ObjectGraph {
        let graph = try body(self)
        if let refusal { throw refusal }
        return graph
    }
}
