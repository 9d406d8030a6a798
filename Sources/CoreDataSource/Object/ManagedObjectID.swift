package import RowStore

/// The permanent identity of an object, in every tier. There are no temporary ids.
///
/// An id is final as soon as the object is inserted, with one exception: the save of a ``Draft`` may give a new object another
/// id if another program wrote to the store meanwhile. An id can be sent anywhere, is the same after a restart, and is never
/// reused after its object was deleted. A predicate of Foundation cannot capture an object, but can compare ids:
///
/// ```swift
/// let id = thread.objectID
/// let messages = try context.fetch(
///     Message.self,
///     where: FetchPredicate(#Predicate { $0.thread?.objectID == id }))
/// ```
///
/// An id is encoded as the name of the entity and the key. A decoded id finds the object in a container of the same store.
public struct ManagedObjectID: Sendable, Hashable {
    private enum Entity {
        case known(EntityLayout)
        /// For a decoded id.
        case named(String)
    }

    private let entity: Entity
    /// The number of the object, unique in its store and ascending in the order of creation. It is the `_key` of the row.
    public let key: Int64

    package init(_ layout: EntityLayout, key: Int64) {
        entity = .known(layout)
        self.key = key
    }

    /// The name of the object's own entity, which may be a sub-entity of the fetched entity.
    public var entityName: String {
        switch entity {
        case .known(let layout): layout.name
        case .named(let name): name
        }
    }

    /// The layout of the entity in a model; nil if the id belongs to an object of another container.
    func layout(in model: ModelLayout) -> EntityLayout? {
        switch entity {
        case .known(let layout):
            model.entities.indices.contains(layout.index) && model.entities[layout.index] === layout ? layout : nil
        case .named(let name): model.entity(named: name)
        }
    }

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
    /// `ContactEntity/12`.
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
