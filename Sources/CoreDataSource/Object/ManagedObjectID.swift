package import RowStore

/// The permanent identity of an object, which is the same in all contexts. There are no temporary IDs.
///
/// An object has its final ID as soon as it is inserted, with one exception: if another program wrote to the store in the
/// meantime, the save of a ``Draft`` can give a new object another ID. An ID can be sent to any actor, is the same
/// after a restart, and is never used again after its object was deleted. A predicate of Foundation cannot capture an
/// object, but it can compare IDs:
///
/// ```swift
/// let id = thread.objectID
/// let messages = try context.fetch(
///     Message.self,
///     where: FetchPredicate(#Predicate { $0.thread?.objectID == id }))
/// ```
///
/// An ID is encoded as the name of the entity and the key. A decoded ID finds its object in any container of the same store.
public struct ManagedObjectID: Sendable, Hashable {
    private enum Entity {
        case known(EntityLayout)
        /// The entity of a decoded ID.
        case named(String)
    }

    private let entity: Entity
    /// The number of the object, ascending in creation order. It is the `_key` of the row. It is unique in the store,
    /// unless another program has given it to a row of another entity.
    public let key: Int64

    package init(_ layout: EntityLayout, key: Int64) {
        entity = .known(layout)
        self.key = key
    }

    /// The name of the object's own entity, which can be a sub-entity of the entity that was fetched.
    public var entityName: String {
        switch entity {
        case .known(let layout): layout.name
        case .named(let name): name
        }
    }

    /// The layout of the entity in a model; nil if the ID belongs to an object of another container, or if the entity
    /// of a decoded ID is not in the model.
    func layout(in model: ModelLayout) -> EntityLayout? {
        switch entity {
        case .known(let layout):
            model.entities.indices.contains(layout.index) && model.entities[layout.index] === layout ? layout : nil
        case .named(let name): model.entity(named: name)
        }
    }

    /// The index of the entity in a model, also for an object of another container; nil if the entity is not in the model.
    func entity(in model: ModelLayout) -> Int? { (layout(in: model) ?? model.entity(named: entityName))?.index }

    public static func == (lhs: ManagedObjectID, rhs: ManagedObjectID) -> Bool {
        guard lhs.key == rhs.key else { return false }
        if case .known(let layout) = lhs.entity, case .known(let otherLayout) = rhs.entity, layout === otherLayout {
            return true
        }
        return lhs.entityName == rhs.entityName
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
    }
}

extension ManagedObjectID: CustomStringConvertible {
    /// The entity and the key, for example `ContactEntity/12`.
    public var description: String { "\(entityName)/\(key)" }
}

extension ManagedObjectID: Codable {
    private enum CodingKeys: String, CodingKey {
        case entity
        case key
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        entity = .named(try values.decode(String.self, forKey: .entity))
        key = try values.decode(Int64.self, forKey: .key)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(entityName, forKey: .entity)
        try values.encode(key, forKey: .key)
    }
}
