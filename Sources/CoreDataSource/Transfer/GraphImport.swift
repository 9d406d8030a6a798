internal import ManagedModel
internal import RowStore

/// Makes the objects of a graph, in a batch that has the contexts of the owning data sources.
///
/// All objects are made before any links, so that an object can be linked to a later object.
struct GraphImport {
    private let contexts: [PrivateContext]
    private let layout: ModelLayout
    private let keys: TransferKeys
    /// For each entity whose objects were imported so far, the properties of the entity by name.
    private var fields: [Int: [JSONName: TransferField]] = [:]
    private var links = GraphImportLinks()
    /// Objects of one entity that wait until they are looked up together.
    private var waiting: [(index: Int, record: [JSONName: JSONValue])] = []
    private var waitingEntity = ""
    /// The objects that were imported so far.
    private var imported: Set<LinkEnd> = []

    /// The number of objects that were made or found so far.
    private var madeCount = 0
    private let total: Int
    private let progress: BatchProgress?

    private static let lookupBatchSize = 500

    /// - Parameter total: The number of objects of the graph, for the progress.
    init(
        _ contexts: [PrivateContext], _ layout: ModelLayout, _ keys: TransferKeys, total: Int,
        progress: BatchProgress?
    ) throws {
        self.contexts = contexts
        self.layout = layout
        self.keys = keys
        self.total = total
        self.progress = progress
        try progress?.check(0, of: total)
    }

    /// Adds the next object.
    mutating func add(_ entity: String, _ index: Int, _ record: [JSONName: JSONValue]) throws {
        if entity != waitingEntity || waiting.count == GraphImport.lookupBatchSize { try makeWaiting() }
        waitingEntity = entity
        waiting.append((index, record))
    }

    /// Sets the links of all objects. Must be the last call.
    mutating func end() throws {
        try makeWaiting()
        try progress?.check(madeCount, of: total)
        try links.apply(contexts, layout, keys)
    }

    /// Checks that a name belongs to a concrete entity.
    func check(_ name: String) throws(DataSourceError) {
        guard let entity = layout.entity(named: name), entity.links == nil else {
            throw DataSourceError(
                .unknownEntity,
                "The graph has objects of \"\(name)\", but the model \(layout.model.name) has no such entity. Correct the name, or remove the objects from the graph.",
                entityName: name)
        }
        if entity.isAbstract {
            throw DataSourceError(
                .abstractEntity,
                "The graph has objects of \(name), which is abstract. List the objects under the names of its sub-entities.",
                entityName: name)
        }
    }

    // MARK: Objects

    private mutating func makeWaiting() throws {
        defer { waiting.removeAll(keepingCapacity: true) }
        guard !waiting.isEmpty, let entity = layout.entity(named: waitingEntity) else { return }
        guard let context = contexts.first(where: { $0.bindings[entity.index].isOwned }) else {
            throw DataSourceError(
                .entityNotOwned,
                "The graph has objects of \(entity.name), but no data source of the container owns that entity yet. Make the data source before the import.",
                entityName: entity.name)
        }
        let fields =
            self.fields[entity.index]
            ?? Dictionary(
                TransferField.fields(of: entity, layout.model).map { (JSONName($0.name), $0) }
            ) { first, _ in first }
        self.fields[entity.index] = fields
        var named: [(location: String, key: RowValue?, record: [JSONName: JSONValue])] = []
        for (index, record) in waiting {
            let location = "\(entity.name)[\(index)]"
            named.append((location, try key(of: record, entity, location), record))
        }
        if let column = keys[entity] {
            for concrete in family(entity, column) where context.bindings[concrete].isOwned {
                try context.reading { () throws(DataSourceError) in
                    try context.preload(context.bindings[concrete], column, named.lazy.compactMap(\.key))
                }
            }
            try checkNoDuplicate(named.map { ($0.location, $0.key) }, column, of: entity, in: context)
        }
        for (index, (location, key, record)) in named.enumerated() {
            try checkCancellation(index)
            if madeCount & 0xFF == 0, madeCount > 0 { try progress?.check(madeCount, of: total) }
            madeCount += 1
            let object = try object(of: entity, key: key, at: location, in: context)
            for (name, value) in record.sorted(by: { $0.key < $1.key }) {
                guard let field = fields[name] else {
                    throw DataSourceError(
                        .unknownAttribute,
                        "\(location) has the property \"\(name.text)\", but \(entity.name) has no such property. Correct the name, or remove the property from the graph.",
                        entityName: entity.name, attributeName: name.text)
                }
                try set(field, of: object, to: value, "\(location).\(name.text)")
            }
        }
    }

