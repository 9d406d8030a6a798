internal import Foundation
internal import ManagedModel
package import RowStore

/// What all contexts of one container share: the model, the root, and the keys of new objects.
package final class PersistentStack: Sendable {
    package let layout: ModelLayout
    /// The consequences of deleting and linking objects.
    let graph: RelationshipGraph
    package let root: RootContext
    let mainWaker: MainWaker
    /// How many bytes of objects a private context may keep registered between saves.
    let registeredObjectByteLimit: Int
    /// Held from the check of a save until the root has it, by contexts whose objects share a uniqueness constraint with those
    /// of another context: two contexts that checked at once would both find the value free.
    let sharedConstraints = NSLock()
    /// The container, which the stack does not keep alive.
    let holder = Guarded(WeakReference())
    private let types: Guarded<[ManagedObject.Type]>
    /// The class of the data source that owns each entity that has one.
    private let owners = Guarded<[Int: String]>([:])
    /// The tier of the data source that owns each entity that has one.
    private let tiers = Guarded<[Int: WeakReference]>([:])
    /// The keys of new objects.
    package let keys: StoreKeys
    private let origins: Guarded<SaveOrigins>
    /// What was noticed about each data source, by its class.
    private let noticed = Guarded<[String: [DataSourceDiagnostic]]>([:])

    init(_ layout: ModelLayout, root: RootContext, mainWaker: MainWaker, registeredObjectByteLimit: Int) {
        self.layout = layout
        graph = RelationshipGraph(layout)
        self.root = root
        self.mainWaker = mainWaker
        self.registeredObjectByteLimit = registeredObjectByteLimit
        origins = Guarded(SaveOrigins(layout))
        types = Guarded(
            layout.entities.map { layout.model.classes[$0.name] as? ManagedObject.Type ?? ManagedObject.self })
        let keys = StoreKeys(root.store, root.scheduling)
        self.keys = keys
        root.raiseKeys.withLock { $0 = { keys.raise(to: $0) } }
    }

    /// A data source has claimed its entities.
    func join(_ source: SaveSource, _ entities: Set<Int>) {
        origins.withLock { $0.join(source, entities) }
    }

    /// A data source exists, with its tier.
    func join(_ tier: any AnyObject & Sendable, _ entities: Set<Int>) {
        tiers.withLock { tiers in for entity in entities { tiers[entity] = WeakReference(tier) } }
    }

    /// Whether an existing data source owns the entity.
    func isOwned(_ entity: Int) -> Bool { tiers.withLock { $0[entity]?.object != nil } }

    /// What has joined for any of those entities.
    func owners(of entities: Set<Int>) -> [any AnyObject & Sendable] {
        if entities.isEmpty { return [] }
        return tiers.withLock { tiers in entities.compactMap { tiers[$0]?.object } }
    }

    /// Makes saves of those data sources depend on each other from now on.
    func unite(_ sources: [SaveSource]) {
        origins.withLock { origins in
            root.unite { origins.unite(sources) }
        }
    }

    /// The class of an entity's objects; `ManagedObject` if the model names none.
    func type(ofEntity entity: Int) -> ManagedObject.Type { types.withLock { $0[entity] } }

    /// Uses the class that a data source lists for an entity, if the model names none.
    func adopt(_ type: ManagedObject.Type, forEntity entity: Int) {
        types.withLock { types in
            if types[entity] == ManagedObject.self { types[entity] = type }
        }
    }

    func noteOwner(_ name: String, ofEntity entity: Int) { owners.withLock { $0[entity] = name } }

    func owner(ofEntity entity: Int) -> String? { owners.withLock { $0[entity] } }

    /// Keeps a remark about a data source, unless it has been made before.
    func note(_ diagnostic: DataSourceDiagnostic, of owner: String) {
        noticed.withLock { noticed in
            let known = noticed[owner, default: []]
            if known.count < 64, !known.contains(diagnostic) { noticed[owner] = known + [diagnostic] }
        }
    }

    func diagnostics(of owner: String) -> [DataSourceDiagnostic] { noticed.withLock { $0[owner] ?? [] } }

    deinit {
        // Saves that nobody waited for may not be in the store yet.
        root.shutDown()
    }
}

/// What the stack does not keep alive, because it keeps the stack.
struct WeakReference: Sendable {
    weak let object: (any AnyObject & Sendable)?

    init(_ object: (any AnyObject & Sendable)? = nil) {
        self.object = object
    }
}
