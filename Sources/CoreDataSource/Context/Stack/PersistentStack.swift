internal import Foundation
internal import ManagedModel
package import RowStore

/// What all contexts of one container share: the model, the root tier, through which all saves go to the store, and the keys of
/// new objects.
package final class PersistentStack: Sendable {
    package let layout: ModelLayout
    /// The effects of deleting and linking objects.
    let graph: RelationshipGraph
    package let root: RootTier
    let mainNotifier: MainNotifier
    /// The most bytes of objects that a private context keeps registered between saves.
    let registeredObjectByteLimit: Int
    /// The author of a save if its task names no author.
    let author: String?
    /// The most rows of one entity that an update or a deletion adds to a change set. If more rows match, the store makes the
    /// change.
    let changedRowLimit: Int
    /// A context that shares a uniqueness constraint with another context keeps this lock locked from the check of a save until
    /// the root has accepted the save. Without the lock, two contexts could check the same value at the same time, and both
    /// would find the value free.
    let sharedConstraints = NSLock()
    /// A weak reference to the container.
    let holder = Guarded(WeakReference())
    private let objectTypes: Guarded<[ManagedObject.Type]>
    /// The class name and the ``DataSource/mappingVersion`` of the data source that owns each entity.
    private let owners = Guarded<[Int: (name: String, version: Int)]>([:])
    let tierRegistry = TierRegistry()
    /// The class names of the data sources that complete saves, by the entities that they own. An entry stays after its data
    /// source was released.
    private let completers = Guarded<[Int: String]>([:])
    /// The keys of new objects.
    package let keys: StoreKeys
    private let origins: Guarded<SaveOrigins>
    /// The diagnostics of each data source, by its class name.
    private let diagnosticsByOwner = Guarded<[String: [DataSourceDiagnostic]]>([:])

    init(
        _ layout: ModelLayout, root: RootTier, mainNotifier: MainNotifier, registeredObjectByteLimit: Int,
        changedRowLimit: Int, author: String? = nil
    ) {
        self.layout = layout
        graph = RelationshipGraph(layout)
        self.root = root
        self.mainNotifier = mainNotifier
        self.author = author
        self.registeredObjectByteLimit = registeredObjectByteLimit
        self.changedRowLimit = changedRowLimit
        origins = Guarded(SaveOrigins(layout))
        objectTypes = Guarded(
            layout.entities.map { layout.model.classes[$0.name] as? ManagedObject.Type ?? ManagedObject.self })
        let keys = StoreKeys(root.store, root.scheduling)
        self.keys = keys
        root.raiseKeys.withLock { $0 = { keys.raise(to: $0) } }
    }

    /// Adds the save source of a data source that owns entities.
    func register(_ source: SaveSource, _ entities: Set<Int>) {
        origins.withLock { $0.register(source, entities) }
    }

    /// Records that a data source completes the saves of its entities.
    func recordCompleter(_ name: String, of entities: Set<Int>) {
        completers.withLock { completers in for entity in entities { completers[entity] = name } }
    }

    /// The class name of a data source that was released, but must complete saves of any of the entities; nil if there is none.
    func releasedCompleter(of entities: Set<Int>) -> String? {
        let found = completers.withLock { completers in
            completers.isEmpty ? [:] : completers.filter { entities.contains($0.key) }
        }
        return found.first { !tierRegistry.isOwned($0.key) }?.value
    }

    /// Makes the saves of data sources depend on each other from now on.
    func mergeOrigins(_ sources: [SaveSource]) {
        origins.withLock { origins in
            root.mergeOrigins { origins.mergeOrigins(sources) }
        }
    }

    /// The class of an entity's objects; `ManagedObject` if the model names no class.
    func type(ofEntity entity: Int) -> ManagedObject.Type { objectTypes.withLock { $0[entity] } }

    /// The classes of all entities' objects, in the order of the model.
    var types: [ManagedObject.Type] { objectTypes.withLock(\.self) }

    /// Uses the class that a data source lists for an entity, if the model names no class.
    func adopt(_ type: ManagedObject.Type, forEntity entity: Int) {
        objectTypes.withLock { types in
            if types[entity] == ManagedObject.self { types[entity] = type }
        }
    }

    /// - Parameters:
    ///   - name: The class name of the data source that owns the entities.
    ///   - version: Its ``DataSource/mappingVersion``.
    func recordOwner(_ name: String, mappingVersion version: Int, of entities: Set<Int>) {
        owners.withLock { owners in for entity in entities { owners[entity] = (name, version) } }
        // Lists may already show the freshness of these scopes, which they have looked up without the mapping version. So
        // notify the lists.
        if version != 0 { root.scopes.didChange() }
    }

    func owner(ofEntity entity: Int) -> String? { owners.withLock { $0[entity]?.name } }

    /// Returns the id of a scope in the store. If the mapping version is not 0, this id also contains the version.
    func mapped(_ id: ScopeID) -> ScopeID {
        // One data source owns all entities of a scope.
        guard let entity = layout.entity(named: id.entity)?.concreteFamily.first else { return id }
        return id.mapped(by: owners.withLock { $0[entity]?.version ?? 0 })
    }

    /// Adds a diagnostic of a data source, if it is new.
    func record(_ diagnostic: DataSourceDiagnostic, of owner: String) {
        diagnosticsByOwner.withLock { diagnosticsByOwner in
            let known = diagnosticsByOwner[owner, default: []]
            if known.count < 64, !known.contains(diagnostic) { diagnosticsByOwner[owner] = known + [diagnostic] }
        }
    }

    /// For tests.
    package var batchWaitCount: Int { tierRegistry.signalCount }

    func diagnostics(of owner: String) -> [DataSourceDiagnostic] { diagnosticsByOwner.withLock { $0[owner] ?? [] } }

    deinit {
        // Some saves may still be pending, because no call waited for them. The root writes them before it closes the store.
        root.shutDown()
    }
}

