internal import RowStore
internal import Synchronization

/// The data sources of one container, and the data source that owns each entity.
@MainActor
final class DataSourceDirectory {
    private var sources: [ObjectIdentifier: EntityDataSource] = [:]
    private var owners: [Int: String] = [:]

    nonisolated init() {}

    func dataSource<Source: EntityDataSource>(
        _ type: Source.Type, _ stack: PersistentStack, _ mainTier: MainTier
    ) throws -> Source {
        if let source = sources[ObjectIdentifier(type)] as? Source { return source }
        let entities = try claim(type, stack)
        let completes = type is any SaveCompleting.Type
        let tier = PrivateTier(stack, owner: "\(type)", ownedEntities: entities, completes: completes)
        // Register the tier before the initializer runs. The initializer may already save, and other data sources must then
        // find the tier.
        tier.register(entities)
        let source = type.init(DataSourceBinding(tier: tier, mainTier: mainTier))
        tier.isMade.store(true, ordering: .releasing)
        // Record the data source only after its tier is registered. Otherwise the data source would count as released.
        if completes { stack.recordCompleter("\(type)", of: entities) }
        sources[ObjectIdentifier(type)] = source
        return source
    }

    /// Throws if two classes have the same entity because one of them does not override `entityName`. Otherwise, objects of
    /// one class would be inserted as objects of the other.
    private func check(
        _ first: ManagedObject.Type, _ second: ManagedObject.Type, of source: EntityDataSource.Type
    ) throws(DataSourceError) {
        guard first != second,
            let problem = DeclaredEntity.missingOverride(of: second) ?? DeclaredEntity.missingOverride(of: first)
        else { return }
        throw DataSourceError(
            .unknownEntity,
            "\(source) lists \(first) and \(second), which have the same entity. \(problem)",
            entityName: second.entityName)
    }

    private func claim(_ type: EntityDataSource.Type, _ stack: PersistentStack) throws(DataSourceError) -> Set<Int> {
        let layout = stack.layout
        var claimed: Set<Int> = []
        var classes: [Int: ManagedObject.Type] = [:]
        for object in type.entities {
            guard let entity = layout.entity(named: object.entityName) else {
                throw DataSourceError(
                    .unknownEntity,
                    "\(type) lists \(object), but the model \(layout.model.name) has no entity \"\(object.entityName)\". \(DeclaredEntity.remedy(forMissing: object))",
                    entityName: object.entityName)
            }
            if let other = classes.updateValue(object, forKey: entity.index) { try check(other, object, of: type) }
            if let classProblem = DeclaredEntity.classProblem(of: object, in: layout.model) {
                throw DataSourceError(.unreadableModel, classProblem, entityName: object.entityName)
            }
            stack.adopt(object, forEntity: entity.index)
            // A data source that owns an entity also owns its sub-entities.
            for concrete in entity.concreteFamily {
                if let owner = owners[concrete] {
                    let name = layout.entities[concrete].name
                    throw DataSourceError(
                        .entityAlreadyOwned,
                        "\(type) lists \(name), but \(owner) already owns that entity. Give each entity to one data source.",
                        entityName: name)
                }
                claimed.insert(concrete)
            }
        }
        for layout in stack.layout.entities where layout.links != nil {
            if claimed.isSuperset(of: stack.graph.ends(ofLinks: layout.index)) { claimed.insert(layout.index) }
        }
        for entity in claimed { owners[entity] = "\(type)" }
        stack.recordOwner("\(type)", mappingVersion: type.answerMappingVersion, of: claimed)
        return claimed
    }
}

/// The database keys of individual data sources.
///
/// ```swift
/// let configuration = PersistentContainer.Configuration(databaseKeys: [
///     ContactDataSource.self: "7"
/// ])
/// ```
///
/// The database key of the container covers all rows. The key of a data source covers only the rows of its entities. If the key
/// of a data source changes, the next start drops the rows of its entities, and keeps all other rows. Keys are stored in clear
/// text. An empty key counts as no key, so the rows keep their current key.
public struct DataSourceKeys: Sendable, ExpressibleByDictionaryLiteral {
    private var keys: [(source: EntityDataSource.Type, key: String)]

    /// Creates an empty collection of keys.
    ///
    /// ```swift
    /// var keys = DataSourceKeys()
    /// keys[ContactDataSource.self] = "7"
    /// ```
    public init() {
        keys = []
    }

    /// Creates keys from a dictionary literal. If the literal contains a data source twice, the last key is used.
    ///
    /// ```swift
    /// let keys: DataSourceKeys = [
    ///     ContactDataSource.self: "7", GroupDataSource.self: "7"
    /// ]
    /// ```
    public init(dictionaryLiteral elements: (EntityDataSource.Type, String)...) {
        self.init()
        for (source, key) in elements { self[source] = key }
    }

    /// The key of a data source; nil if the data source has none.
    public subscript(source: EntityDataSource.Type) -> String? {
        get { keys.first { $0.source == source }?.key }
        set {
            keys.removeAll { $0.source == source }
            if let newValue { keys.append((source, newValue)) }
        }
    }

    /// Returns the key of each concrete entity, by the entity's name.
    func entityKeys(_ layout: ModelLayout) -> [String: String] {
        var entityKeys: [String: String] = [:]
        for (source, key) in keys {
            for object in source.entities {
                // An unknown entity name is reported later, when the data source is created.
                for entity in layout.entity(named: object.entityName)?.concreteFamily ?? [] {
                    entityKeys[layout.entities[entity].name] = key
                }
            }
        }
        return entityKeys
    }
}

extension PersistentStack {
    /// The container; nil after the container is released.
    var container: PersistentContainer? { holder.withLock { $0.object } as? PersistentContainer }

    func connect(_ container: PersistentContainer) { holder.withLock { $0 = WeakReference(container) } }
}
