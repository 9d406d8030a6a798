import CoreDataSource
import Foundation
import ManagedModel
import RowStore

/// The objects of a store of any model and all their links, made and read through the accessors of objects.
@MainActor struct LinkedObjects {
    /// The entities, by the keys of the objects.
    private(set) var entities: [Int64: String] = [:]
    /// By relationship, where it is declared, and by the owner's key: the keys of the objects that it leads to, in its order.
    private(set) var links: [RelationshipName: [Int64: [Int64]]] = [:]

    private nonisolated static let countOfEach = 3

    /// Reads those objects that are there, and their links.
    ///
    /// - Parameter candidates: The keys that objects may have, with their entities.
    init(_ container: PersistentContainer, _ candidates: [Int64: String]) throws {
        for (key, entity) in candidates {
            guard let layout = container.stack.layout.entity(named: entity),
                let object = try container.main.object(ManagedObject.self, id: ManagedObjectID(layout, key: key))
            else { continue }
            entities[key] = entity
            for (index, relationship) in layout.relationships.enumerated() {
                if case .none = relationship.storage { continue }
                let ends = LinkedObjects.ends(object, index, relationship)
                if !ends.isEmpty { links[relationship.path, default: [:]][key] = ends.map(\.objectID.key) }
            }
        }
    }

    private static func ends(_ object: ManagedObject, _ index: Int, _ relationship: RelationshipLayout)
        -> [ManagedObject]
    {
        guard relationship.isToMany else {
            let end: ManagedObject? = object.relatedObject(at: index)
            return end.map { [$0] } ?? []
        }
        if relationship.description.isOrdered { return object.relatedList(at: index) }
        let ends: RelatedObjects<ManagedObject> = object.relatedObjects(at: index)
        return Array(ends)
    }

    // MARK: Filling

    /// Makes a store with a few objects of each entity, which are linked along every relationship.
    static func fill(_ model: ManagedObjectModel, at url: URL) async throws -> LinkedObjects {
        let container = try await PersistentContainer(
            model: model, store: .sqlite(url), configuration: .init(synchronous: .normal))
        let slots = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, EntitySlot($0.name)) })
        let source = try WholeModel.$classes.withValue(slots.values.map(\.type)) {
            try container.dataSource(WholeModelDataSource.self)
        }
        let layout = container.stack.layout
        let entities = try await source.perform { context in
            var filler = GraphFiller(layout: layout)
            for entity in layout.entities where !entity.isAbstract && entity.links == nil {
                for number in 0..<countOfEach {
                    guard let slot = slots[entity.name] else { continue }
                    filler.add(try slot.insert(context), entity, number)
                }
            }
            filler.link()
            return filler.entities
        }
        let filled = try LinkedObjects(container, entities)
        try await container.close()
        return filled
    }
}

/// Gives values and links to new objects.
private struct GraphFiller {
    let layout: ModelLayout
    private var objects: [Int: [ManagedObject]] = [:]

    init(layout: ModelLayout) {
        self.layout = layout
    }

    var entities: [Int64: String] {
        objects.values.joined().reduce(into: [:]) { $0[$1.objectID.key] = $1.objectID.entityName }
    }

    mutating func add(_ object: ManagedObject, _ entity: EntityLayout, _ number: Int) {
        objects[entity.index, default: []].append(object)
        for (index, column) in layout.model.columns(of: layout.model.entities[entity.index]).enumerated() {
            guard let attribute = column.attribute, attribute.derivationExpression == nil else { continue }
            // The first object has nothing that it need not have.
            if number == 0 && attribute.isOptional { continue }
            set(attribute.type, of: object, index)
        }
    }

    private func set(_ type: AttributeType, of object: ManagedObject, _ column: Int) {
        let key = object.objectID.key
        switch type {
        case .boolean: object.setAttribute(key % 2 == 0, at: column)
        case .integer16, .integer32, .integer64, .objectID: object.setAttribute(key, at: column)
        case .double, .float: object.setAttribute(Double(key) / 2, at: column)
        case .date: object.setAttribute(Date(timeIntervalSinceReferenceDate: Double(key)), at: column)
        case .decimal: object.setAttribute(Decimal(key), at: column)
        case .uuid: object.setAttribute(UUID(), at: column)
        case .uri: object.setAttribute(URL(filePath: "/\(key)"), at: column)
        case .string: object.setAttribute("\(key)", at: column)
        case .binary, .transformable, .composite, .undefined:
            object.setAttribute(Data("\(key)".utf8), at: column)
        }
    }

    /// Links along each relationship from one side, to two objects if it is to-many.
    func link() {
        for (entity, sources) in objects.sorted(by: { $0.key < $1.key }) {
            for (index, relationship) in layout.entities[entity].relationships.enumerated() {
                if case .none = relationship.storage { continue }
                if let inverse = relationship.inverse, GraphFiller.isFirst(inverse, relationship.path) { continue }
                let ends = relationship.destinationFamily.flatMap { objects[$0] ?? [] }
                if ends.isEmpty { continue }
                for (number, source) in sources.enumerated() {
                    link(source, index, relationship, (0..<2).map { ends[(number * 2 + $0 + entity) % ends.count] })
                }
            }
        }
    }

    private static func isFirst(_ lhs: RelationshipName, _ rhs: RelationshipName) -> Bool {
        (lhs.entity, lhs.name) < (rhs.entity, rhs.name)
    }

    private func link(
        _ source: ManagedObject, _ index: Int, _ relationship: RelationshipLayout, _ ends: [ManagedObject]
    ) {
        if !relationship.isToMany {
            source.setRelatedObject(ends[0], at: index)
        } else if relationship.description.isOrdered {
            source.setRelatedList(ends.reversed(), at: index)
        } else {
            let related: RelatedObjects<ManagedObject> = source.relatedObjects(at: index)
            related.insert(contentsOf: ends)
        }
    }
}