/// A reference from the stack to an object that itself keeps the stack alive. The reference is weak to avoid a cycle.
struct WeakReference: Sendable {
    weak let object: (any AnyObject & Sendable)?

    init(_ object: (any AnyObject & Sendable)? = nil) {
        self.object = object
    }
}

/// The origins of data sources. Saves of data sources with the same origin depend on each other.
///
/// Two data sources have the same origin if a uniqueness constraint covers objects of both, or once a save has spanned both
/// data sources.
struct SaveOrigins {
    /// A union-find structure. It maps each entity to another entity of the same origin, or to the entity itself.
    private var parents: [Int]
    private var sources: [(source: SaveSource, entity: Int)] = []

    init(_ layout: ModelLayout) {
        parents = Array(layout.entities.indices)
        for entity in layout.entities {
            for owner in entity.constraintOwners {
                for other in layout.entities[owner].concreteFamily { mergeOrigins(entity.index, other) }
            }
        }
    }

    /// Adds a data source, and sets the origin of every data source.
    mutating func register(_ source: SaveSource, _ entities: Set<Int>) {
        guard let first = entities.min() else { return }
        for entity in entities { mergeOrigins(first, entity) }
        sources.append((source, first))
        _ = assign()
    }

    /// Gives data sources the same origin.
    ///
    /// - Returns: A map from each origin that has changed to its new origin.
    mutating func mergeOrigins(_ mergedSources: [SaveSource]) -> [Int: Int] {
        let entities = sources.filter { entry in mergedSources.contains { $0 === entry.source } }.map(\.entity)
        guard let first = entities.first else { return [:] }
        for entity in entities.dropFirst() { mergeOrigins(first, entity) }
        return assign()
    }

    /// - Returns: A map from each origin that has changed to its new origin.
    private func assign() -> [Int: Int] {
        var moved: [Int: Int] = [:]
        for (source, entity) in sources {
            // Origin 0 stands for saves that belong to no data source, so add 1.
            let (old, new) = (source.origin, root(entity) + 1)
            if old == new { continue }
            if old != 0 { moved[old] = new }
            source.origin = new
        }
        return moved
    }

    private func root(_ entity: Int) -> Int {
        var entity = entity
        while parents[entity] != entity { entity = parents[entity] }
        return entity
    }

    private mutating func mergeOrigins(_ lhs: Int, _ rhs: Int) {
        let (lhs, rhs) = (root(lhs), root(rhs))
        parents[max(lhs, rhs)] = min(lhs, rhs)
    }
}

/// A remark about a slow use of an attribute or a relationship, with a remedy.
///
/// ```swift
/// for diagnostic in contacts.diagnostics { print(diagnostic) }
/// ```
public struct DataSourceDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The name of the entity.
    public let entityName: String
    /// The name of the attribute or of the relationship.
    public let attributeName: String
    /// The problem and its remedy.
    public let message: String

    public var description: String { message }
}

extension DataSourceDiagnostic {
    /// The diagnostic of an attribute that is looked up without an index.
    init(unindexed column: Int, _ layout: EntityLayout) {
        entityName = layout.name
        attributeName = layout.columns[column].name
        message =
            "\(entityName).\(attributeName) is looked up by its value but has neither a uniqueness constraint nor a fetch index, so every row of \(entityName) is read. Add a uniqueness constraint or a fetch index to the model."
    }

    /// The diagnostic of an attribute whose values are looked up one by one.
    ///
    /// - Parameter isRemote: Whether the store is on a server.
    init(oneByOne column: Int, _ layout: EntityLayout, isRemote: Bool) {
        entityName = layout.name
        attributeName = layout.columns[column].name
        message =
            "\(entityName).\(attributeName) is looked up one value at a time, and each look-up is a \(isRemote ? "round trip to the server" : "query"). Look up all values of a batch at once: call preload in prepare(_:in:), or subclass KeyedDataSource."
    }

    /// The diagnostic of a relationship that is read for one object at a time.
    ///
    /// - Parameter isRemote: Whether the store is on a server.
    init(reading relationship: String, _ layout: EntityLayout, isRemote: Bool) {
        entityName = layout.name
        attributeName = relationship
        message =
            "\(entityName).\(relationship) is read for one object at a time, and each read is a \(isRemote ? "round trip to the server" : "query"). Read it for many objects at once, before its links change: preload the objects of \(entityName) in prepare(_:in:), or fetch them together with prefetch."
    }
}