    /// Returns the value of an object's key; nil if the entity has no key.
    private func key(
        of record: [JSONName: JSONValue], _ entity: EntityLayout, _ location: String
    ) throws(DataSourceError) -> RowValue? {
        guard let column = keys[entity], let attribute = entity.columns[column].attribute else { return nil }
        var json: JSONValue? = .object(record)
        // The key can be inside a composite, so its name can have several parts.
        for part in entity.columns[column].name.split(separator: ".") {
            if case .object(let members) = json { json = members[JSONName(String(part))] } else { json = nil }
        }
        guard let json, json != .null else {
            throw DataSourceError(
                .invalidGraph,
                "\(location) has no value for \(entity.columns[column].name), the key of \(entity.name). Add the value, or choose another key.",
                entityName: entity.name, attributeName: attribute.name)
        }
        guard let value = AttributeCoding.value(json, attribute.type) else {
            throw wrongType(json, at: "\(location).\(entity.columns[column].name)", of: attribute, entity)
        }
        return value
    }

    /// Throws if two stored objects have the same key as an object of the graph. This can happen only if the key has no
    /// uniqueness constraint.
    private func checkNoDuplicate(
        _ named: [(location: String, key: RowValue?)], _ column: Int, of entity: EntityLayout,
        in context: PrivateContext
    ) throws {
        guard !TransferKeys.isUnique(column, entity), let attribute = entity.columns[column].attribute,
            let duplicate = try context.duplicate(of: named.compactMap(\.key), column, in: [entity.index])
        else { return }
        let value = duplicate.row.value(column, entity.columns[column].storage)
        let location = named.first { $0.key == value }?.location ?? entity.name
        throw TransferKeys.duplicateError(
            location, try AttributeCoding.json(duplicate.row, column, as: attribute, in: entity), of: entity,
            column: column)
    }

    /// Returns the entities that share the uniqueness constraint on the key; without a constraint, only the given
    /// entity.
    private func family(_ entity: EntityLayout, _ column: Int) -> [Int] {
        guard let constraint = entity.constraint(onColumn: column) else { return [entity.index] }
        return layout.entities[entity.constraintOwners[constraint]].concreteFamily
    }

    /// Returns the stored object with a key, or inserts a new object.
    private mutating func object(
        of entity: EntityLayout, key: RowValue?, at location: String, in context: PrivateContext
    ) throws -> ManagedObject {
        guard let key, let column = keys[entity] else { return try context.insert(entity: entity.index) }
        var found: ManagedObject?
        for concrete in family(entity, column) where found == nil {
            found = try context.findObject(for: key, column, in: concrete)
        }
        if let found, found.layout !== entity {
            throw DataSourceError(
                .invalidGraph,
                "\(location) has the key of an object that is stored as a \(found.layout.name). Import the object under that name, or delete the stored object first.",
                entityName: entity.name)
        }
        let object = try found ?? context.insert(entity: entity.index, as: nil, column: column, value: key)
        guard imported.insert(LinkEnd(object)).inserted else {
            throw DataSourceError(
                .invalidGraph,
                "\(location) has the same key as an earlier object of the graph. Remove one of the objects.",
                entityName: entity.name)
        }
        return object
    }

    // MARK: Properties

    private mutating func set(
        _ field: TransferField, of object: ManagedObject, to json: JSONValue, _ location: String
    ) throws {
        switch field.kind {
        case .attribute(let column, let attribute):
            guard let value = AttributeCoding.value(json, attribute.type) else {
                throw wrongType(json, at: location, of: attribute, object.layout)
            }
            object.setValue(value, column)
        case .composite(let leaves):
            guard case .object(let members) = json else {
                guard json == .null else { throw wrongKind(location, "an object with the parts of the composite") }
                for leaf in leaves { try clear(leaf, of: object, location) }
                return
            }
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let leaf = leaves.first(where: { JSONName($0.name) == name }) else {
                    throw DataSourceError(
                        .unknownAttribute,
                        "\(location) has the part \"\(name.text)\", but the composite has no such part. Correct the name, or remove the part from the graph.",
                        entityName: object.layout.name, attributeName: name.text)
                }
                try set(leaf, of: object, to: value, "\(location).\(name.text)")
            }
        case .relationship(let index):
            try links.add(object, relationship: index, json: json, at: location)
        case .excluded(let reason):
            throw wrongKind(location, "absent, because the property \(reason)")
        }
    }

    private mutating func clear(_ field: TransferField, of object: ManagedObject, _ location: String) throws {
        if case .excluded = field.kind { return }
        try set(field, of: object, to: .null, location)
    }

    private func wrongType(
        _ json: JSONValue, at location: String, of attribute: AttributeDescription, _ entity: EntityLayout
    ) -> DataSourceError {
        DataSourceError(
            .invalidGraph, "\(location) \(AttributeCoding.problem(json, attribute.type)).", entityName: entity.name,
            attributeName: attribute.name)
    }

    private func wrongKind(_ location: String, _ wanted: String) -> DataSourceError {
        DataSourceError(.invalidGraph, "\(location) has to be \(wanted).")
    }
}

extension PrivateContext {
    /// Finds the object with a value, in the context that can edit the object.
    func findObject(for value: RowValue, _ column: Int, in entity: Int) throws -> ManagedObject? {
        let editor = editor(ofEntity: entity)
        return try editor.reading { () throws(DataSourceError) in
            try editor.find(entity: entity, column: column, value: value)
        }
    }
}
