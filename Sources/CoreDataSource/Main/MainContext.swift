internal import RowStore

/// What the user interface reads: objects on the main actor, which follow every save.
///
/// There is nothing to write with here: objects are edited in the private context of the data source that owns them. A
/// fetch reads the store at once, and includes what is saved but not yet committed. Objects that were fetched show newer
/// values as soon as main has merged the save that made them.
///
/// **Isolation**: the main actor.
@MainActor
public final class MainContext: MainReader {
    let stack: PersistentStack
    private(set) lazy var objects = ObjectContext(stack, owner: nil, ownedEntities: [])
    /// The number of registered objects at which those that nobody holds are next forgotten.
    private var sweepAt = 1024
    /// The generation that began with the last reset that main has taken in.
    private var knownReset = 0
    /// Whether registered objects have to be read again, which has not been possible so far.
    private var mustReload = false
    /// The lists that follow what main shows.
    private(set) lazy var lists = ListHub(stack)
    /// Objects that were deleted, until all lists have said so.
    var deletedObjects: [Int64: ManagedObject] = [:]

    nonisolated init(_ stack: PersistentStack) {
        self.stack = stack
    }

    /// Itself: a data source has it under the same name.
    public nonisolated var main: MainContext { self }

    // MARK: Fetching

    /// Reads for somebody.
    ///
    /// - Parameter registers: Whether objects come of it, which then follow every save.
    func read<R>(
        registers: Bool = true, _ body: (ObjectContext) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        if registers { prepareToFetch() } else { stack.root.noticeOutsideWrites() }
        return try body(objects)
    }

    func prepareToFetch() {
        stack.root.noticeOutsideWrites()
        merge()
        // After it: a merge that forgets all objects ends the merging.
        stack.root.startMerging()
    }

    // MARK: Merging

    /// Brings the registered objects up to the newest save, then the lists.
    package func merge() {
        mergeObjects()
        drainLists()
    }

    /// Brings the registered objects up to the newest save, and notes for the lists what they have to take in.
    ///
    func mergeObjects() {
        let (saves, reset, staleness) = stack.root.takeForMain()
        take(reset)
        for changes in saves {
            for entity in changes.entities { merge(entity, changes.number) }
        }
        lists.hear(saves)
        if let staleness {
            mustReload = true
            lists.readAnew(staleness == .outsideWrites ? .outsideWrites : .backlog)
        }
        // If the store cannot be read now, the next merge or fetch tries again.
        if mustReload { try? reload() }
    }

    /// Brings the lists up to what they were told.
    func drainLists() {
        lists.drain()
        sweep()
    }

    private func merge(_ changes: EntityChanges, _ number: Int64) {
        let binding = objects.bindings[changes.entity]
        if binding.objects.count == 0 { return }
        for change in changes.updated { binding.objects[change.key]?.refresh(change.row, asOf: number) }
        for change in changes.deleted {
            if let object = binding.objects[change.key] { end(object) }
            binding.objects.remove(change.key)
        }
    }

    /// Notes that an object is deleted. Lists that show it have yet to say so.
    private func end(_ object: ManagedObject) {
        object.state = .gone
        if !lists.isEmpty { deletedObjects[object.key] = object }
    }

    /// After a reset of the store all registered objects are deleted ones.
    private func take(_ reset: Int) {
        guard reset != knownReset else { return }
        knownReset = reset
        for entity in objects.bindings.indices {
            for object in objects.bindings[entity].objects.objects { end(object) }
            objects.bindings[entity].forgetObjects()
        }
        lists.readAnew(.reset)
    }

    /// Reads the registered objects that somebody holds from the store, and forgets the others.
    private func reload() throws(DataSourceError) {
        for binding in objects.bindings {
            binding.objects.removeUnreferenced()
            for object in Array(binding.objects.objects) {
                let (row, asOf) = try stack.root.row(entity: binding.layout.index, key: object.key)
                if let row {
                    object.row = row
                    object.asOf = asOf
                } else {
                    end(object)
                    binding.objects.remove(object.key)
                }
            }
        }
        mustReload = false
    }

    /// Forgets the objects that nobody holds, whenever there are twice as many as after the last time.
    private func sweep() {
        if lists.isIdle { deletedObjects = [:] }
        let registered = objects.bindings.reduce(0) { $0 + $1.objects.count }
        guard registered >= sweepAt else { return }
        var kept = 0
        for binding in objects.bindings {
            binding.objects.removeUnreferenced()
            kept += binding.objects.count
        }
        sweepAt = max(1024, kept * 2)
        if kept == 0 && lists.isEmpty { stack.root.stopMerging() }
    }
}
